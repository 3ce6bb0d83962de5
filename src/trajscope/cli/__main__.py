"""`python -m trajscope.cli`."""

from trajscope.cli.app import main

main()
