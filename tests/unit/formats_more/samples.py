"""One capture of every further format, by name: recorded, or written by `writers`."""

from __future__ import annotations

import json
from functools import cache

from tests.support.truth import FIXTURES, spans_of
from tests.unit.formats_more import writers as w

FORMATS = {
    "jaeger": "jaeger",
    "zipkin": "zipkin",
    "console": "otel-console",
    "mlflow": "mlflow-trace",
    "native": "openai-agents-native",
    "langfuse": "langfuse",
    "phoenix": "phoenix",
    "langsmith": "langsmith",
    "clickhouse": "clickhouse-otel",
    "atif": "atif",
}
"""The format of a sample by the first word of its name."""

ATIF = {
    "schema_version": "ATIF-v1.7",
    "session_id": "session-1",
    "trajectory_id": "run-1",
    "agent": {"name": "order_agent", "version": "1.0", "model_name": "stub-1"},
    "steps": [
        {
            "step_id": 1,
            "timestamp": "2026-03-03T09:00:00Z",
            "source": "user",
            "message": "Where is order 12?",
        },
        {
            "step_id": 2,
            "timestamp": "2026-03-03T09:00:01Z",
            "source": "agent",
            "message": "",
            "reasoning_content": "The order id may be short.",
            "tool_calls": [
                {
                    "tool_call_id": "c1",
                    "function_name": "lookup_order",
                    "arguments": {"order_id": "12"},
                },
                {"tool_call_id": "c2", "function_name": "ask_expert", "arguments": {"topic": "x"}},
            ],
            "observation": {
                "results": [
                    {"source_call_id": "c1", "content": "Error: order id must look like ORD-<n>"},
                    {
                        "source_call_id": "c2",
                        "content": "ask again",
                        "subagent_trajectory_ref": [{"trajectory_id": "sub-1"}],
                    },
                ]
            },
            "metrics": {"prompt_tokens": 40, "completion_tokens": 12, "cached_tokens": 8},
        },
        {
            "step_id": 3,
            "timestamp": "2026-03-03T09:00:05Z",
            "source": "agent",
            "model_name": "stub-2",
            "message": [{"type": "text", "text": "It has shipped."}],
            "metrics": {"prompt_tokens": 60, "completion_tokens": 4},
        },
    ],
    "subagent_trajectories": [
        {
            "schema_version": "ATIF-v1.7",
            "trajectory_id": "sub-1",
            "agent": {"name": "expert", "version": "1.0", "model_name": "stub-3"},
            "steps": [
                {"step_id": 1, "source": "user", "message": "x?"},
                {
                    "step_id": 2,
                    "source": "agent",
                    "message": "",
                    "tool_calls": [
                        {"tool_call_id": "c1", "function_name": "search", "arguments": {"q": "x"}}
                    ],
                    "observation": {"results": [{"source_call_id": "c1", "content": "found"}]},
                    "metrics": {"prompt_tokens": 5, "completion_tokens": 1},
                },
            ],
        }
    ],
}
"""A document after the specification's own example, with a failing call and a sub-agent."""


@cache
def samples() -> dict[str, bytes]:
    """Return a capture of every format and of every shape it comes in."""
    plain = spans_of("pydantic_ai_v5-err/trace.otlp.json")
    langfuse = spans_of("langfuse-err/trace.otlp.json")
    phoenix = spans_of("langgraph_oi-err/trace.otlp.json")
    langsmith = spans_of("langgraph_ls-err/trace.otlp.json")
    native = json.loads((FIXTURES / "openai_agents_native-err/trace.native.json").read_bytes())
    jaeger = json.loads((FIXTURES / "pydantic_ai_v5-err/trace.jaeger.json").read_bytes())
    mlflow = (FIXTURES / "mlflow_native-err/trace.mlflow-trace.json").read_bytes()
    zipkin, console = w.zipkin_rows(plain), w.console_rows(plain)
    return {
        "jaeger export": json.dumps(jaeger, indent=2).encode(),
        "jaeger one line": json.dumps(jaeger).encode(),
        "jaeger trace": json.dumps(jaeger["data"][0]).encode(),
        "jaeger spans": w.as_lines(
            {**s, "process": jaeger["data"][0]["processes"][s["processID"]]}
            for s in jaeger["data"][0]["spans"]
        ),
        "zipkin list": w.as_array(zipkin),
        "zipkin traces": json.dumps([zipkin]).encode(),
        "zipkin lines": w.as_lines(zipkin),
        "console pretty": b"\n".join(json.dumps(r, indent=4).encode() for r in console),
        "console lines": w.as_lines(console),
        "mlflow trace": mlflow,
        "mlflow lines": json.dumps(json.loads(mlflow)).encode() + b"\n",
        "mlflow artifact": json.dumps(json.loads(mlflow)["data"]).encode(),
        "native body": json.dumps(native).encode(),
        "native array": w.as_array(native["data"]),
        "native lines": w.as_lines(native["data"]),
        "langfuse page": w.as_page(w.langfuse_api_rows(langfuse)),
        "langfuse trace": json.dumps(
            {"id": langfuse[0].trace_id, "observations": w.langfuse_api_rows(langfuse)}
        ).encode(),
        "langfuse lines": w.as_lines(w.langfuse_export_rows(langfuse)),
        "langfuse parquet": w.langfuse_parquet(langfuse),
        "phoenix page": w.as_page(w.phoenix_api_rows(phoenix)),
        "phoenix lines": w.as_lines(w.phoenix_frame_rows(phoenix)),
        "phoenix parquet": w.phoenix_parquet(phoenix),
        "langsmith page": w.as_page(w.langsmith_rows(langsmith), "runs"),
        "langsmith lines": w.as_lines(w.langsmith_rows(langsmith)),
        "langsmith parquet": w.langsmith_parquet(langsmith),
        "clickhouse lines": w.as_lines(w.clickhouse_rows(plain)),
        "clickhouse json": w.as_page(w.clickhouse_rows(plain)),
        "clickhouse parquet": w.clickhouse_parquet(plain),
        "atif document": json.dumps(ATIF, indent=2).encode(),
        "atif lines": w.as_lines([ATIF, {**ATIF, "trajectory_id": "run-2"}]),
    }


NAMES = sorted(samples())
