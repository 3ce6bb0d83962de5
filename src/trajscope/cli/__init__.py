"""The command line: the only code that prints or exits, and the only importer of click.

stdout is data, stderr is narration, the exit code is a contract (`errors.ExitCode`).
"""

from trajscope.cli.app import main

__all__ = ["main"]
