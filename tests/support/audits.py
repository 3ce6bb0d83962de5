"""Audits of small trajectories, hostile ones too, without a file of traces."""

from __future__ import annotations

from pathlib import Path

from trajscope.pipeline.audit import Audit, AuditOptions, audit
from trajscope.pipeline.load import InputOptions
from trajscope.rules import load_policy

CASES = Path(__file__).parents[1] / "cases"
HOSTILE = CASES / "B23" / "hostile.json"

POLICY = """
rules:
  - {id: no-clear, never: "clear*", message: "{steps} <b>|`x`| ::error::boom %0A"}
  - {id: order, severity: warning, never_sequence: [fetch_page, run_cmd], tags: [net]}
  - {id: big, never: {tool: run_cmd, where: {args.cmd: {contains: rm}}}}
  - {id: late, severity: info, require: run_cmd}
  - {id: query, sql: "select trace_id from steps"}
"""


def hostile_audit(folder: Path, options: AuditOptions | None = None) -> Audit:
    """Return an audit with a violated error, a violated warning, an unknown and satisfied rules."""
    file = folder / "policy, a:b.yaml"
    file.write_text(POLICY.replace(', message: "{steps} <b>|`x`| ::error::boom %0A"', ""))
    return audit(load_policy(file), [str(HOSTILE)], options or AuditOptions(), InputOptions())
