"""The store: captures, spans and all that is derived from them. The only importer of DuckDB."""

from trajscope.store.captures import StoredCapture
from trajscope.store.columns import SPAN_SCHEMA, Record, batches, to_batch
from trajscope.store.core import MEMORY_LIMIT, MEMORY_LIMIT_VARIABLE, Store
from trajscope.store.exports import FindingToTell, ScoreToTell, ToTell
from trajscope.store.hints import Column, Relation
from trajscope.store.holding import Patience, discard, patient
from trajscope.store.ingest import CaptureInfo, IngestReport
from trajscope.store.logs import LOG_SCHEMA, LogRow, capture_batches
from trajscope.store.parquet_out import ParquetFiles
from trajscope.store.query import QueryResult
from trajscope.store.shape import SCHEMA_VERSION
from trajscope.store.sqltext import sql_text
from trajscope.store.trim import Pruned, Vacuumed, vacuum

__all__ = [
    "LOG_SCHEMA",
    "MEMORY_LIMIT",
    "MEMORY_LIMIT_VARIABLE",
    "SCHEMA_VERSION",
    "SPAN_SCHEMA",
    "CaptureInfo",
    "Column",
    "FindingToTell",
    "IngestReport",
    "LogRow",
    "ParquetFiles",
    "Patience",
    "Pruned",
    "QueryResult",
    "Record",
    "Relation",
    "ScoreToTell",
    "Store",
    "StoredCapture",
    "ToTell",
    "Vacuumed",
    "batches",
    "capture_batches",
    "discard",
    "patient",
    "sql_text",
    "to_batch",
    "vacuum",
]
