"""Which formats of table files there are, and what reads each.

A new format is a class that keeps `reading.FormatReader` and a line here; if its files are told by
their extension, another in `sources.names.FORMATS`. Its module is imported with its first table.
"""

from collections.abc import Callable
from importlib import import_module

from pneuma_assets.core.errors import TableReadError
from pneuma_assets.core.sources.files.reading import Desk, FormatReader

_HERE = "pneuma_assets.core.sources.files"

_READERS = {
    "parquet": f"{_HERE}.parquet:ParquetReader",
    "csv": f"{_HERE}.text_reader:TextReader",
    "tsv": f"{_HERE}.text_reader:TextReader",
    "jsonl": f"{_HERE}.json_reader:JsonReader",
    "orc": f"{_HERE}.lake.arrow_files:ArrowFileReader",
    "avro": f"{_HERE}.lake.arrow_files:ArrowFileReader",
    "arrow": f"{_HERE}.lake.arrow_files:ArrowFileReader",
    "excel": f"{_HERE}.books.excel:ExcelReader",
    "sqlite": f"{_HERE}.books.sqlite:SQLiteReader",
    "delta": f"{_HERE}.lake.delta:DeltaReader",
    "iceberg": f"{_HERE}.lake.iceberg:IcebergReader",
}


def reader_name(table_format: str) -> str:
    """Return what names the reader of a format; formats of one name share a reader.

    Raises:
        TableReadError: Nothing here reads it; a later version may.
    """
    try:
        return _READERS[table_format]
    except KeyError:
        raise TableReadError(
            f"this version of pneuma-assets reads no tables of the format {table_format!r}"
        ) from None


def make_reader(name: str, desk: Desk) -> FormatReader:
    """Return a reader of a source's tables, by the name that `reader_name` gave it."""
    module, _, kind = name.partition(":")
    make: Callable[[Desk], FormatReader] = getattr(import_module(module), kind)
    return make(desk)
