"""YAML and JSON files of the user: values with line numbers, and messages that point at them."""

from trajscope.documents.read import Document, parse_document, read_document, show_keys
from trajscope.documents.validate import usage_error, validate

__all__ = ["Document", "parse_document", "read_document", "show_keys", "usage_error", "validate"]
