"""Span vocabularies, one file each. The convention that claims a span highest reads it."""

from trajscope.conventions._choose import Reader, conventions
from trajscope.conventions._mapping import MappingConvention, load_mapping

__all__ = ["MappingConvention", "Reader", "conventions", "load_mapping"]
