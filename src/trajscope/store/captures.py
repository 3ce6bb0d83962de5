"""The captures a store was filled from."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec

from trajscope.model.span import Json
from trajscope.store.encoding import decode_json
from trajscope.store.statements import Connection, rows


class StoredCapture(msgspec.Struct, frozen=True, kw_only=True):
    """One capture as the store keeps it; counts are those of its first ingest."""

    capture_no: int
    id: str
    name: str
    format: str
    ingested_at: datetime
    spans: int
    added: int
    duplicates: int
    skipped: dict[str, int]
    problem_count: int
    problems: list[dict[str, Json]]
    dropped_attributes: tuple[str, ...] = ()
    logs: int = 0


def read_captures(connection: Connection) -> list[StoredCapture]:
    """Return the captures in the order they were ingested."""
    return [
        StoredCapture(
            capture_no=row[0],
            id=row[1],
            name=row[2],
            format=row[3],
            ingested_at=row[4].replace(tzinfo=UTC),
            spans=row[5],
            added=row[6],
            duplicates=row[7],
            skipped=decode_json(row[8]),
            problem_count=row[9],
            problems=decode_json(row[10]),
            dropped_attributes=tuple(row[11]),
            logs=row[12],
        )
        for row in rows(connection, "read_captures")
    ]
