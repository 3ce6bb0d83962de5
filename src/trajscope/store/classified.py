"""The classified columns of `spans`: which column holds what of a reading.

One thing a newcomer would get wrong: these are for SQL. What a span was read as comes back from the
column `reading`, which holds all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import Any

import msgspec
import pyarrow as pa
from msgspec import UNSET

from trajscope.model.reading import Reading, StepType, ToolRequest, ToolResponse
from trajscope.store.args_key import args_key
from trajscope.store.encoding import encode_column, encode_json

LAST_NS = 2**63 - 2
"""The largest time a TIMESTAMP_NS holds (11 April 2262); one more means infinity."""

_SET_WISE = frozenset(
    {
        *("convention", "claim", "step_type", "name", "noise_reason", "is_model_call", "sources"),
        *("args", "args_value", "result", "failed", "failure", "not_failure", "is_mcp"),
        *("tool_call_id", "mcp_server", "agent_name", "agent_id", "session_id", "model"),
        *("provider", "finish_reason", "response_id", "usage", "requests", "responses", "fields"),
    }
)
"""The fields of a reading that the set-wise statements know. A trace in which a reading says
anything else passes through Python, so a new field is safe before SQL learns of it."""

_others = attrgetter(
    *(field.name for field in msgspec.structs.fields(Reading) if field.name not in _SET_WISE)
)
_OTHERS_DEFAULT = _others(Reading())


def clamped(value: int | None) -> int | None:
    """Return a whole number as a column of 64 bits can hold it."""
    if value is None or -LAST_NS <= value <= LAST_NS:
        return value
    return LAST_NS if value > 0 else -LAST_NS


def fields_text(fields: dict[str, Any]) -> bytes | None:
    """Return the further fields of a step as they are stored: one text, however they were found."""
    return encode_json(dict(sorted(fields.items()))) if fields else None


def _request(request: ToolRequest) -> dict[str, Any]:
    """A requested call; `arg_count` None when its arguments are no object or unknown."""
    args = request.args
    return {
        "call_id": request.call_id,
        "tool": request.name,
        "arg_count": len(args) if isinstance(args, dict) else None,
    }


def _call_keys(calls: Iterable[ToolResponse]) -> list[str] | None:
    """The ids of answered calls, and their names marked as such, for requests without an id."""
    found: list[str] = []
    for call in calls:
        if call.call_id:
            found.append(call.call_id)
        if call.name or not call.call_id:
            found.append(f"name:{call.name or ''}")
    return found or None


def _fields(reading: Reading) -> bytes | None:
    """The further fields of a step that the reading alone knows."""
    found: dict[str, Any] = {}
    kind = reading.step_type
    if kind is None:
        return None
    if kind is StepType.MODEL_GENERATION:
        if reading.finish_reason:
            found["finish_reason"] = reading.finish_reason
        if reading.usage is not None:
            found["cached_prompt_tokens"] = reading.usage.cached_input or 0
    elif kind is StepType.AGENT_RUN and reading.agent_id:
        found["agent_id"] = reading.agent_id
    elif kind is StepType.WORKFLOW_RUN:
        found["workflow_id"] = reading.name
    elif kind is StepType.WORKFLOW_STEP:
        found["step_id"] = reading.name
    found.update(reading.fields)
    return fields_text(found)


def _needs_assembly(reading: Reading) -> bool:
    """Whether a reading says more than the set-wise statements know of."""
    usage = reading.usage
    half = usage is not None and (usage.input is None or usage.output is None)
    return half or bool(_others(reading) != _OTHERS_DEFAULT)


def json_field(name: str) -> pa.Field:
    """Return a column that DuckDB takes as JSON as it is; a cast would parse every value again."""
    return pa.field(name, pa.string(), metadata={b"ARROW:extension:name": b"arrow.json"})


_TEXT, _INT, _BOOL = pa.string(), pa.int64(), pa.bool_()
_TEXTS = pa.list_(pa.string())
_REQUESTS = pa.list_(
    pa.struct([("call_id", pa.string()), ("tool", pa.string()), ("arg_count", pa.int32())])
)

Filling = Callable[[list[Reading]], Sequence[Any]]
"""How a column is filled: its value of every reading. Mapped in C where it can be."""


def _field(name: str) -> Filling:
    get = attrgetter(name)
    return lambda readings: list(map(get, readings))


def _json(name: str) -> Filling:
    """A column of JSON values, NULL where nothing is known."""
    get = attrgetter(name)

    def filled(readings: list[Reading]) -> list[bytes | None]:
        values = list(map(get, readings))
        texts = iter(encode_column(value for value in values if value is not UNSET))
        return [None if value is UNSET else next(texts) for value in values]

    return filled


def _tokens(name: str) -> Filling:
    get = attrgetter(name)
    return lambda readings: [r.usage and clamped(get(r.usage)) for r in readings]


def _each(value: Callable[[Reading], Any]) -> Filling:
    return lambda readings: list(map(value, readings))


CLASSIFIED: dict[pa.Field, Filling] = {
    pa.field("convention", _TEXT): _field("convention"),
    pa.field("claim", pa.int32()): _field("claim"),
    pa.field("step_type", _TEXT): _field("step_type"),
    pa.field("step_name", _TEXT): lambda rs: [r.name or None for r in rs],
    pa.field("is_model_call", _BOOL): _field("is_model_call"),
    json_field("args"): _json("args"),
    pa.field("args_key", _TEXT): lambda rs: [args_key(r.args) for r in rs],
    json_field("args_value"): _json("args_value"),
    json_field("result"): _json("result"),
    pa.field("failed", _BOOL): _field("failed"),
    pa.field("failure", _TEXT): _field("failure"),
    pa.field("tool_call_id", _TEXT): _field("tool_call_id"),
    pa.field("mcp_server", _TEXT): _field("mcp_server"),
    pa.field("is_mcp", _BOOL): _field("is_mcp"),
    pa.field("agent_name", _TEXT): _field("agent_name"),
    pa.field("session_id", _TEXT): _field("session_id"),
    pa.field("model", _TEXT): _field("model"),
    pa.field("provider", _TEXT): _field("provider"),
    pa.field("input_tokens", _INT): _tokens("input"),
    pa.field("output_tokens", _INT): _tokens("output"),
    pa.field("cached_input_tokens", _INT): _tokens("cached_input"),
    pa.field("response_id", _TEXT): _field("response_id"),
    pa.field("requested", _REQUESTS): lambda rs: [
        [_request(q) for q in r.requests] if r.requests else None for r in rs
    ],
    pa.field("answered", _TEXTS): lambda rs: [
        _call_keys(r.responses) if r.responses else None for r in rs
    ],
    pa.field("answered_failed", _TEXTS): lambda rs: [
        _call_keys(a for a in r.responses if a.failed) if r.responses else None for r in rs
    ],
    json_field("fields"): _each(_fields),
    pa.field("needs_assembly", _BOOL): _each(_needs_assembly),
    json_field("reading"): encode_column,
}
"""The columns, and how readings fill each."""
