"""`trajscope score`: trajectories against expectations."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from trajscope.cli._io import (
    console,
    db_option,
    given_input,
    input_options,
    json_option,
    narrate,
    print_json,
    print_problems,
    traces_done,
)
from trajscope.cli._numbers import MOST_WORKERS, PlainFloat, PlainInt
from trajscope.cli._redact import masked_scores, redact_options
from trajscope.cli._stdout import reader_may_leave
from trajscope.cli.app import COMMANDS
from trajscope.errors import ExitCode, Problems, UsageError

if TYPE_CHECKING:
    from trajscope.model.expectation import NamedExpectation
    from trajscope.model.score import Score
    from trajscope.ports import Scorer


_WORKERS = "trajscope.workers"


def _note_judge(_ctx: click.Context, _param: click.Parameter, value: str | None) -> None:
    """Hand the judge's name on as scorers look for it, also in worker processes."""
    if value is not None:
        os.environ["TRAJSCOPE_JUDGE"] = value


def _note_workers(ctx: click.Context, _param: click.Parameter, value: int | None) -> None:
    ctx.meta[_WORKERS] = value


@click.command("score", short_help=COMMANDS["score"])
@click.argument("targets", nargs=-1, metavar="[PATH | TRACE]...")
@db_option
@click.option(
    "--expect",
    type=click.Path(),
    help="YAML or JSON file of expectations; without it only tool failures are looked at.",
)
@click.option(
    "--scorer",
    "names",
    multiple=True,
    metavar="NAME",
    help="Run only this scorer (repeat for several): comparison, efficiency, blacklist, "
    "tool-failures, trajectory, accuracy, tool-call-accuracy, accuracy-judge, "
    "tool-call-accuracy-judge, or one of your own as FILE.py:NAME.",
)
@click.option(
    "--judge",
    metavar="MODEL",
    expose_value=False,
    callback=_note_judge,
    help="The model that judges (openai:gpt-5, …) for accuracy-judge and tool-call-accuracy-judge; "
    "default: TRAJSCOPE_JUDGE.",
)
@click.option(
    "--engine",
    type=click.Choice(["auto", "sql", "python"]),
    default="auto",
    show_default=True,
    help="How traces of a store are scored: set-wise in the store, or one by one by the definition "
    "(python). The scores are the same.",
)
@click.option(
    "--workers",
    type=PlainInt(min=1, max=MOST_WORKERS),
    expose_value=False,
    callback=_note_workers,
    metavar="N",
    help="Processes that score traces of a store by the definition; default: as many as pay.",
)
@click.option(
    "--fail-on",
    type=click.Choice(["info", "warning", "error", "never"]),
    default="error",
    show_default=True,
    help="Exit 1 when a finding is at least this bad.",
)
@click.option("--min-score", type=PlainFloat(0, 1), help="Exit 1 when a score is below this.")
@click.option("--all", "everything", is_flag=True, help="Show trajectories without a fault too.")
@redact_options
@input_options
@json_option
def COMMAND(  # noqa: N802
    targets: tuple[str, ...],
    db: str | None,
    expect: str | None,
    names: tuple[str, ...],
    engine: str,
    fail_on: str,
    min_score: float | None,
    everything: bool,
    as_json: bool,
) -> None:
    """Score trajectories against expectations and show the findings with the spans that prove them.

    PATHs are captures; with --db the arguments are trace ids (none: every trace) and the scores
    are kept in the store. A score that could not be evaluated is shown as such, and counts neither
    as 0 nor as 1.

    \b
    Examples:
      trajscope score trace.otlp.json --expect expectations.yaml
      trajscope score --db spans.duckdb --expect e.yaml --scorer blacklist --json
      trajscope score --db spans.duckdb --scorer my_scorers.py:quality
    """
    from trajscope.evals.expectations import load_expectations
    from trajscope.pipeline.engine import choose_engine
    from trajscope.pipeline.scoring import chosen_scorers
    from trajscope.report.scores import print_scores, scores_json

    expectations = load_expectations(expect) if expect else []
    chosen = chosen_scorers(names)
    run = _set_wise if choose_engine(engine, chosen, in_store=db is not None) else _one_by_one
    found = run(
        targets, db, expectations, chosen, named=bool(names), complete=everything or as_json
    )
    print_problems(found.problems)
    scores, unmatched = found.scores, found.unmatched
    shown = masked_scores(scores)
    with reader_may_leave():
        if as_json:
            print_json(scores_json(shown, unmatched, found.problems))
        else:
            print_scores(console(), shown, everything=everything, left_out=found.left_out)
    if not found.traces:
        from trajscope.pipeline.load import NO_TRACE

        narrate(NO_TRACE)
        click.get_current_context().exit(ExitCode.NOTHING_EVALUATED)
    for name in unmatched:
        narrate(f"expectation {name!r:.80} was for no trace; check its select")
    if found.note:
        narrate(found.note)
    if expectations and len(unmatched) == len(expectations):
        raise UsageError(
            f"no expectation of {expect} was for any of {found.traces} traces",
            hint="trajscope list shows what selectors can match",
        )
    click.get_current_context().exit(_exit_code(found, fail_on, min_score))


