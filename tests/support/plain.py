"""Spans of programs that are no agents, by the OTel semantic conventions, as OTLP/JSON files.

One thing a newcomer would get wrong: labels and values here are allowed to sound like an agent's
(`chat`, `tool`, an AI provider's host). Only attributes of a vocabulary make a step.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from trajscope.model.span import Json, Span

PLAIN: dict[str, dict[str, Json]] = {
    "http-server": {
        "http.request.method": "POST",
        "http.route": "/v1/chat/completions",
        "url.path": "/v1/chat/completions",
        "url.scheme": "https",
        "http.response.status_code": 500,
        "server.address": "api.example.com",
        "client.address": "10.0.0.7",
        "user_agent.original": "agent/1.0",
        "error.type": "500",
    },
    "http-client": {
        "http.request.method": "GET",
        "url.full": "https://api.example.com/tools?name=search",
        "server.address": "api.example.com",
        "server.port": 443,
        "http.response.status_code": 200,
        "peer.service": "openai",
    },
    "http-old": {
        "http.method": "GET",
        "http.url": "https://api.example.com/agents",
        "http.status_code": 404,
        "http.target": "/agents",
        "net.peer.name": "api.example.com",
    },
    "sql": {
        "db.system.name": "postgresql",
        "db.namespace": "agents",
        "db.query.text": "SELECT * FROM tool_calls WHERE name = $1",
        "db.operation.name": "SELECT",
        "db.collection.name": "tool_calls",
        "db.response.returned_rows": 3,
    },
    "redis": {"db.system": "redis", "db.statement": "GET session:1", "db.operation": "GET"},
    "vector-db": {
        "db.system.name": "qdrant",
        "db.operation.name": "search",
        "db.collection.name": "documents",
        "db.query.parameter.0": "retrieval",
    },
    "messaging": {
        "messaging.system": "kafka",
        "messaging.operation.type": "process",
        "messaging.operation.name": "process",
        "messaging.destination.name": "tool-results",
        "messaging.message.id": "m1",
        "messaging.message.conversation_id": "c1",
        "messaging.batch.message_count": 2,
    },
    "rpc": {
        "rpc.system": "grpc",
        "rpc.service": "agents.v1.ToolService",
        "rpc.method": "ExecuteTool",
        "rpc.grpc.status_code": 13,
    },
    "faas": {
        "faas.trigger": "http",
        "faas.invocation_id": "i1",
        "faas.coldstart": True,
        "cloud.resource_id": "arn:aws:lambda:eu:1:function:agent",
    },
    "graphql": {
        "graphql.operation.name": "invokeAgent",
        "graphql.operation.type": "mutation",
        "graphql.document": "mutation invokeAgent { run }",
    },
    "code": {
        "code.function.name": "app.tools.search",
        "code.file.path": "app/tools.py",
        "code.line.number": 12,
        "thread.id": 7,
        "thread.name": "worker",
    },
    "user": {
        "enduser.id": "u1",
        "user.id": "u1",
        "session.id": "s1",
        "feature_flag.key": "new-model",
        "feature_flag.result.variant": "on",
    },
    "process": {"process.command_args": ["tool", "run"], "process.exit.code": 1, "process.pid": 9},
    "aws": {"rpc.system.name": "aws-api", "aws.request_id": "r1", "aws.s3.bucket": "models"},
    "own": {"app.tool": "search", "tool": "search", "model": "m", "agent": "a", "tokens": 7},
    "none": {},
}
"""Attributes of one span of each kind."""

SCOPES = (
    "",
    "@opentelemetry/instrumentation-http",
    "opentelemetry.instrumentation.httpx",
    "opentelemetry.instrumentation.sqlalchemy",
    "io.opentelemetry.spring-webmvc-6.0",
    "go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc",
    "my-agent-app",
)
LABELS = (
    "",
    "GET",
    "POST /v1/chat/completions",
    "SELECT agents",
    "tool",
    "chat",
    "execute_tool search",
    "invoke_agent clerk",
    "agent run",
    "agents.v1.ToolService/ExecuteTool",
)


def write_otlp(path: Path, spans: Sequence[Span]) -> Path:
    """Write spans as one OTLP/JSON request, a scope each, and return the path."""
    scopes = [
        {
            "scope": {"name": span.scope_name},
            "spans": [
                {
                    "traceId": span.trace_id,
                    "spanId": span.span_id,
                    "parentSpanId": span.parent_span_id or "",
                    "name": span.name,
                    "startTimeUnixNano": str(span.start_ns or 0),
                    **({"endTimeUnixNano": str(span.end_ns)} if span.end_ns is not None else {}),
                    "status": {"code": 2, "message": span.status_message}
                    if span.status_code == "ERROR"
                    else {},
                    "attributes": [
                        {"key": key, "value": _value(value)}
                        for key, value in span.attributes.items()
                    ],
                }
            ],
        }
        for span in spans
    ]
    path.write_text(json.dumps({"resourceSpans": [{"scopeSpans": scopes}]}), "utf-8")
    return path


def _value(value: Json) -> Json:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, list):
        return {"arrayValue": {"values": [_value(item) for item in value]}}
    return {"stringValue": value}
