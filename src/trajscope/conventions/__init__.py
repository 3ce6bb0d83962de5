"""Span vocabularies, one file each. `read` gives a span to the convention that claims it highest."""

from trajscope.conventions._choose import Reader, conventions

__all__ = ["Reader", "conventions"]
