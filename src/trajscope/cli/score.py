"""`trajscope score`: trajectories against expectations."""

from __future__ import annotations

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
)
from trajscope.cli.app import COMMANDS
from trajscope.errors import ExitCode, UsageError


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
    "tool-failures, trajectory, accuracy, or one of your own as FILE.py:NAME.",
)
@click.option(
    "--fail-on",
    type=click.Choice(["info", "warning", "error", "never"]),
    default="error",
    show_default=True,
    help="Exit 1 when a finding is at least this bad.",
)
@click.option("--min-score", type=click.FloatRange(0, 1), help="Exit 1 when a score is below this.")
@click.option("--all", "everything", is_flag=True, help="Show trajectories without a fault too.")
@input_options
@json_option
def COMMAND(  # noqa: N802
    targets: tuple[str, ...],
    db: str | None,
    expect: str | None,
    names: tuple[str, ...],
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
    from trajscope.pipeline.load import facts, load
    from trajscope.pipeline.scoring import Judged, Scoring, chosen_scorers
    from trajscope.report.scores import print_scores, scores_json

    expectations = load_expectations(expect) if expect else []
    scoring = Scoring(expectations, chosen_scorers(names), named=bool(names))
    loaded = load(targets, given_input(), db)
    print_problems(loaded.problems)
    scores = list(scoring.run(Judged(a.trajectory, facts(a)) for a in loaded.assembled))
    if db is not None:
        from trajscope.store import Store

        with Store.open(db) as store:
            store.save_scores(scores)
    unmatched = scoring.unmatched()
    if as_json:
        print_json(scores_json(scores, unmatched, loaded.problems))
    else:
        print_scores(console(), scores, everything=everything)
    for name in unmatched:
        narrate(f"expectation {name!r} was for no trace; check its select")
    if note := loaded.nothing_understood():
        narrate(note)
    if expectations and len(unmatched) == len(expectations):
        raise UsageError(
            f"no expectation of {expect} was for any of {scoring.traces} traces",
            hint="trajscope list shows what selectors can match",
        )
    click.get_current_context().exit(_exit_code(scores, fail_on, min_score))


def _exit_code(scores: list, fail_on: str, min_score: float | None) -> ExitCode:  # type: ignore[type-arg]
    from trajscope.model.score import Severity, Verdict

    if not any(score.value is not None for score in scores):
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
