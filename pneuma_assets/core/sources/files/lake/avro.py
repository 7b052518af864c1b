"""Reads Avro files by fastavro: simple types as what they are, others as JSON."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from pneuma_assets.core.errors import TableReadError
from pneuma_assets.core.sources.bounds import check_width
from pneuma_assets.core.sources.duckdb.session import quote_identifier
from pneuma_assets.core.sources.files.lake.arrow_table import Batches, Part
from pneuma_assets.core.sources.names import one_line

_SIMPLE = {
    "string": pa.string(),
    "enum": pa.string(),
    "int": pa.int64(),
    "long": pa.int64(),
    "float": pa.float64(),
    "double": pa.float64(),
    "boolean": pa.bool_(),
    "bytes": pa.binary(),
    "date": pa.date32(),
    "timestamp-millis": pa.timestamp("us", "UTC"),
    "timestamp-micros": pa.timestamp("us", "UTC"),
    "local-timestamp-millis": pa.timestamp("us"),
    "local-timestamp-micros": pa.timestamp("us"),
    "time-millis": pa.time64("us"),
    "time-micros": pa.time64("us"),
    "uuid": pa.string(),
}
_BATCH_CELLS = 50_000


def open_avro(path: Path) -> tuple[pa.Schema, list[Part], dict[str, str]]:
    """Return the columns of a file, its rows as one part, and the types of nested columns.

    Raises:
        TableReadError: fastavro is not installed, or it is no Avro file of records.
    """
    try:
        import fastavro
    except ImportError as error:
        raise TableReadError(
            "fastavro is not installed; run: pip install 'pneuma-assets[avro]'"
        ) from error
    with _explained(), path.open("rb") as file:
        written = fastavro.reader(file).writer_schema
    if not isinstance(written, dict) or not written.get("fields"):
        raise TableReadError("its rows are no records with fields; write a table of records")
    check_width(len(written["fields"]))
    schema = pa.schema([(field["name"], _arrow_type(field["type"])) for field in written["fields"]])
    with _explained():
        types = _nested_types(written["fields"])
    return schema, [Part(partial(_batches, path, schema))], types


def _batches(path: Path, schema: pa.Schema) -> Batches:
    import fastavro

    rows = max(1, _BATCH_CELLS // len(schema))
    spell = [_spelling(kind) for kind in schema.types]
    with _explained(), path.open("rb") as file:
        records: Iterator[Any] = iter(fastavro.reader(file))
        while batch := list(islice(records, rows)):
            columns = [
                pa.array([to(record.get(field.name)) for record in batch], field.type)
                for field, to in zip(schema, spell, strict=True)
            ]
            yield pa.RecordBatch.from_arrays(columns, schema=schema)


@contextmanager
def _explained() -> Iterator[None]:
    """Say that a file is damaged, of which fastavro may raise anything."""
    try:
        yield
    except (OSError, MemoryError, TableReadError):
        raise
    except Exception as error:
        words = one_line(f"{type(error).__name__}: {error}", 200)
        raise TableReadError(f"it is no Avro file that can be read ({words})") from error


def _arrow_type(kind: Any) -> pa.DataType:
    """Return the type of a column; of a union with null, that of its other side."""
    if isinstance(kind, list):
        others = [one for one in kind if one != "null"]
        return _arrow_type(others[0]) if len(others) == 1 else pa.string()
    if isinstance(kind, dict):
        logical = kind.get("logicalType")
        if logical == "decimal" and 0 < int(kind.get("precision", 0)) <= 38:
            return pa.decimal128(int(kind["precision"]), int(kind.get("scale", 0)))
        return _SIMPLE.get(logical or "", _SIMPLE.get(str(kind.get("type")), pa.string()))
    return _SIMPLE.get(str(kind), pa.string())


def _nested_types(fields: Sequence[dict[str, Any]]) -> dict[str, str]:
    """Return by name the types of columns with fields inside, whose names rules may be about."""
    named: dict[str, Any] = {}
    types = {field["name"]: _type_in_words(field["type"], named, set()) for field in fields}
    return {name: kind for name, kind in types.items() if "(" in kind}


def _type_in_words(kind: Any, named: dict[str, Any], told: set[str]) -> str:
    """Return a type with all that is inside it, each record once: they may hold themselves."""
    if isinstance(kind, str):
        return (
            kind if kind not in named or kind in told else _type_in_words(named[kind], named, told)
        )
    if isinstance(kind, list):
        others = [_type_in_words(one, named, told) for one in kind if one != "null"]
        return others[0] if len(others) == 1 else f"UNION({', '.join(others)})"
    what = kind["type"]
    if what in {"record", "error"}:
        named[kind["name"]] = kind
        told.add(kind["name"])
        fields = (
            f"{quote_identifier(field['name'])} {_type_in_words(field['type'], named, told)}"
            for field in kind["fields"]
        )
        return f"STRUCT({', '.join(fields)})"
    if what == "array":
        return f"{_type_in_words(kind['items'], named, told)}[]"
    if what == "map":
        return f"MAP(string, {_type_in_words(kind['values'], named, told)})"
    return (
        str(kind.get("logicalType") or what)
        if isinstance(what, str)
        else _type_in_words(what, named, told)
    )


def _spelling(kind: pa.DataType) -> Callable[[Any], Any]:
    return _as_text if pa.types.is_string(kind) else lambda value: value


def _as_text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, dict | list | tuple):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)