@dataclass(frozen=True)
class _Found:
    """What a run of scorers found; `left_out` perfect trajectories, with so many scores."""

    scores: list[Score]
    unmatched: list[str]
    traces: int
    problems: Problems
    note: str | None
    left_out: tuple[int, int] = (0, 0)


def _one_by_one(
    targets: tuple[str, ...],
    db: str | None,
    expectations: list[NamedExpectation],
    chosen: list[Scorer],
    *,
    named: bool,
    complete: bool,  # noqa: ARG001 - here all scores are at hand
) -> _Found:
    from trajscope.pipeline.bulk import score_on_all_cores
    from trajscope.pipeline.load import facts, load
    from trajscope.pipeline.scoring import Judged, Scoring
    from trajscope.pipeline.waiting import run_here

    scoring = Scoring(expectations, chosen, named=named)
    options = given_input()
    with traces_done("judging") as progress:
        bulk = None
        if db is not None:
            options.refuse_mapping()
            workers = click.get_current_context().meta[_WORKERS]
            bulk = score_on_all_cores(db, targets, scoring, workers, progress)
        if bulk is None:
            loaded = load(targets, options, db)
            note = loaded.nothing_understood()
            judged = [Judged(a.trajectory, facts(a)) for a in loaded.assembled]
            scores = list(run_here(scoring, judged, progress))
        else:
            scores, note = bulk.scores, bulk.nothing_understood()
    if db is not None:
        from trajscope.store import Store

        with Store.open(db, create=False) as store:
            store.save_scores(scores)
    return _Found(scores, scoring.unmatched(), scoring.traces, options.problems, note)


def _set_wise(
    targets: tuple[str, ...],
    db: str | None,
    expectations: list[NamedExpectation],
    chosen: list[Scorer],
    *,
    named: bool,
    complete: bool,
) -> _Found:
    from trajscope.pipeline.engine import SetScoring
    from trajscope.store import Store

    options = given_input()
    options.refuse_mapping()
    with (
        Store.open(db, create=False) as store,
        SetScoring(store, expectations, chosen, named=named, trace_ids=targets or None) as scoring,
    ):
        scoring.save()
        narrate("scored set-wise in the store (--engine python: one by one, with the same result)")
        summary = scoring.summary()
        scores = list(scoring.scores(everything=complete))
        return _Found(
            scores,
            scoring.unmatched(),
            scoring.traces,
            options.problems,
            scoring.nothing_understood(),
            left_out=(0 if complete else summary.perfect, summary.scores - len(scores)),
        )


def _exit_code(found: _Found, fail_on: str, min_score: float | None) -> ExitCode:
    from trajscope.model.score import Severity, Verdict

    scores = found.scores
    if not found.left_out[1] and not any(score.value is not None for score in scores):
        narrate("nothing could be evaluated")
        return ExitCode.NOTHING_EVALUATED
    if min_score is not None and any(s.value is not None and s.value < min_score for s in scores):
        return ExitCode.FINDINGS
    if fail_on != "never":
        bad = Severity(fail_on).rank
        for score in scores:
            for finding in score.findings:
                if finding.verdict is Verdict.VIOLATED and finding.severity.rank >= bad:
                    return ExitCode.FINDINGS
    return ExitCode.OK
