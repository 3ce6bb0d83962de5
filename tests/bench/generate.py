"""Captures of any size for measurements: OTLP/JSON lines as a collector writes them, deterministic.

    python -m tests.bench.generate 20000 capture.jsonl

One thing a newcomer would get wrong: traces of production repeat themselves. Realistic captures
have a few plans of tools; all-distinct ones have none twice, which is the worst case for whatever
judges each kind of trajectory once.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

T0_NS = 1_772_528_400_000_000_000
TOOLS = ("search_docs", "fetch_page", "sql_query", "read_file", "write_file", "run_tests", "mail")
ROUNDS = 5
SPANS_PER_TRACE = 3 * ROUNDS + 5
SPANS_PER_LINE = 512
_PLANS = 6
_WORDS = ("look", "up", "the", "order", "then", "check", "policy", "before", "answering", "refund")
_RESOURCE = {"service.name": "support-bot", "service.version": "1.4.2", "host.name": "h-1"}
_SCOPE = {"name": "opentelemetry.instrumentation.genai", "version": "0.3.0"}

Span = dict[str, Any]


def traces(
    spans: int, *, distinct: bool = False, error_rate: float = 0.05, seed: int = 1
) -> Iterator[list[Span]]:
    """Yield traces of `SPANS_PER_TRACE` spans; the last one is cut so that there are `spans`."""
    random = Random(seed)
    left = spans
    for number in count():
        if left <= 0:
            return
        trace = _Trace(random, number, distinct=distinct, error_rate=error_rate).spans[:left]
        left -= len(trace)
        yield trace


def write(path: Path, found: Iterator[list[Span]]) -> int:
    """Write traces as JSON lines of `SPANS_PER_LINE` spans; return how many spans there were."""
    written = 0
    held: list[Span] = []
    with path.open("w", encoding="utf-8") as file:
        for trace in found:
            held += trace
            written += len(trace)
            while len(held) >= SPANS_PER_LINE:
                file.write(_line(held[:SPANS_PER_LINE]))
                del held[:SPANS_PER_LINE]
        if held:
            file.write(_line(held))
    return written


def deep_trace(spans: int, seed: int = 1) -> list[Span]:
    """Return one trace of that many spans: an agent whose helpers call tools, eight levels deep."""
    random = Random(seed)
    trace_id = _hex(random, 16)
    made: list[Span] = []
    for number in range(spans):
        parent = made[number // 8]["spanId"] if number else None
        is_tool = number > spans // 8
        made.append(
            _span(
                trace_id,
                _hex(random, 8),
                parent,
                "execute_tool" if is_tool else "invoke_agent",
                T0_NS + number * 1000,
                1000,
                {
                    "gen_ai.operation.name": "execute_tool" if is_tool else "invoke_agent",
                    **({"gen_ai.tool.name": random.choice(TOOLS)} if is_tool else {}),
                    **({} if is_tool else {"gen_ai.agent.name": f"helper-{number}"}),
                },
            )
        )
    return made


class _Trace:
    """One run: a request, an agent, rounds of a model call and the tool it asked for."""

    def __init__(self, random: Random, number: int, *, distinct: bool, error_rate: float) -> None:
        self._random = random
        self._id = _hex(random, 16)
        self._now = T0_NS + number * 2_000_000_000
        self._error_rate = error_rate
        self.spans: list[Span] = []
        kind = number if distinct else number % _PLANS
        request = {"http.request.method": "POST", "http.route": "/chat"}
        root = self._add("POST /chat", None, request, 2)
        agent = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": "support_bot",
            "gen_ai.conversation.id": f"conversation-{number}",
        }
        self._agent = self._add("invoke_agent support_bot", root, agent, 1)
        self._said: list[dict[str, Any]] = [{"role": "user", "parts": [_text(self._words(60))]}]
        for turn in range(ROUNDS):
            tool = TOOLS[kind // len(TOOLS) ** turn % len(TOOLS)]
            self._round(tool, {"query": f"q{kind}", "limit": turn, "deep": bool(turn % 2)})
        self._chat([_text(self._words(200))], "stop")
        self._add("SELECT orders", root, {"db.system.name": "postgresql"}, 3)

    def _round(self, tool: str, args: dict[str, Any]) -> None:
        call_id = f"call_{_hex(self._random, 6)}"
        asked = {"type": "tool_call", "id": call_id, "name": tool, "arguments": args}
        self._chat([asked], "tool_calls")
        failed = self._random.random() < self._error_rate
        self._add(
            f"execute_tool {tool}",
            self._agent,
            {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": tool,
                "gen_ai.tool.call.id": call_id,
                "gen_ai.tool.call.arguments": json.dumps(args),
                "gen_ai.tool.call.result": self._words(120),
                **({"error.type": "timeout"} if failed else {}),
            },
            1,
            {"code": 2, "message": "timeout"} if failed else {},
        )
        self._said = [{"role": "tool", "parts": [{"type": "tool_call_response", "id": call_id}]}]

    def _chat(self, parts: list[dict[str, Any]], finish: str) -> None:
        answer = [{"role": "assistant", "parts": parts, "finish_reason": finish}]
        chat = self._add(
            "chat gpt-5-mini",
            self._agent,
            {
                "gen_ai.operation.name": "chat",
                "gen_ai.provider.name": "openai",
                "gen_ai.request.model": "gpt-5-mini",
                "gen_ai.usage.input_tokens": self._random.randint(200, 4000),
                "gen_ai.usage.output_tokens": self._random.randint(10, 300),
                "gen_ai.input.messages": json.dumps(self._said),
                "gen_ai.output.messages": json.dumps(answer),
            },
            3,
        )
        self._add("POST", chat, {"url.full": "https://api.example.com/v1", "http.status": 200}, 3)

    def _add(
        self,
        name: str,
        parent: str | None,
        attributes: dict[str, Any],
        kind: int,
        status: dict[str, Any] | None = None,
    ) -> str:
        span_id = _hex(self._random, 8)
        self._now += 1_000_000
        took = self._random.randint(1_000_000, 900_000_000)
        made = _span(self._id, span_id, parent, name, self._now, took, attributes, kind, status)
        self.spans.append(made)
        return span_id

    def _words(self, size: int) -> str:
        return " ".join(self._random.choices(_WORDS, k=size // 5))


def _span(
    trace_id: str,
    span_id: str,
    parent: str | None,
    name: str,
    start_ns: int,
    took_ns: int,
    attributes: dict[str, Any],
    kind: int = 1,
    status: dict[str, Any] | None = None,
) -> Span:
    return {
        "traceId": trace_id,
        "spanId": span_id,
        **({"parentSpanId": parent} if parent else {}),
        "name": name,
        "kind": kind,
        "startTimeUnixNano": str(start_ns),
        "endTimeUnixNano": str(start_ns + took_ns),
        "attributes": _pairs(attributes),
        "status": status or {},
    }


def _pairs(attributes: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "key": key,
            "value": {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value},
        }
        for key, value in attributes.items()
    ]


def _line(spans: list[Span]) -> str:
    scoped = [{"scope": _SCOPE, "spans": spans}]
    request = [{"resource": {"attributes": _pairs(_RESOURCE)}, "scopeSpans": scoped}]
    return json.dumps({"resourceSpans": request}, separators=(",", ":")) + "\n"


def _text(words: str) -> dict[str, Any]:
    return {"type": "text", "content": words}


def _hex(random: Random, size: int) -> str:
    return f"{random.getrandbits(8 * size) or 1:0{2 * size}x}"


if __name__ == "__main__":
    write(Path(sys.argv[2]), traces(int(sys.argv[1]), distinct="distinct" in sys.argv))
