"""An audit that goes on: the store is looked at again and again, and only what is new is judged.

One thing a newcomer would get wrong: the store is open only while it is read. DuckDB gives a file
to one writer at a time, and a watcher that held it would keep out the ingest it waits for.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from trajscope.model.policy import Policy
from trajscope.pipeline.audit import Audit, AuditOptions, audit_stored, keep

if TYPE_CHECKING:
    from trajscope.store import Store

_BEFORE_ALL = -1


@dataclass(frozen=True, kw_only=True)
class Pace:
    """How often to look, and when to stop; seconds. stop_after: None goes on for ever."""

    interval: float = 5.0
    stop_after: float | None = None
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


class Follower:
    """Audits what arrives in a store; each finding is told once.

    has_looked: whether the store could be read at all yet.
    """

    def __init__(self, policy: Policy, path: str, options: AuditOptions) -> None:
        self._policy = policy
        self._path = path
        self._options = options
        self._after = _BEFORE_ALL
        self.has_looked = False
        self._told: set[str | None] = set()

    def look(self) -> Audit | None:
        """Audit the traces that were touched since the last look; None if there are none.

        The audit holds only findings that were not told before. None too while another process
        holds the store: it is looked at again.

        Raises:
            UsageError: a query of the policy fails. StoreError: the store cannot be read.
        """
        from trajscope.store import Store  # late: DuckDB takes half a second
        from trajscope.store.faults import StoreHeld

        try:
            with Store.open(self._path, create=False) as store:
                self.has_looked = True
                return self._look(store)
        except StoreHeld:
            return None

    def _look(self, store: Store) -> Audit | None:
        from trajscope.store import sql_text

        sql = sql_text("queries/audit_news")
        rows = list(store.query(sql, params={"after": self._after}, name="audit_news.sql").rows)
        if not rows:
            return None
        ids = [row[0] for row in rows]
        if self._options.since_ns is not None:
            recent = set(store.trace_ids(since_ns=self._options.since_ns))
            ids = [trace_id for trace_id in ids if trace_id in recent]
        found = audit_stored(self._policy, store, ids, self._options)
        keep(found, store)
        self._after = rows[0][1]
        return self._news(found)

    def _news(self, found: Audit) -> Audit:
        results = []
        for result in found.results:
            new = tuple(f for f in result.findings if f.fingerprint not in self._told)
            if new:
                results.append(replace(result, findings=new))
        self._told.update(f.fingerprint for r in results for f in r.findings)
        return replace(found, results=results)


def follow(follower: Follower, pace: Pace) -> Iterator[Audit]:
    """Yield the audit of every look that found touched traces, until the pace says stop."""
    begun = pace.clock()
    while True:
        found = follower.look()
        if found is not None:
            yield found
        left = None if pace.stop_after is None else begun + pace.stop_after - pace.clock()
        if left is not None and left <= 0:
            return
        pace.sleep(pace.interval if left is None else min(pace.interval, left))
