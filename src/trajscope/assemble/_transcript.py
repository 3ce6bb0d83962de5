"""RESOLVE rule for runs that hold their whole conversation, where no model call tells of it.

One thing a newcomer would get wrong: a transcript repeats what the model calls inside the run say;
it counts only in a trace whose model calls hold no requests at all.
"""

from __future__ import annotations

from collections.abc import Sequence

from trajscope.assemble._answers import Answers
from trajscope.assemble._claim import Asked, claim_calls
from trajscope.assemble._draft import Draft, TraceDraft
from trajscope.assemble._pair import requested_draft
from trajscope.model.reading import StepType


def read_transcripts(traces: Sequence[TraceDraft]) -> None:
    """Pair the requests of a transcript with executed calls, and with the answers it holds.

    What it does not hold may stand in what a later model call was given.
    """
    given: Answers | None = None
    for index, trace in enumerate(traces):
        if any(d.reading.requests for d in trace.model_calls()):
            continue
        seen: set[str] = set()
        for draft in [d for d in trace.drafts if d.reading.requests]:
            answers = {r.call_id: r for r in draft.reading.responses if r.call_id is not None}
            runner = _only_agent_below(draft) or draft
            asked = [Asked(runner, rank, r) for rank, r in enumerate(draft.reading.requests)]
            news = [a for a in asked if a.request.call_id is None or a.request.call_id not in seen]
            seen.update(a.request.call_id for a in news if a.request.call_id is not None)
            for item in claim_calls(news, trace):
                call_id = item.request.call_id or ""
                answer = answers.get(call_id)
                if answer is None and call_id:
                    given = Answers(traces) if given is None else given
                    answer = given.to_call(index, draft, call_id, item.request.name)
                runner.children.append(requested_draft(item, answer))


def _only_agent_below(draft: Draft) -> Draft | None:
    """The agent run that must have made the calls, being the only one in the run."""
    found: list[Draft] = []
    stack = list(draft.children)
    while stack and len(found) <= 1:
        node = stack.pop()
        if node.step_type is StepType.AGENT_RUN:
            found.append(node)
        stack.extend(node.children)
    return found[0] if len(found) == 1 else None
