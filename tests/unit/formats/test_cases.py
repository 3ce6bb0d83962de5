"""Captures after public bug reports: encodings, containers, compression, hostile ids."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support.captures import CASES, read_file
from trajscope.errors import InputError
from trajscope.model.span import Span


def tools(spans: list[Span]) -> list[object]:
    named = [s for s in spans if "gen_ai.tool.name" in s.attributes]
    return [s.attributes["gen_ai.tool.name"] for s in sorted(named, key=lambda s: s.start_ns or 0)]


def orphans(spans: list[Span]) -> list[Span]:
    ids = {(s.trace_id, s.span_id) for s in spans}
    return [s for s in spans if s.parent_span_id and (s.trace_id, s.parent_span_id) not in ids]


def roots(spans: list[Span]) -> list[str]:
    return [s.name for s in spans if s.parent_span_id is None]


def test_a_stored_trace_of_another_spelling_gives_the_same_spans() -> None:
    stored, canonical = (
        read_file(CASES / "B01" / name) for name in ("tempo-api-trace.json", "same-trace.hex.json")
    )
    assert stored.spans == canonical.spans
    assert stored.messages == canonical.messages == []
    spans = stored.spans
    assert {s.trace_id for s in spans} == {"bc8f7e7f6a4cb0ffd7a29783ae9f7d11"}
    assert (len(spans), roots(spans), orphans(spans)) == (5, ["invoke_agent trip_planner"], [])
    assert next(s for s in spans if s.parent_span_id is None).span_id == "d48fc2d313ffb803"
    assert tools(spans) == ["search_flights", "book_flight"]
    failed = next(s for s in spans if s.attributes.get("gen_ai.tool.name") == "book_flight")
    assert (failed.status_code, failed.status_message) == ("ERROR", "card declined")


def test_proto_names_a_legacy_key_and_four_ways_of_no_parent() -> None:
    read = read_file(CASES / "B02" / "export-snake.json")
    assert read.messages == []
    assert [s.trace_id for s in read.spans if s.parent_span_id is None] == [
        "aef23b62fd0e8366d06a4876a0229dc1",
        "ae84093d8c301221e5c98f0fe6d24c86",
        "9d1ef0f19f51d56ee141557a3e58de73",
        "be6c81da4affe311070bcefba08e320c",
    ]
    assert (len(read.spans), orphans(read.spans)) == (8, [])
    assert tools(read.spans) == ["lookup_order", "refund_order", "email_customer", "close_ticket"]
    assert {s.scope_name for s in read.spans} == {"helpdesk.tracing"}


def test_a_line_cut_at_the_end_is_reported_and_other_signals_are_counted() -> None:
    read = read_file(CASES / "B03" / "otel-export.jsonl")
    assert {s.trace_id for s in read.spans} == {"0afb1e5666d81046547950e40a46ff89"}
    assert (len(read.spans), len(roots(read.spans)), orphans(read.spans)) == (4, 1, [])
    assert tools(read.spans) == ["web_search", "read_page"]
    assert read.problems.skipped["metrics"] == 1
    (message,) = read.messages
    assert message.startswith("otel-export.jsonl:7: incomplete JSON")


@pytest.mark.parametrize("name", ["ok.jsonl.gz", "renamed-gzip.json", "two-members.jsonl.gz"])
def test_gzip_is_known_by_its_content_and_may_have_members(name: str) -> None:
    read = read_file(CASES / "B04" / name)
    assert read.messages == []
    assert {s.trace_id for s in read.spans} == {"950d3179059fb1759e17fa57645f204e"}
    assert (len(read.spans), len(roots(read.spans)), orphans(read.spans)) == (3, 1, [])
    assert tools(read.spans) == ["list_boxes", "open_box"]


def test_of_a_cut_gzip_the_whole_lines_are_kept_and_the_cut_reported() -> None:
    read = read_file(CASES / "B04" / "truncated.jsonl.gz")
    assert len(read.spans) == 2
    assert any("gzip stream ends early" in message for message in read.messages)


def test_a_bomb_is_refused_with_its_limit_and_the_way_to_raise_it() -> None:
    with pytest.raises(InputError) as caught:
        read_file(CASES / "B04" / "bomb.json.gz")
    assert "limit of 200:1" in str(caught.value)
    assert "--max-expanded" in str(caught.value)


def test_a_bomb_that_is_let_through_is_read_in_bounded_memory() -> None:
    code = (
        "from pathlib import Path\n"
        "from trajscope.errors import Problems\n"
        "from trajscope.formats import FileSource, read_capture\n"
        f"source = FileSource('bomb', Path({str(CASES / 'B04' / 'bomb.json.gz')!r}), 5 * 1024**3)\n"
        "print(*[s.trace_id for s in read_capture(source, Problems(strict=True))])\n"
        # Not ru_maxrss: over exec it keeps what the process that started this one held.
        "print(*[r.split()[1] for r in open('/proc/self/status') if r.startswith('VmHWM')])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    trace_id, peak_kib = done.stdout.split()
    assert trace_id == "3369f6ffcf2cb2529c3c604247af1b64"
    assert int(peak_kib) < 600 * 1024


def test_hostile_ids_of_stored_records_are_kept_letter_for_letter() -> None:
    read = read_file(CASES / "B24" / "stored-ids.json")
    assert read.messages == []
    assert len(read.spans) == 12
    ids = list(dict.fromkeys(s.trace_id for s in read.spans))
    assert len(ids) == 6
    assert {"x'; DROP TABLE spans; --", 'a" OR 1=1', "a/b", "a_b"} <= {*ids}


def test_hostile_ids_of_otlp_are_refused_and_the_rest_kept() -> None:
    read = read_file(CASES / "B24" / "otlp-bad-id.json")
    assert [s.trace_id for s in read.spans] == ["bb86b0b9443fb8a6fae2ea8439c7aeee"]
    (message,) = read.messages
    assert "resourceSpans[0].scopeSpans[0].spans[0].traceId" in message
    assert "DROP TABLE" in message
