"""The options that say what is masked in whatever a command prints or sends."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from trajscope.redact import Redactor

F = TypeVar("F", bound=Callable[..., Any])


def redact_options(command: F) -> F:
    """Add `--redact FILE` and `--no-redact`; ask `given_redactor` for what they say."""

    def collect(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
        ctx.meta.setdefault("trajscope.redact", {})[param.name] = value
        return value

    for option in (
        click.option(
            "--no-redact",
            is_flag=True,
            expose_value=False,
            callback=collect,
            help="Print secrets as they are; by default they are masked.",
        ),
        click.option(
            "--redact",
            "redact_file",
            type=click.Path(),
            expose_value=False,
            callback=collect,
            help="YAML file of further keys and patterns to mask (docs/redaction.md).",
        ),
    ):
        command = option(command)
    return command


def given_redactor() -> Redactor | None:
    """Return what masks the output of the running command; None with `--no-redact`.

    Raises:
        UsageError: the redaction file is wrong.
    """
    from trajscope.pipeline.redaction import load_redactor

    given = click.get_current_context().meta.get("trajscope.redact", {})
    return None if given.get("no_redact") else load_redactor(given.get("redact_file"))
