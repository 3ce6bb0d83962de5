"""Finds plug-ins: one module with one constant each, plus entry points of third parties.

One thing a newcomer would get wrong: discovery never decides anything by order. Where order is
the meaning (repairs, RESOLVE), there is an explicit commented tuple instead.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Any, Protocol, TypeVar

from trajscope.errors import PluginError


class Named(Protocol):
    """Anything with a `name` users can type."""

    @property
    def name(self) -> str:
        """The unique name."""


P = TypeVar("P", bound=Named)


def discover(
    package: str, constant: str, kind: type[P], adapt: Callable[[Any], Any] = lambda plugin: plugin
) -> dict[str, P]:
    """Return the plug-ins of `package` by name: every module's `constant`, then entry points.

    Modules whose name starts with `_` are helpers and are not looked at. Entry points stand in
    the group named like the package (`trajscope.formats`, …) and name the constant itself.
    adapt: makes a plug-in of what an entry point names.

    Raises:
        PluginError: a module lacks the constant, a plug-in lacks a member of the protocol, or
            two plug-ins have one name.
    """
    found: dict[str, P] = {}
    parent = importlib.import_module(package)
    for info in pkgutil.iter_modules(parent.__path__):
        if info.name.startswith("_"):
            continue
        module = importlib.import_module(f"{package}.{info.name}")
        if not hasattr(module, constant):
            raise PluginError(f"{module.__name__}: no constant {constant}; a plug-in needs one")
        _add(found, getattr(module, constant), kind, module.__name__)
    for point in entry_points(group=package):
        try:
            plugin = adapt(point.load())
        except Exception as error:
            raise PluginError(
                f"entry point {point.name} ({point.value}) cannot be loaded: {error}",
                hint="uninstall the package that declares it, or mend it",
            ) from error
        _add(found, plugin, kind, point.value)
    return found


def provided(place: str) -> Any:
    """Return the object at `module:name`, imported only now, when somebody asks for it.

    For the one case in which a lower layer needs what a higher one makes: the lower one names the
    place and the protocol it must keep, and never learns what stands there.

    Raises:
        PluginError: there is no such module or name.
    """
    module, _, name = place.partition(":")
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise PluginError(f"{place}: is not provided: {error}") from error


def _add(found: dict[str, P], plugin: P, kind: type[P], where: str) -> None:
    missing = [m for m in _members(kind) if not hasattr(plugin, m)]
    if missing:
        raise PluginError(f"{where}: {kind.__name__} lacks {', '.join(missing)}")
    if plugin.name in found:
        raise PluginError(f"{where}: the name {plugin.name!r} is taken")
    found[plugin.name] = plugin


def _members(kind: type) -> list[str]:
    members = {
        m for base in kind.__mro__ for m in (*vars(base), *getattr(base, "__annotations__", ()))
    }
    return sorted(m for m in members if not m.startswith("_"))
