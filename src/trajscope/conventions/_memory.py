"""Remembers which convention claims which spans, by nothing but what the claims looked at.

A claim is a function of the span. While it is made for the first time, every value it asks for is
noted; a later span of the same shape (scope, kind, names of attributes) whose asked-for values are
the same gets the same answer. Asking thirty conventions costs ten times what a span of a well-known
shape costs here.

One thing a newcomer would get wrong: the shape alone decides nothing. Two spans with the same
attributes may differ in the value of one of them, so the memory branches on every value asked for,
in the order of asking; what cannot be noted (a walk over values, an error) is not remembered.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Generic, TypeVar

from trajscope.model.span import Json, Span

MAX_SHAPES = 4096
"""Shapes remembered; a program that invents attribute names is asked about anew each time."""
MAX_VALUES = 512
"""Values of one attribute that are told apart; beyond, every new one is asked about anew."""

MAX_CHARS = 10_000
"""Length of the longest text that is remembered: longer ones hardly ever come twice."""

T = TypeVar("T")
_FIELDS = ("name", "status_code", "scope_version", "service_name", "ended")
"""Fields of a span a claim may ask for and be remembered by; others make it unrememberable."""
_Place = tuple[str, str]
"""What is looked into (`attribute`, `resource` or `field`), and a name there."""

_NOWHERE: _Place = ("", "")
_MISSING = object()


class Memory(Generic[T]):
    """What came out for spans, by the shape of the span and the values that were looked at."""

    def __init__(self) -> None:
        self._shapes: dict[object, _Node[T]] = {}

    def find(self, span: Span) -> tuple[T] | None:
        """Return what came out for a span like this one, None if there was none."""
        attributes = span.attributes
        value: Any
        node = self._shapes.get(_shape(span))
        while node is not None:
            if node.result is not None:
                return node.result
            where, name = node.place
            if where == "attribute":
                value = attributes[name]
            else:
                value = span.resource.get(name) if where == "resource" else getattr(span, name)
            # True is 1 and 1 is 1.0 to a dict, and not to a claim.
            key = value if type(value) is str else (type(value), value)
            try:
                node = node.branches.get(key)
            except TypeError:  # a value that is no text, number or nothing
                return None
        return None

    def keep(self, span: Span, looked: Looked, result: T) -> None:
        """Remember what came out for a span, and by what."""
        if looked.blurred or (len(self._shapes) >= MAX_SHAPES and _shape(span) not in self._shapes):
            return
        node = self._shapes.setdefault(_shape(span), _Node())
        for place, key in looked.asked.items():
            if node.result is not None or node.place not in (_NOWHERE, place):
                return  # the same values once asked for something else: no function of the span
            node.place = place
            if key not in node.branches and len(node.branches) >= MAX_VALUES:
                return
            node = node.branches.setdefault(key, _Node())
        if node.place is _NOWHERE:
            node.result = (result,)


class _Node(Generic[T]):
    """A result, or what is looked at next and what follows on each value of it."""

    __slots__ = ("branches", "place", "result")

    def __init__(self) -> None:
        self.place = _NOWHERE
        self.branches: dict[object, _Node[T]] = {}
        self.result: tuple[T] | None = None


def _shape(span: Span) -> object:
    return span.scope_name, span.kind, bool(span.events), tuple(span.attributes)


class Looked:
    """A span to be claimed, noting what is looked at.

    It stands in for a span where claims read one; `blurred` says that something could not be noted.
    """

    def __init__(self, span: Span) -> None:
        self._span = span
        self.asked: dict[_Place, object] = {}
        self.blurred = False
        self.scope_name = span.scope_name
        self.kind = span.kind
        self.attributes = _Noting(span.attributes, self, "attribute")
        self.resource = _Noting(span.resource, self, "resource")

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._span, name)
        if name == "events" and not value:
            return value  # whether there are any is part of the shape
        if name not in _FIELDS:
            self.blurred = True
        else:
            self.note(("field", name), value)
        return value

    def note(self, place: _Place, value: Json) -> None:
        """Note a value that was looked at."""
        if type(value) is str and len(value) <= MAX_CHARS:
            self.asked.setdefault(place, value)
        elif value is None or isinstance(value, bool | int | float):
            self.asked.setdefault(place, (type(value), value))
        else:
            self.blurred = True

    def blur(self) -> None:
        """Note that more was looked at than can be told."""
        self.blurred = True


def _blurred(name: str) -> Any:
    """Return a method of dicts that looks at more than can be told."""
    method = getattr(dict, name)

    def blurred(self: _Noting, *args: Any) -> Any:
        self._looked.blur()
        return method(self, *args)

    return blurred


class _Noting(dict[str, Json]):
    """Attributes that tell which of their values are looked at.

    Which names a span has is its shape, so asking for one that is not there is no news; of a
    resource it is.
    """

    def __init__(self, values: dict[str, Json], looked: Looked, where: str) -> None:
        super().__init__(values)
        self._looked = looked
        self._where = where

    def get(self, key: str, default: Any = None) -> Any:
        value = super().get(key, _MISSING)
        if value is _MISSING:
            if self._where == "resource":
                self._looked.note((self._where, key), None)
            return default
        if value is None and self._where == "resource":
            self._looked.blur()  # there and null: told apart from not there by `default` only
        self._looked.note((self._where, key), value)
        return value

    def __getitem__(self, key: str) -> Json:
        return self.get(key) if key in self else super().__getitem__(key)

    def __contains__(self, key: object) -> bool:
        if self._where == "resource":
            self._looked.blur()
        return super().__contains__(key)

    def __iter__(self) -> Iterator[str]:
        if self._where == "resource":
            self._looked.blur()
        return super().__iter__()

    def __len__(self) -> int:
        if self._where == "resource":
            self._looked.blur()
        return super().__len__()

    items = _blurred("items")
    values = _blurred("values")
    keys = _blurred("keys")
    copy = _blurred("copy")
    __or__ = _blurred("__or__")
    __ror__ = _blurred("__ror__")
    __eq__ = _blurred("__eq__")
    __hash__ = None
