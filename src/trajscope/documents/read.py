"""Reads a YAML or JSON file into plain values and remembers where each of them stands.

One thing a newcomer would get wrong: the YAML reader builds its values itself from the node graph,
with limits, since a few nested aliases would otherwise grow into billions of values.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from trajscope.documents._yaml import KeyPath, Positions, build_yaml
from trajscope.errors import Location, UsageError, unreadable
from trajscope.model.span import Json

MAX_BYTES = 4_000_000
"""Largest file that is read; a policy or expectation file is a few kilobytes."""
_MAX_POSITIONS_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class Document:
    """The value of a file, and line and column (from 1) of its parts by path."""

    value: Json
    path: str
    positions: Positions = field(default_factory=dict)

    def locate(self, keys: KeyPath = (), *, key: str | None = None) -> Location:
        """Return the location of the part at `keys`, or of the nearest part around it.

        >>> Document({}, "e.yaml", {(): (1, 1), ("a",): (2, 3)}).locate(("a", 0))
        Location(path='e.yaml', line=2, column=3, record=None, key='a[0]')
        """
        spelt = {_unspelt(path): path for path in self.positions}
        around = keys
        while around and _unspelt(around) not in spelt:
            around = around[:-1]
        found = spelt.get(_unspelt(around), around)
        line, column = self.positions.get(found, (None, None))
        shown = key or show_keys((*found, *keys[len(found) :]))
        return Location(self.path, line, column, key=shown or None)


def _unspelt(keys: KeyPath) -> KeyPath:
    """Return a path in which camelCase and snake_case are one spelling."""
    return tuple(key.replace("_", "").lower() if isinstance(key, str) else key for key in keys)


def show_keys(keys: KeyPath) -> str:
    """Return a path as people write it.

    >>> show_keys(("steps", 0, "name"))
    'steps[0].name'
    """
    shown = ""
    for key in keys:
        shown += f"[{key}]" if isinstance(key, int) else f".{key}" if shown else str(key)
    return shown


def read_document(path: str | Path) -> Document:
    """Return the value of a YAML or JSON file.

    Raises:
        UsageError: the file cannot be read, is empty, is no YAML or JSON, names a key twice, or
            is larger or deeper than any such file should be.
    """
    name = str(path)
    try:
        with Path(path).open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except IsADirectoryError as error:
        raise UsageError(
            "is a directory; a YAML or JSON file was expected", at=Location(name)
        ) from error
    except OSError as error:
        raise unreadable(name, error, "a YAML or JSON file") from error
    if len(data) > MAX_BYTES:
        raise UsageError(f"is larger than {MAX_BYTES} bytes", at=Location(name))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError(
            f"is no UTF-8 text (got byte 0x{data[error.start]:02x})",
            at=Location(name, line=line),
            hint="save the file as UTF-8",
        ) from error
    return parse_document(text, name)


def parse_document(text: str, name: str = "<text>") -> Document:
    """Return the value of a YAML or JSON text; JSON when the name or the text says so.

    Raises:
        UsageError: as `read_document` does.

    >>> parse_document("a: [1, 2]").value
    {'a': [1, 2]}
    """
    if not text.strip():
        raise UsageError("is empty; a mapping or a list was expected", at=Location(name))
    if name.lower().endswith(".json"):
        return _json_document(text, name)
    value, positions = build_yaml(text, name)
    return Document(value, name, positions)


def _json_document(text: str, name: str) -> Document:
    try:
        value = json.loads(
            text, object_pairs_hook=_Once(name).pairs, parse_constant=_Once(name).no_constant
        )
    except json.JSONDecodeError as error:
        raise UsageError(
            f"is no JSON: {error.msg}", at=Location(name, error.lineno, error.colno)
        ) from error
    except RecursionError as error:
        raise UsageError("is nested too deeply", at=Location(name)) from error
    return Document(value, name, _json_positions(text, name))


def _json_positions(text: str, name: str) -> Positions:
    """Return where the parts of a valid JSON text stand, as far as a YAML reader can tell.

    JSON is read as YAML for this only. A tab is no white space there, and never part of a valid
    JSON text, so it may be replaced; what still fails costs the line numbers and nothing else.
    """
    if len(text) > _MAX_POSITIONS_BYTES:
        return {}
    try:
        return build_yaml(text.replace("\t", " "), name)[1]
    except UsageError:
        return {}


class _Once:
    """Refuses what JSON parsers let through: repeated keys, NaN and infinities."""

    def __init__(self, name: str) -> None:
        self._name = name

    def pairs(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        seen: dict[str, Any] = {}
        for key, value in pairs:
            if key in seen:
                raise UsageError(
                    f"the key {key!r:.80} stands twice in one object", at=Location(self._name)
                )
            seen[key] = value
        return seen

    def no_constant(self, constant: str) -> NoReturn:
        raise UsageError(
            f"is no JSON number (got {constant}); a finite number was expected",
            at=Location(self._name),
        )
