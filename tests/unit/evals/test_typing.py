"""Result types flow from step to step. mypy decides, in `make check`; here the code also runs.

`assert_type` fails the type check when a type is another one; an ignore that ignores nothing fails
it too (`warn_unused_ignores`), so each one proves that the wrong code below it is refused.
"""

from __future__ import annotations

from typing import Any, assert_type

import pytest
from pydantic import BaseModel

from tests.support.judges import ScriptedJudge
from trajscope.errors import UsageError
from trajscope.evals.error import ScorerRunError
from trajscope.evals.results import ScorerResult
from trajscope.evals.scorer import (
    NotScorable,
    StepContext,
    StepScorer,
    create_scorer,
    not_scorable,
)


class Found(BaseModel):
    words: list[str]


JUDGE = ScriptedJudge([{"text": '{"words": ["a"]}'}])
BASE = create_scorer("s", judge=JUDGE)


def test_a_new_scorer_has_no_results() -> None:
    assert_type(BASE, StepScorer[None, None])
    scored = BASE.generate_score(lambda c: 0.0 if c.results.preprocess is None else 1.0)
    assert scored.run_sync().score == 0.0


def test_what_a_step_returns_is_what_the_next_one_sees() -> None:
    first = BASE.preprocess(lambda c: len(c.run.output))
    assert_type(first, StepScorer[int, None])
    second = first.analyze(lambda c: [c.results.preprocess] * 2)
    assert_type(second, StepScorer[int, list[int]])
    scored = second.generate_score(lambda c: sum(c.results.analyze) / 100)
    assert_type(scored, StepScorer[int, list[int]])
    result = scored.run_sync(output="four")
    assert_type(result, ScorerResult[int, list[int]])
    assert_type(result.results.preprocess, int)
    assert_type(result.results.analyze, list[int])
    assert result.results.analyze == [4, 4]


def test_a_prompt_gives_its_schema() -> None:
    asked = BASE.analyze(create_prompt=lambda c: "?", output_schema=Found)
    assert_type(asked, StepScorer[None, Found])
    scored = asked.generate_score(lambda c: len(c.results.analyze.words) / 2)
    assert scored.run_sync().score == 0.5


def test_not_scorable_is_no_result_of_the_next_step() -> None:
    def plain(context: StepContext[None, None]) -> str | NotScorable:
        return context.run.output or not_scorable("empty")

    async def later(context: StepContext[None, None]) -> str | NotScorable:
        return context.run.output or not_scorable("empty")

    assert_type(BASE.preprocess(plain), StepScorer[str, None])
    assert_type(BASE.preprocess(later), StepScorer[str, None])
    scored = BASE.preprocess(later).generate_score(lambda c: float(c.results.preprocess.isalpha()))
    assert scored.run_sync(output="a").score == 1.0


def test_what_is_given_by_name_is_anything() -> None:
    first = BASE.preprocess(lambda c: 1)

    def score(context: StepContext) -> float:
        assert_type(context.results["preprocess"], Any)
        return float(context.results["preprocess"])

    assert_type(first.generate_score(score), StepScorer[int, None])


def test_wrong_code_is_refused() -> None:
    first = BASE.preprocess(lambda c: len(c.run.output))
    wrong = first.generate_score(lambda c: c.results.preprocess.upper())  # type: ignore[attr-defined]
    with pytest.raises(ScorerRunError, match="upper"):
        wrong.run_sync(output="four")
    missing = BASE.generate_score(lambda c: c.results.analyze.words)  # type: ignore[attr-defined]
    with pytest.raises(ScorerRunError, match="words"):
        missing.run_sync()
    asked = BASE.analyze(create_prompt=lambda c: "?", output_schema=Found)
    typo = asked.generate_score(lambda c: c.results.analyze.wrods[0])  # type: ignore[attr-defined]
    with pytest.raises(ScorerRunError, match="wrods"):
        typo.run_sync()
    with pytest.raises(UsageError, match="output_schema"):
        BASE.analyze(create_prompt=lambda c: "?", output_schema=int)  # type: ignore[type-var]
    with pytest.raises(UsageError, match="output_schema is unknown"):
        BASE.generate_score(  # type: ignore[call-overload]
            create_prompt=lambda c: "?", output_schema=Found
        )
    text = BASE.generate_score(lambda c: "high")  # type: ignore[arg-type, return-value]
    with pytest.raises(ScorerRunError, match="no number"):
        text.run_sync()
