"""What people read of a table that cannot be read: what it is, what lacks, and what to do."""

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pneuma_assets.core.config.small_sections import PrivacyConfig
from pneuma_assets.core.errors import SourceError, TableReadError
from pneuma_assets.core.sources.files.folder import FolderStorage
from pneuma_assets.core.sources.files.source import FileSource
from pneuma_assets.core.sources.filters import no_match_error, unknown_schema_error
from pneuma_assets.core.sources.kinds.sql import SqlSourceConfig
from pneuma_assets.core.sources.privacy.rules import Rules
from pneuma_assets.core.sources.privacy.source import PrivateSource
from pneuma_assets.core.tables import TableRef
from tests.support.lake_tables import let_others_enter, only_table

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


@pytest.fixture
def file(tmp_path):
    with closing(sqlite3.connect(tmp_path / "shop.sqlite")) as connection:
        for name in ("menus", "orders", "staff"):
            connection.execute(f"CREATE TABLE {name} (n)")
    return tmp_path / "shop.sqlite"


def listed(file, **keys) -> list[str]:
    with closing(SqlSourceConfig(name="shop", url=f"sqlite:///{file}", **keys).open({})) as source:
        return [ref.table_id for ref in source.list_tables().tables]


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        (
            {"include": ["mein.*"]},
            r"its include matches none of its tables \(3, such as main\.menus\); did you mean "
            r"main\.\*\? correct it in the deployment file",
        ),
        ({"include": ["main.order"]}, r"such as main\.menus\); did you mean main\.orders\?"),
        ({"include": ["zzz"]}, r"such as main\.menus\); correct it"),
        ({"exclude": ["main.*"]}, "its exclude leaves none of its tables"),
        (
            {"include": ["main.o*"], "exclude": ["*.orders"]},
            "exclude leaves none of its tables \\(1,",
        ),
        ({"include": ["o*.x"], "exclude": ["*.staff"]}, "include matches none of its tables"),
    ],
)
def test_patterns_that_let_nothing_through_are_named(file, keys, said):
    with pytest.raises(SourceError, match=said):
        listed(file, **keys)


def test_some_tables_are_enough_and_none_may_be_there(file, tmp_path):
    assert listed(file, include=["main.o*", "nothing.*"], exclude=["no"]) == ["shop/main/orders"]
    empty = tmp_path / "empty.sqlite"
    empty.touch()
    assert listed(empty, include=["main.*"]) == []


def test_names_are_shown_in_one_line():
    for error in (
        no_match_error("a", "include", ["s.t"], ["s.a\nb"]),
        unknown_schema_error("a", "x\ny", ["xy"]),
    ):
        assert str(error).isprintable()


READERS = "pneuma_assets.core.sources.files."


@pytest.mark.parametrize(
    ("file_format", "library", "extra", "file"),
    [
        ("delta", "deltalake", "delta", "t/_delta_log/00000000000000000000.json"),
        ("iceberg", "pyiceberg", "iceberg", "t/metadata/v1.metadata.json"),
        ("avro", "fastavro", "avro", "t/p=1/a.avro"),
        ("excel", "python_calamine", "excel", "t"),
    ],
)
def test_its_name_and_the_command_that_installs_it_are_told(
    tmp_path, monkeypatch, file_format, library, extra, file
):
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text("{}")
    for name in [*sys.modules]:
        if name.startswith((f"{library}.", f"{READERS}iceberg")) or name == library:
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)
    place = f"{tmp_path}/t" + ("#Sheet" if file_format == "excel" else "/")
    ref = TableRef("s/t", "s", place, file_format, "1")
    source = FileSource("s", FolderStorage(tmp_path))
    told = rf"pip install 'pneuma-assets\[{extra}\]'"
    with closing(source), pytest.raises(TableReadError, match=told):
        source.profile(ref)


SCRIPT = """
import os, sys
from pathlib import Path
import python_calamine  # before this user's packages are out of reach, as all that follows
from pyarrow import orc
from pneuma_assets.core.config.small_sections import PrivacyConfig
from pneuma_assets.core.errors import TableReadError
from pneuma_assets.core.sources.files import arrow_files, excel, parquet, sqlite, text_reader
from pneuma_assets.core.sources.files.folder import FolderStorage
from pneuma_assets.core.sources.files.source import FileSource
from pneuma_assets.core.sources.privacy.rules import Rules
from pneuma_assets.core.sources.privacy.source import PrivateSource
os.setuid(65534)
lake = PrivateSource(FileSource('s', FolderStorage(Path(sys.argv[1]))), Rules(
    PrivacyConfig(hidden_columns=['*ssn*'])))
listing = lake.list_tables()
for problem in listing.problems:
    print(problem.cause)
for ref in listing.tables:
    try:
        print(lake.profile(ref))
    except TableReadError as error:
        print(error)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_file_of_any_format_says_that_permission_is_denied(tmp_path):
    names = ("a.csv", "b.parquet", "c.arrow", "d.xlsx", "e.sqlite", "f.json", "g.orc")
    for name in names:
        (tmp_path / name).write_bytes(b"x")
        (tmp_path / name).chmod(0)
    let_others_enter(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path)], capture_output=True, text=True, check=True
    )
    told = done.stdout.splitlines()
    assert len(told) == len(names)
    for line in told:
        assert "permission denied; allow this user to read it" in line


def test_a_damaged_file_is_told_by_its_kind_alone(tmp_path):
    pq.write_table(pa.table({"ssn": ["secret1"]}), tmp_path / "a.parquet")
    whole = (tmp_path / "a.parquet").read_bytes()
    (tmp_path / "a.parquet").write_bytes(whole[:20] + b"secret1" + whole[27:-9] + whole[-8:])
    rules = Rules(PrivacyConfig(hidden_columns=["*ssn*"]))
    lake = PrivateSource(FileSource("s", FolderStorage(tmp_path)), rules)
    (ref,) = lake.list_tables().tables
    with pytest.raises(Exception, match="the reader failed") as caught:
        lake.profile(ref)
    assert "secret1" not in str(caught.value)
