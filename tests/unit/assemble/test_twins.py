"""Two libraries that record one model call beside each other: one call, and nothing of it lost."""

from typing import Any

import msgspec
import pytest

from tests.unit.assemble.readings import Pair, asks, assembled, model, noise, used


def by(library: str, pair: Pair) -> Pair:
    return msgspec.structs.replace(pair[0], scope_name=library), pair[1]


def call(library: str, span_id: str, start: int, end: int, **more: Any) -> Pair:
    more = {"model": "m", "usage": used(5, 2), **more}
    return by(library, model(span_id, "run", start, end=end, **more))


def calls(*pairs: Pair) -> int | None:
    (found,) = assembled([noise("run", start=0), *pairs])
    return found.model_calls


def test_a_call_within_the_time_of_another_librarys_is_the_same() -> None:
    assert calls(call("a", "1", 10, 20), call("b", "2", 11, 19)) == 1
    many = [call(lib, f"{lib}{n}", 10 * n + d, 10 * n + 8 - d) for n in (1, 2) for lib, d in AB]
    assert calls(*many) == 2


AB = (("a", 0), ("b", 1))


@pytest.mark.parametrize(
    ("library", "end", "more"),
    [
        ("a", 19, {}),  # its own library would have nested it
        ("b", 21, {}),
        ("b", 19, {"model": "n"}),
        ("b", 19, {"usage": used(5, 3)}),
        ("b", 19, {"usage": None}),
        ("b", 19, {"response_id": "r2"}),
    ],
)
def test_what_differs_is_another_call(library: str, end: int, more: dict[str, Any]) -> None:
    first = call("a", "1", 10, 20, response_id="r1")
    assert calls(first, call(library, "2", 11, end, **more)) == 2


def test_each_span_is_of_one_call() -> None:
    around, one, other = call("a", "1", 10, 40), call("b", "2", 11, 19), call("b", "3", 21, 29)
    assert calls(around, one, other) == 2


def test_what_either_tells_stays() -> None:
    asked = {"requests": (asks("look", "c1", n=1),)}
    (found,) = assembled(
        [
            noise("run"),
            call("a", "1", 10, 20, usage=None, failed=True, failure="lost"),
            call("b", "2", 11, 19, usage=None, **asked),
        ]
    )
    (step,) = found.steps
    assert (step.span_id, step.failed, step.failure) == ("2", True, "lost")
    assert [child.name for child in step.children] == ["look"]
