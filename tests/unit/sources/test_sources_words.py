"""What people read of a file that cannot be read: what it is, once, and what to do."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pneuma_assets.core.errors import TableReadError
from pneuma_assets.core.sources.files.folder import FolderStorage
from pneuma_assets.core.sources.files.source import FileSource

RECORDS = [{"a": 1, "b": 2}, {"a": 3, "b": 4}]


def words(folder: Path) -> str:
    """Return why the only table of a folder cannot be read."""
    source = FileSource("s", FolderStorage(folder))
    (ref,) = source.list_tables().tables
    with pytest.raises(TableReadError) as caught:
        source.profile(ref)
    return str(caught.value).removeprefix(f"{ref.location} cannot be read")


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.csv", b"", ": the file is empty, without even a header; write it again"),
        ("a.csv", b"\n \n", ": the file is empty but for blanks; write it again"),
        (
            "a.csv",
            "\n".encode("utf-16"),
            ": the file is empty but for blanks; write it again",
        ),
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
def test_each_cause_has_its_words(tmp_path: Path, name: str, content: bytes, expected: str):
    (tmp_path / name).write_bytes(content)
    assert words(tmp_path) == expected


@pytest.mark.parametrize(
    "text",
    [json.dumps(RECORDS[0], indent=2), json.dumps([1, 2], indent=2), "[1,\n2]"],
    ids=["object", "list of no objects", "broken lines"],
)
def test_one_document_is_called_so(tmp_path: Path, text: str):
    (tmp_path / "a.jsonl").write_text(text)
    assert "it is one JSON document written over several lines" in words(tmp_path)


def test_lines_that_only_end_like_parts_are_read(tmp_path: Path):
    (tmp_path / "a.jsonl").write_text('{"a":{"b":1}}\n{"a":{"b":2}}\n')
    source = FileSource("s", FolderStorage(tmp_path))
    assert source.profile(source.list_tables().tables[0]).row_count == 2


def test_a_partition_is_named_and_no_file_twice(tmp_path: Path):
    for folder in ("x=1", "y=2"):
        (tmp_path / "w" / folder).mkdir(parents=True)
        pq.write_table(pa.table({"a": [1]}), tmp_path / "w" / folder / "p.parquet")
    assert 'mismatch between the file in x=1 and the file in y=2: key "x"' in words(tmp_path)
