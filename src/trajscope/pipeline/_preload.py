"""What every worker process needs, loaded once in the process that they are all forked from."""

from trajscope.conventions import conventions
from trajscope.formats import formats

conventions()
formats()
