"""OTLP messages to spans, shared by the JSON format, the protobuf format and the receiver.

One thing a newcomer would get wrong: nothing here knows files. A document or message comes in as
bytes with a `Report` that says where it stood.
"""

from trajscope.otlp._json import spans_from_json
from trajscope.otlp._protobuf import records_from_protobuf
from trajscope.otlp._report import Report

__all__ = ["Report", "records_from_protobuf", "spans_from_json"]
