"""What stands beside each other with the same count stands by name, however it came in."""

from __future__ import annotations

from trajscope.pipeline.doctor import Unknown
from trajscope.report.doctor import _by_count


def test_prefixes_of_the_same_count_stand_by_name() -> None:
    one, other = Unknown("x"), Unknown("x")
    one.prefixes.update(["b.b", "a.a", "c.c", "c.c"])
    other.prefixes.update(["c.c", "a.a", "c.c", "b.b"])
    assert _by_count(one) == _by_count(other) == [("c.c", 2), ("a.a", 1), ("b.b", 1)]
