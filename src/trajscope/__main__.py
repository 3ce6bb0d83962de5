"""`python -m trajscope`, the same as `trajscope`."""

from trajscope.cli.app import main

main()
