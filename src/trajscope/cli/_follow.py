"""`trajscope audit --follow`: prints or sends findings as they arrive."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from trajscope.cli._io import narrate
from trajscope.errors import ExitCode, ExportError

if TYPE_CHECKING:
    from collections.abc import Callable

    from trajscope.model.policy import Policy
    from trajscope.pipeline.audit import Audit, AuditOptions
    from trajscope.redact import Redactor


class Watch(NamedTuple):
    """How to watch; interval and stop_after in seconds."""

    fail_on: str
    interval: float
    stop_after: float | None
    webhook: str | None
    allow_plain: bool


def watch(
    policy: Policy,
    db: str,
    options: AuditOptions,
    redactor: Redactor | None,
    asked: Watch,
    write: Callable[[Audit], None],
) -> ExitCode:
    """Audit what arrives; return at the first finding, or go on when there is a webhook.

    write: prints an audit, already masked.

    Raises:
        UsageError: the webhook is no address to send findings to.
    """
    from trajscope.model.score import Severity
    from trajscope.pipeline.follow import Follower, Pace, follow
    from trajscope.report.audit import audit_json, redact_audit
    from trajscope.report.text import plural
    from trajscope.report.webhook import check_address, post

    url = asked.webhook and check_address(asked.webhook, allow_plain=asked.allow_plain)
    pace = Pace(interval=asked.interval, stop_after=asked.stop_after)
    code = ExitCode.OK
    follower = Follower(policy, db, options)
    for found in follow(follower, pace):
        bad = asked.fail_on != "never" and found.at_least(Severity(asked.fail_on))
        if not bad:
            narrate(f"{plural(found.trace_count, 'trace')} audited, nothing to tell")
            continue
        shown = redact_audit(found, redactor)
        write(shown)
        code = ExitCode.FINDINGS
        if not url:
            break
        try:
            post(url, audit_json(shown))
        except ExportError as error:
            narrate(f"warning: {error}")  # what was found is in the store and on stdout
    if not follower.has_looked:
        narrate("nothing could be evaluated: another process held the store all the time")
        return ExitCode.NOTHING_EVALUATED
    return code
