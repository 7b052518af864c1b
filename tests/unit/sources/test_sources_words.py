"""What people read of a file that cannot be read: what it is, once, and what to do."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pneuma_assets.core.errors import TableReadError
from tests.support.lake_tables import only_table

RECORDS = [{"a": 1, "b": 2}, {"a": 3, "b": 4}]


def words(lake) -> str:
    ref = only_table(lake)
    with pytest.raises(TableReadError) as caught:
        lake.profile(ref)
    return str(caught.value).removeprefix(f"{ref.location} cannot be read")


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.csv", b"", ": the file is empty, without even a header; write it again"),
        ("a.csv", b"\n \n", ": the file is empty but for blanks; write it again"),
        ("a.csv", "\n".encode("utf-16"), ": the file is empty but for blanks; write it again"),
        ("a.csv", b"\xef\xbb\xbf", ": the file is empty but for a byte order mark; write it again"),
        ("a.csv", b"\xff\xfe", ": the file is empty but for a byte order mark; write it again"),
        ("a.jsonl", b"{}\n{}\n", ": none of its objects has a key; write the file again"),
        (
            "a.jsonl",
            b'{"a":' * 5000 + b"1" + b"}" * 5000,
            " as jsonl: JSON exceeds maximum recursion depth of 128; its values nest too deeply, "
            "flatten them",
        ),
        (
            "a.parquet",
            b"a,b\n1,2\n",
            " as parquet: the file too small to be a Parquet file; write the file again or remove "
            "it",
        ),
    ],
)
def test_each_cause_has_its_words(lake, folder, name, content, expected):
    (folder / name).write_bytes(content)
    assert words(lake) == expected


@pytest.mark.parametrize(
    "text",
    [json.dumps(RECORDS[0], indent=2), json.dumps([1, 2], indent=2), "[1,\n2]"],
    ids=["object", "list of no objects", "broken lines"],
)
def test_one_document_is_called_so(lake, folder, text):
    (folder / "a.jsonl").write_text(text)
    assert "it is one JSON document written over several lines" in words(lake)


def test_lines_that_only_end_like_parts_are_read(lake, folder):
    (folder / "a.jsonl").write_text('{"a":{"b":1}}\n{"a":{"b":2}}\n')
    assert lake.profile(only_table(lake)).row_count == 2


def test_a_partition_is_named_and_no_file_twice(lake, folder):
    for part in ("x=1", "y=2"):
        (folder / "w" / part).mkdir(parents=True)
        pq.write_table(pa.table({"a": [1]}), folder / "w" / part / "p.parquet")
    assert 'mismatch between the file in x=1 and the file in y=2: key "x"' in words(lake)
