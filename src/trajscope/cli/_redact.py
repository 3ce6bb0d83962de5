"""The options that say what is masked in whatever a command prints or sends."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trajscope.assemble import Assembled, OutlineRow
    from trajscope.model.score import Score
    from trajscope.model.span import Span
    from trajscope.model.trajectory import Trajectory
    from trajscope.pipeline.explain import ExplainedTrace
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


def masked_trajectories(found: Iterable[Assembled]) -> Iterator[Trajectory]:
    """Return the trajectories of traces as the running command may show them, one by one.

    Raises:
        UsageError: the redaction file is wrong; before any trace is looked at.
    """
    from trajscope.redact import redact_trajectory

    redactor = given_redactor()
    trajectories = (one.trajectory for one in found)
    if redactor is None:
        return trajectories
    return (redact_trajectory(trajectory, redactor) for trajectory in trajectories)


def masked_scores(found: Iterable[Score]) -> list[Score]:
    """Return scores as the running command may show them."""
    from trajscope.redact import redact_score

    redactor = given_redactor()
    return [s if redactor is None else redact_score(s, redactor) for s in found]


def masked_outline(rows: Iterable[OutlineRow]) -> list[OutlineRow]:
    """Return the rows of an outline as the running command may show them."""
    redactor = given_redactor()
    if redactor is None:
        return list(rows)
    return [
        row._replace(
            span=_renamed(row.span, redactor.text(row.span.name)),
            failure=None if row.failure is None else redactor.text(row.failure),
        )
        for row in rows
    ]


def _renamed(span: Span, name: str) -> Span:
    """Return a span with another name."""
    import msgspec

    return span if span.name == name else msgspec.structs.replace(span, name=name)


def masked_explanations(found: Iterable[ExplainedTrace]) -> list[ExplainedTrace]:
    """Return explanations as the running command may show them."""
    from dataclasses import replace

    redactor = given_redactor()
    if redactor is None:
        return list(found)
    return [
        trace._replace(
            spans=[
                replace(one, row=masked_outline([one.row])[0], evidence=redactor.text(one.evidence))
                for one in trace.spans
            ]
        )
        for trace in found
    ]
