"""Span vocabularies, one file each. The convention that claims a span highest reads it."""

from trajscope.conventions._choose import Reader, conventions

__all__ = ["Reader", "conventions"]
