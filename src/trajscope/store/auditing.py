"""The store's side of an audit: numbered steps, lines and matches, in tables of one connection.

One thing a newcomer would get wrong: nothing here knows a rule. `pipeline.auditing` says which
statement of `sql/audit` runs with which parameters; here is only where they run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa

from trajscope.model.step_row import StepRow
from trajscope.store.stored_rows import to_step_row
from trajscope.store.temporary import TemporaryTables

_FETCH_ROWS = 5_000

_TYPES = {"matcher_no": pa.int32(), "combo_no": pa.int32(), "n": pa.int64(), "sure": pa.bool_()}
_TYPES |= {"kind_no": pa.int32(), "tool_no": pa.int32(), "next_no": pa.int32()}


class AuditTables(TemporaryTables):
    """Runs the statements of `sql/audit`; close it when the audit is over."""

    folder = "audit/"

    def steps(
        self, statement: str, params: Mapping[str, object] | None = None
    ) -> Iterator[tuple[int, StepRow]]:
        """Yield the numbers and the steps that a statement returns.

        Raises:
            StoreError: it fails.
        """
        for rows in self.chunks(statement, params, _FETCH_ROWS):
            for row in rows:
                yield row[0], to_step_row(row[1:])

    def fill(
        self,
        statement: str,
        columns: Mapping[str, Sequence[object]],
        params: Mapping[str, object] | None = None,
    ) -> None:
        """Run a statement that reads the rows `incoming`, given by column.

        Raises:
            StoreError: it fails.
        """
        table = pa.table({name: pa.array(v, _TYPES[name]) for name, v in columns.items()})
        self._with(table, self._text(statement), params)
