"""What is sent to a backend is masked, and is known again whatever the masks are."""

from __future__ import annotations

from collections.abc import Sequence

from trajscope.pipeline.evaluations import Evaluation
from trajscope.pipeline.exporting import Delivery
from trajscope.pipeline.redaction import MaskingSender
from trajscope.redact import Redactor


class Taker:
    target = "t"

    def __init__(self) -> None:
        self.taken: list[Evaluation] = []

    def send(self, batch: Sequence[Evaluation]) -> Delivery:
        self.taken += batch
        return Delivery(confirmed=True)


def test_a_batch_is_masked_on_its_way() -> None:
    said = Evaluation(
        name="loud",
        value=0.0,
        label="fail",
        explanation="called with password=CANARY-1",
        error_type=None,
        trace_id="t",
        span_id="s",
        time_ns=1,
        attributes={"trajscope.message": "Bearer CANARY-2", "trajscope.steps": ["a", "b"]},
        key="k",
    )
    taker = Taker()
    sender = MaskingSender(taker, Redactor(secret=b"k"))
    assert sender.target == "t"
    assert sender.send([said]).confirmed
    [sent] = taker.taken
    assert "CANARY" not in repr(sent)
    assert (sent.key, sent.name, sent.value, sent.span_id) == ("k", "loud", 0.0, "s")
    assert list(sent.attributes["trajscope.steps"]) == ["a", "b"]
