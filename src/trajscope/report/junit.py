"""An audit as JUnit XML: a suite per rule, a case per trace it fails or cannot be told for.

One thing a newcomer would get wrong: unknown is *skipped*, since a build must not go green by
evidence that was never recorded, nor red by it; only a rule's own crash is an error.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from trajscope.model.policy import PolicyRule
from trajscope.model.rule import RuleResult
from trajscope.model.score import Verdict
from trajscope.pipeline.audit import Audit
from trajscope.report.audit import place_of, verdict_counts, witness_text
from trajscope.report.text import safe_text
from trajscope.rules import rule_in_words

_NO_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_CRASH = " failed: "


def audit_junit(audit: Audit) -> str:
    """Return the audit as a JUnit document."""
    root = ET.Element("testsuites", name=_xml(audit.policy.path or "policy"))
    totals = dict.fromkeys(("tests", "failures", "errors", "skipped"), 0)
    for rule in audit.policy.rules:
        suite = _suite(audit, rule)
        for name in totals:
            totals[name] += int(suite.get(name, "0"))
        root.append(suite)
    for name, count in totals.items():
        root.set(name, str(count))
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=False).join(
        ('<?xml version="1.0" encoding="UTF-8"?>\n', "\n")
    )


def _suite(audit: Audit, rule: PolicyRule) -> ET.Element:
    suite = ET.Element("testsuite", name=_xml(rule.id))
    properties = ET.SubElement(suite, "properties")
    counts = verdict_counts(audit, rule.id)
    facts = {"severity": rule.severity.value, "means": rule_in_words(rule)}
    facts |= {"policy_hash": audit.policy_hash, **{k: str(v) for k, v in counts.items()}}
    for name, value in facts.items():
        ET.SubElement(properties, "property", name=name, value=_xml(value))
    told = dict.fromkeys(("tests", "failures", "errors", "skipped"), 0)
    for result in audit.results:
        if result.rule == rule.id:
            case = _case(rule, result)
            suite.append(case)
            told["tests"] += 1
            for tag, name in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
                told[name] += case.find(tag) is not None
    if counts["satisfied"] or counts["vacuous"] or not told["tests"]:
        suite.append(_rest(rule, counts))
        told["tests"] += 1
        told["skipped"] += not any(counts.values())
    for name, count in told.items():
        suite.set(name, str(count))
    return suite


def _case(rule: PolicyRule, result: RuleResult) -> ET.Element:
    case = ET.Element("testcase", classname=_xml(rule.id), name=_xml(place_of(result)), time="0")
    if rule.at.path:
        case.set("file", _xml(rule.at.path))
        case.set("line", str(rule.at.line or 1))
    message = _xml(result.message)
    lines = [f"{_xml(f.message)}\n  {_xml(witness_text(f))}" for f in result.findings]
    if result.findings_not_shown:
        lines.append(f"and {result.findings_not_shown} more")
    if result.verdict is Verdict.VIOLATED:
        child = ET.SubElement(case, "failure", message=message, type=result.severity.value)
        child.text = "\n".join(lines)
    elif rule.kind == "python" and _CRASH in result.message:
        child = ET.SubElement(case, "error", message=message, type="crash")
    else:
        child = ET.SubElement(case, "skipped", message=f"unknown: {message}")
    if result.findings:
        ET.SubElement(case, "system-out").text = "\n".join(lines)
    return case


def _rest(rule: PolicyRule, counts: dict[str, int]) -> ET.Element:
    """One case for all traces that are satisfied or vacuous: there may be millions."""
    name = f"{counts['satisfied']} satisfied, {counts['vacuous']} vacuous"
    case = ET.Element("testcase", classname=_xml(rule.id), name=name, time="0")
    if not any(counts.values()):
        ET.SubElement(case, "skipped", message="the rule was for no trace")
    return case


def _xml(text: str) -> str:
    """Return text that XML can hold: control characters as they are shown on a terminal."""
    return _NO_XML.sub("�", safe_text(text))
