"""The `trajscope` command: finds sub-commands lazily and turns errors into messages and codes.

One thing a newcomer would get wrong: sub-command modules are imported only when they run, so that
`trajscope --help` stays fast; their one-line help therefore stands in `COMMANDS`.
"""

from __future__ import annotations

import importlib
import io
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any, NoReturn

import click

from trajscope.cli._stdout import is_lost, prepare, silence
from trajscope.errors import ExitCode, PluginError, TrajscopeError, shortened

COMMANDS = {
    "ingest": "Read captures into a DuckDB store.",
    "list": "List traces with their key figures.",
    "show": "Show what each trace did: tool calls, outcomes, agents, tokens.",
    "tree": "Draw the execution tree; export it as GraphML, DOT or Mermaid.",
    "explain": "Show why a span became what it is, and why a step is missing.",
    "doctor": "Show how well captures are understood, and which evidence is missing.",
    "score": "Score trajectories against expectations.",
    "audit": "Hold traces against a policy of rules.",
    "policy": "Check, test and propose policies.",
    "export": "Send stored scores and findings to a backend; write spans or scores to files.",
    "query": "Ask SQL questions about stored spans and steps (read-only).",
    "prune": "Remove old traces from a store.",
    "vacuum": "Give back the space of what was removed.",
    "schema": "Describe the tables, views and columns of the store.",
}
"""Every sub-command with its one-line help, in the order `--help` shows them."""

_EPILOG = """\b
Examples:
  trajscope show trace.otlp.json
  trajscope score traces/ --expect expectations.yaml
  trajscope ingest traces/ --db spans.duckdb
  trajscope query --db spans.duckdb "select * from failed_tool_calls"

\b
Exit codes: 0 nothing found · 1 findings, or scores below the threshold · 2 usage ·
3 input · 4 store · 5 nothing could be evaluated · 69 backend unavailable · 70 internal ·
130 interrupted
"""


@contextmanager
def _done_without_reader() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:  # click would end with 1
        silence()
        raise click.exceptions.Exit(ExitCode.OK) from None


class LazyGroup(click.Group):
    """A group whose sub-commands are modules of `trajscope.cli`, imported when needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of `COMMANDS`."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return one sub-command."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"trajscope.cli.{cmd_name}")
        command: click.Command = module.COMMAND
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run the sub-command; when the reader of its output leaves, it is done."""
        with _done_without_reader():
            result = super().invoke(ctx)
            sys.stdout.flush()
            return result

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Read the command line; `--help` prints here."""
        with _done_without_reader():
            return super().make_context(*args, **kwargs)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of sub-commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=LazyGroup,
    epilog=_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(version("trajscope"), prog_name="trajscope")
def trajscope() -> None:
    """What did the agent do, was it the right way, and did it do anything it must never do?

    trajscope reads recorded OpenTelemetry traces of agents (or stored span records), rebuilds
    what happened as typed steps, and scores it. Nothing is sent anywhere but by `export`, by
    `audit --webhook` and to a judge.
    """


def _told(error: click.ClickException) -> str:
    """Return what click says in the form of our own errors, with the usage of the command."""
    ctx = error.ctx if isinstance(error, click.UsageError) else None
    if ctx is None or isinstance(error, click.exceptions.NoArgsIsHelpError):
        said = io.StringIO()
        error.show(said)
        return said.getvalue()
    message = error.format_message()
    if type(error) is click.BadParameter and error.param is not None:
        place = error.param.get_error_hint(ctx).replace("'", "")
        message = f"{place}: {error.message}"
    lines = message.rstrip(".").splitlines()
    help_names = ctx.help_option_names
    return "\n".join(
        (
            ctx.get_usage(),
            f"error: {lines[0]}",
            *lines[1:],
            f"hint: Try '{ctx.command_path} {help_names[-1]}' for help.",
            "",
        )
    )


def main(args: list[str] | None = None) -> NoReturn:
    """Run the command line and exit with its code; SIGTERM ends it as Ctrl-C does."""
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _interrupt)
    sys.exit(run(args))


def _interrupt(_signum: int, _frame: object) -> NoReturn:
    raise KeyboardInterrupt


def run(args: list[str] | None = None) -> int:
    """Run the command line and return its exit code; errors become messages on stderr."""
    prepare()
    try:
        result = trajscope.main(args=args, prog_name="trajscope", standalone_mode=False)
    except click.exceptions.Abort:
        click.echo("interrupted", err=True)
        return ExitCode.INTERRUPTED
    except KeyboardInterrupt:
        click.echo("interrupted", err=True)
        return ExitCode.INTERRUPTED
    except click.ClickException as error:
        click.echo(shortened(_told(error)), err=True, nl=False)
        return error.exit_code
    except TrajscopeError as error:
        if isinstance(error, PluginError) and os.environ.get("TRAJSCOPE_DEBUG"):
            raise
        from trajscope.report.text import safe_lines

        click.echo(f"error: {safe_lines(str(error))}", err=True)
        return error.exit_code
    except Exception as error:
        if isinstance(error, OSError) and is_lost(error):
            click.echo(f"error: standard output: cannot be written ({error.strerror})", err=True)
            silence()
            return ExitCode.USAGE
        if os.environ.get("TRAJSCOPE_DEBUG"):
            raise
        from trajscope.report.text import safe_text

        what = safe_text(f"{type(error).__name__}: {error}", 300)
        click.echo(f"error: a fault in trajscope itself ({what})", err=True)
        click.echo("hint: TRAJSCOPE_DEBUG=1 shows where; please report it", err=True)
        return ExitCode.INTERNAL
    return int(result) if isinstance(result, int) else ExitCode.OK
