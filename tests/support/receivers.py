"""Backends on loopback, built on the official protobuf stubs: OTLP logs over HTTP and over gRPC.

One thing a newcomer would get wrong: `received` holds what was accepted; a request that was
answered with an error stands in `requests` only.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import grpc
from google.rpc.error_details_pb2 import RetryInfo
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import (
    ExportLogsPartialSuccess,
    ExportLogsServiceRequest,
    ExportLogsServiceResponse,
)
from opentelemetry.proto.collector.logs.v1.logs_service_pb2_grpc import (
    LogsServiceServicer,
    add_LogsServiceServicer_to_server,
)

AGAIN_AT_ONCE = {"Retry-After": "0"}


@dataclass
class Answer:
    """One answer of a backend; over gRPC `code` counts, over HTTP `status`."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    code: grpc.StatusCode | None = None
    details: str = ""
    rejected: int = 0
    message: str = ""


@dataclass
class Backend:
    """A backend that gives its `answers` one after the other, then 200 for ever."""

    answers: list[Answer] = field(default_factory=list)
    url: str = ""
    requests: list[ExportLogsServiceRequest] = field(default_factory=list)
    received: list[ExportLogsServiceRequest] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)

    def take(self, request: ExportLogsServiceRequest) -> Answer:
        """Note a request and return the answer to it."""
        self.requests.append(request)
        answer = self.answers.pop(0) if self.answers else Answer()
        if answer.status == 200 and answer.code is None:
            self.received.append(request)
        return answer

    @property
    def events(self) -> list[dict[str, Any]]:
        """Every accepted event: ids in hex, event name, time, severity, attributes with types."""
        return [
            {
                "trace_id": record.trace_id.hex(),
                "span_id": record.span_id.hex(),
                "event_name": record.event_name,
                "time_ns": record.time_unix_nano,
                "severity": record.severity_text,
                "attributes": {pair.key: _value(pair.value) for pair in record.attributes},
                "types": {pair.key: pair.value.WhichOneof("value") for pair in record.attributes},
            }
            for request in self.received
            for resource in request.resource_logs
            for scope in resource.scope_logs
            for record in scope.log_records
        ]


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_value(inner) for inner in value.array_value.values]
    return None if kind is None else getattr(value, kind)


def _partial(answer: Answer) -> ExportLogsServiceResponse:
    if not answer.rejected and not answer.message:
        return ExportLogsServiceResponse()
    part = ExportLogsPartialSuccess(
        rejected_log_records=answer.rejected, error_message=answer.message
    )
    return ExportLogsServiceResponse(partial_success=part)


@contextmanager
def http_backend(answers: Sequence[Answer] = ()) -> Iterator[Backend]:
    """Run an OTLP/HTTP backend on a free port of loopback."""
    backend = Backend(list(answers))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            backend.paths.append(self.path)
            backend.headers.append({k.lower(): v for k, v in self.headers.items()})
            answer = backend.take(ExportLogsServiceRequest.FromString(body))
            content = answer.body or _partial(answer).SerializeToString()
            self.send_response(answer.status)
            for key, value in {"Content-Type": "application/x-protobuf", **answer.headers}.items():
                self.send_header(key, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    backend.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield backend
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def grpc_backend(answers: Sequence[Answer] = ()) -> Iterator[Backend]:
    """Run an OTLP/gRPC backend on a free port of loopback."""
    backend = Backend(list(answers))
    retry = RetryInfo()
    retry.retry_delay.nanos = 1_000_000

    class Servicer(LogsServiceServicer):  # type: ignore[misc, unused-ignore]
        def Export(self, request: ExportLogsServiceRequest, context: Any) -> Any:  # noqa: N802
            backend.headers.append({pair.key: pair.value for pair in context.invocation_metadata()})
            answer = backend.take(request)
            if answer.code is not None:
                context.set_trailing_metadata(
                    (("google.rpc.retryinfo-bin", retry.SerializeToString()),)
                )
                context.abort(answer.code, answer.details)
            return _partial(answer)

    server = grpc.server(ThreadPoolExecutor(max_workers=2))
    add_LogsServiceServicer_to_server(Servicer(), server)  # type: ignore[no-untyped-call]
    backend.url = f"http://127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    try:
        yield backend
    finally:
        server.stop(None).wait()
