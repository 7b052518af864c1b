import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pneuma_assets.core.sources.files.names import FileName, is_partition, parse_file_name
from pneuma_assets.core.sources.names import escape, escape_segment, unescape


@given(st.binary(min_size=1, max_size=60))
def test_escaped_names_are_printable_utf8_and_reversible(raw: bytes):
    name = raw.decode("utf-8", "surrogateescape")
    escaped = escape(name)
    assert unescape(escaped.encode("utf-8").decode("utf-8")) == name
    assert not set(escaped) & set("\n\r\t\0\x1b\u2028\u202e")


@given(st.text(max_size=60))
def test_escape_never_fails(name: str):
    assert bool(escape(name).encode("utf-8")) == bool(name)
    assert "/" not in escape_segment(name)


@given(st.text(max_size=30), st.text(max_size=30))
def test_two_names_never_share_an_escape(one: str, other: str):
    assert (escape(one) == escape(other)) == (one == other)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        *(("a.csv", FileName("a", "csv")), ("A.CSV", FileName("A", "csv"))),
        *(("a.b.tsv", FileName("a.b", "tsv")), ("a.csv.gz", FileName("a", "csv"))),
        *(("a.ndjson.GZ", FileName("a", "jsonl")), ("a.parquet", FileName("a", "parquet"))),
        ("a.parquet.gz", None),  # Nobody writes these; Parquet compresses inside.
        ("a.csv.zst", FileName("a", "csv")),
        ("a.json", None),  # Its content tells, see `parse_json_name`.
        *((".a.csv", None), (".csv", None), ("csv", None), ("a.gz", None)),
    ],
)
def test_parse_file_name(name: str, expected: FileName | None):
    assert parse_file_name(name) == expected


@pytest.mark.parametrize(
    ("folder", "expected"),
    [("year=2020", True), ("a=b=c", True), ("year=", False), ("=x", False), ("plain", False)],
)
def test_is_partition(folder: str, expected: bool):
    assert is_partition(folder) is expected


def test_undecodable_bytes_are_readable():
    assert escape(os.fsdecode(b"caf\xe9")) == "caf%E9"
