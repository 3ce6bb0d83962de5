"""What the rules of an audit may ask of a store beyond trajectories: attributes, and own SQL.

One thing a newcomer would get wrong: the query of an `sql` rule runs once for the whole audit, not
once for each trace; its rows are kept by trace.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from trajscope.errors import QueryError
from trajscope.model.span import Json

if TYPE_CHECKING:
    from trajscope.store import Store


class StoredAttributes:
    """Gives the attributes of stored spans; those of one trace are read together."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._trace_id: str | None = None
        self._spans: dict[str, Mapping[str, Json]] = {}

    def __call__(self, trace_id: str | None, span_id: str | None) -> Mapping[str, Json] | None:
        """Return the attributes of a span, or None where it is not stored."""
        if trace_id is None or span_id is None:
            return None
        if trace_id != self._trace_id:
            found = [records for _, records in self._store.iter_traces([trace_id])]
            self._spans = {s.span_id: s.attributes for records in found for s, _ in records}
            self._trace_id = trace_id
        return self._spans.get(span_id)


class StoreQueries:
    """Runs the queries of `sql` rules, each once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._found: dict[str, dict[str, list[tuple[tuple[str, ...], str]]]] = {}

    def findings(self, sql: str) -> Mapping[str, Sequence[tuple[tuple[str, ...], str]]]:
        """Return span ids and message of every row, by trace id.

        Raises:
            QueryError: the query fails, or returns no column trace_id.
        """
        if sql not in self._found:
            self._found[sql] = self._run(sql)
        return self._found[sql]

    def _run(self, sql: str) -> dict[str, list[tuple[tuple[str, ...], str]]]:
        result = self._store.query(sql)
        if "trace_id" not in result.columns:
            raise QueryError(
                f"returns no column trace_id (got {', '.join(result.columns)})",
                hint="select trace_id, span_id and, if you like, message",
            )
        found: dict[str, list[tuple[tuple[str, ...], str]]] = {}
        for values in result.rows:
            row = dict(zip(result.columns, values, strict=True))
            spans = row.get("span_ids") or [row.get("span_id")]
            listed = spans if isinstance(spans, list | tuple) else [spans]
            ids = tuple(str(span) for span in listed if span is not None)
            message = row.get("message")
            entry = (ids, "the query returned a row" if message is None else str(message))
            found.setdefault(str(row["trace_id"]), []).append(entry)
        return found
