"""What selectors ask of stored traces, read set-wise for all of them at once.

One thing a newcomer would get wrong: services and attributes stand in the spans, the large table;
they are read only when a selector asks for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from trajscope.evals.select import TraceFacts
from trajscope.model.expectation import Selector
from trajscope.model.span import Json
from trajscope.store import Store


def stored_facts(
    store: Store, selectors: Iterable[Selector], trace_ids: Sequence[str] | None = None
) -> dict[str, TraceFacts]:
    """Return by trace id what these selectors may ask of some traces, or of all.

    Raises:
        StoreError: the store cannot be read.
    """
    asking = list(selectors)
    keys = {key for selector in asking for key in selector.attributes or ()}
    values = {key: store.attribute_values(key) for key in keys}
    services = any(selector.service is not None for selector in asking)
    return {
        row[0]: TraceFacts(
            trace_id=row[0],
            session_id=row[1],
            agents=tuple(row[2] or ()),
            root_names=tuple(row[3] or ()),
            services=tuple(row[4] or ()),
            start_ns=row[5],
            attributes=partial(_values_of, values, row[0]),
        )
        for row in store.trace_facts(trace_ids, services=services)
    }


def _values_of(
    values: Mapping[str, Mapping[str, Sequence[Json]]], trace_id: str, key: str
) -> Sequence[Json]:
    return values[key].get(trace_id, ())
