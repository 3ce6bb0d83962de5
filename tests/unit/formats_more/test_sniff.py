"""Every capture is recognised by exactly one format, however it is cut."""

import pytest

from tests.support.captures import source_of
from tests.support.truth import FIXTURES, FORMS
from tests.unit.formats_more.samples import FORMATS, NAMES, samples
from trajscope.formats import formats


def claims(data: bytes) -> dict[str, int]:
    found = {name: one.sniff(source_of(data)) for name, one in formats().items()}
    return {name: surety for name, surety in found.items() if surety}


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_is_of_one_format_alone(name: str) -> None:
    assert claims(samples()[name]) == {FORMATS[name.split()[0]]: 3}


@pytest.mark.parametrize("form", FORMS)
def test_a_recording_is_of_one_format_alone(form: str) -> None:
    assert len(claims((FIXTURES / form).read_bytes())) == 1


@pytest.mark.parametrize("name", [n for n in NAMES if "parquet" not in n])
@pytest.mark.parametrize("size", [700, 2000, 60_000])
def test_a_cut_head_is_recognised_by_the_same_format_or_none(name: str, size: int) -> None:
    assert set(claims(samples()[name][:size])) <= {FORMATS[name.split()[0]]}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x00" * 5000,
        b"PAR1",
        b"PAR1" + b"\xff" * 200 + b"PAR1",
        b"[" * 60_000,
        b'{"a":' * 12_000,
        b'{"id": 1, "traceId": null}',
        b'[1, "two", null, [3]]',
        b'{"data": 7}',
        b'{"data": [[[[]]]]}',
        b'{"context": [], "observations": {}, "info": 3, "spans": [4], "object": {}}',
        b'{"schema_version": 3}',
        b"\xff\xfe{",
        b'"text"',
        b"NaN",
    ],
    ids=repr,
)
def test_what_is_no_capture_is_claimed_by_nobody(data: bytes) -> None:
    assert claims(data) == {}
