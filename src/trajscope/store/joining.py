"""Finds the spans log records belong to, again for those a capture may have changed.

One thing a newcomer would get wrong: where a record belongs depends on *all* spans and records of
the store, never on who came first. Whatever a new span or record may change is looked for again,
and spans that gain or lose a record are read again from what was sent.
"""

from __future__ import annotations

from trajscope.store.placing import place_pending
from trajscope.store.rereading import Read, read_again
from trajscope.store.statements import Connection, clear, rows, run

__all__ = ["Read", "expect_pruning", "join_capture", "join_rest", "merge_logs", "note_past"]


def merge_logs(connection: Connection, capture_no: int) -> None:
    """Keep one row of every log record, now that those of a capture were appended."""
    clear(connection, "reread")
    run(connection, "replaced_logs", {"capture_no": capture_no})
    run(connection, "merge_logs", {"capture_no": capture_no})


def note_past(connection: Connection, capture_no: int) -> None:
    """Note, before the versions of spans that lost go, which calls and sessions they told of."""
    if rows(connection, "has_logs")[0][1]:
        run(connection, "join_past", {"capture_no": capture_no})


def join_capture(connection: Connection, capture_no: int, read: Read | None) -> bool:
    """Give records and spans of a capture to each other; `changed` then holds what that changed.

    Spans must have been merged. False, and nothing done, for a store without log records.
    """
    [(any_logs, any_standins)] = rows(connection, "has_logs")
    if not any_logs:
        return False
    clear(connection, "pending", "changed")
    run(connection, "join_changed", {"capture_no": capture_no})
    if any_standins:
        run(connection, "join_seed", {"capture_no": capture_no})
        clear(connection, "past")
        place_pending(connection)
    run(connection, "join_reread", {"capture_no": capture_no})
    read_again(connection, read)
    return True


def expect_pruning(connection: Connection) -> None:
    """Note, before the touched traces go, the log records whose place may differ without them."""
    clear(connection, "pending", "reread", "changed")
    if rows(connection, "has_logs")[0][1]:
        run(connection, "join_touched")
        run(connection, "join_seed", {"capture_no": None})
        clear(connection, "changed")


def join_rest(connection: Connection, read: Read | None) -> bool:
    """Place the records that were noted and are left; `changed` then holds what that changed."""
    run(connection, "join_forget")
    place_pending(connection)
    read_again(connection, read)
    return True
