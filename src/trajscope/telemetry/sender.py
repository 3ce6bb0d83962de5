"""Batches of evaluations to a backend, through the exporters of opentelemetry-exporter-otlp.

One thing a newcomer would get wrong: the exporters retry inside (429 and 5xx, with back-off that a
`Retry-After` overrides) and then only say yes or no. Why it was no stands in their log, with the
address in it; here the answers themselves are looked at, and the log is kept off the terminal.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from typing import Protocol as TypingProtocol

from opentelemetry.sdk._logs import ReadableLogRecord
from opentelemetry.sdk._logs.export import LogRecordExporter, LogRecordExportResult

from trajscope.errors import UsageError
from trajscope.pipeline.evaluations import Evaluation
from trajscope.pipeline.exporting import Delivery
from trajscope.telemetry._address import Address, Protocol, parse_address
from trajscope.telemetry._answers import AGAIN, HttpAnswer, from_grpc, from_http
from trajscope.telemetry.events import to_log_record

DEFAULT_TIMEOUT_SECONDS = 10.0
"""For one batch with all its retries; what the SDK takes too."""


class OtlpSender:
    """Sends evaluations as OTLP log events; use it as a context manager or call `close`.

    url: `http://host:4318`, `https://host/api/otel`, … (`/v1/logs` is added), or
    `http://host:4317` for gRPC. timeout_seconds: for one batch with all its retries. target: what
    the backend is remembered by, default its address without credentials; two projects that only
    their headers tell apart need two names.

    Raises:
        UsageError: the address, a header or the time-out is unusable.
    """

    def __init__(
        self,
        url: str,
        *,
        protocol: Protocol | None = None,
        headers: Mapping[str, str] | None = None,
        timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
        target: str | None = None,
    ) -> None:
        if not 0 < timeout_seconds < float("inf"):
            raise UsageError(
                f"--timeout: is no time (got {timeout_seconds}); seconds above 0 were expected"
            )
        self._address = parse_address(url, protocol=protocol, headers=headers)
        self._target = target or self._address.target
        self._timeout = timeout_seconds
        self._way: _Way | None = None

    @property
    def target(self) -> str:
        """What the backend is remembered by; holds no credentials."""
        return self._target

    @property
    def shown(self) -> str:
        """What the backend is called in messages: the name it was given, or its address."""
        by_address = self._target == self._address.target
        return self._address.place if by_address else self._target

    @property
    def protocol(self) -> Protocol:
        """How it is spoken to."""
        return self._address.protocol

    def send(self, batch: Sequence[Evaluation]) -> Delivery:
        """Send one batch, with the exporter's retries, for `timeout_seconds` at most."""
        records = [to_log_record(evaluation) for evaluation in batch]
        with _quiet_exporters():
            try:
                if self._way is None:
                    make = _HttpWay if self._address.protocol == "http" else _GrpcWay
                    self._way = make(self._address, self._timeout)
                delivery = self._way.send(records)
            except Exception as error:  # of the library: whatever it is, the batch was not taken
                failure = f"cannot be spoken to ({type(error).__name__})"
                delivery = Delivery(False, failure=failure, hint=AGAIN, is_down=True)
        return self._told(delivery)

    def close(self) -> None:
        """Close the connection."""
        if self._way is not None:
            with _quiet_exporters():
                self._way.exporter.shutdown()  # type: ignore[no-untyped-call]
            self._way = None

    def __enter__(self) -> OtlpSender:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _told(self, delivery: Delivery) -> Delivery:
        if delivery.failure is None:
            return delivery
        failure = f"{self._address.place}: {self._address.shown(delivery.failure)}"
        return Delivery(
            delivery.confirmed, delivery.refused, failure, delivery.hint, delivery.is_down
        )


class _Way(TypingProtocol):
    exporter: LogRecordExporter

    def __init__(self, address: Address, timeout: float) -> None: ...

    def send(self, records: Sequence[ReadableLogRecord]) -> Delivery: ...


class _HttpWay:
    """Over HTTP: the session tells of each answer, the exporter retries."""

    exporter: LogRecordExporter

    def __init__(self, address: Address, timeout: float) -> None:
        import requests
        from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter

        session = requests.Session()
        session.hooks["response"].append(self._saw)
        self._answer: HttpAnswer | None = None
        self.exporter = OTLPLogExporter(
            endpoint=address.endpoint,
            headers=dict(address.headers),
            timeout=timeout,
            session=session,
        )

    def send(self, records: Sequence[ReadableLogRecord]) -> Delivery:
        self._answer = None
        result = self.exporter.export(records)
        return from_http(result is LogRecordExportResult.SUCCESS, self._answer, len(records))

    def _saw(self, response: Any, *_: object, **__: object) -> None:
        self._answer = HttpAnswer(
            response.status_code,
            response.reason or "",
            response.headers.get("content-type", ""),
            response.content,
            response.headers.get("location"),
        )


class _GrpcWay:
    """Over gRPC: the exporter's client is wrapped, so that its answers are seen."""

    exporter: LogRecordExporter

    def __init__(self, address: Address, timeout: float) -> None:
        from opentelemetry.exporter.otlp.proto.grpc._log_exporter import OTLPLogExporter

        way = self

        class Exporter(OTLPLogExporter):
            """Puts the wrapper around each client the exporter makes, at reconnection too."""

            def _initialize_channel_and_stub(self) -> None:
                super()._initialize_channel_and_stub()  # type: ignore[no-untyped-call]
                self._client: Any = _SeenClient(self._client, way)

        self.response: Any = None
        self.error: Any = None
        self.exporter = Exporter(
            endpoint=address.endpoint,
            insecure=address.endpoint.startswith("http://"),
            headers=tuple(address.headers.items()) or None,
            timeout=timeout,
        )

    def send(self, records: Sequence[ReadableLogRecord]) -> Delivery:
        self.response = self.error = None
        result = self.exporter.export(records)
        if result is LogRecordExportResult.SUCCESS:
            return from_grpc(None, "", self.response, len(records))
        code = "UNAVAILABLE" if self.error is None else self.error.code().name
        details = "" if self.error is None else self.error.details() or ""
        return from_grpc(code, details, None, len(records))


class _SeenClient:
    def __init__(self, client: Any, way: _GrpcWay) -> None:
        self._client = client
        self._way = way

    def Export(self, **arguments: Any) -> Any:  # noqa: N802 - the name gRPC gives it
        try:
            self._way.response = self._client.Export(**arguments)
        except Exception as error:
            self._way.error = error
            raise
        return self._way.response


@contextmanager
def _quiet_exporters() -> Iterator[None]:
    """Keep the exporters' log off the terminal; without handlers Python prints its warnings."""
    log = logging.getLogger("opentelemetry.exporter.otlp")
    before, handler = log.propagate, logging.NullHandler()
    log.propagate = False
    log.addHandler(handler)
    try:
        yield
    finally:
        log.propagate = before
        log.removeHandler(handler)
