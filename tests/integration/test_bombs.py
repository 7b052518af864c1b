"""Tables that would hold up a run or fill the machine become problems that name the remedy."""

import gzip
import os
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pneuma_assets.core.config.small_sections import LimitsConfig
from pneuma_assets.core.config.sources import SourceConfig
from pneuma_assets.core.errors import TableReadError
from pneuma_assets.core.sources.isolation.source import IsolatedSource
from pneuma_assets.core.sources.kinds.duckdb import DuckDBSourceConfig
from pneuma_assets.core.sources.kinds.folder import FolderSourceConfig
from pneuma_assets.core.tables import TableRef
from tests.support.hostile_lake import PEOPLE

pytestmark = pytest.mark.integration

TIME = r"more than \d+ s and was stopped.*limits\.seconds_per_table"
WIDTH = r"has 20,000 columns, more than 10,000; turn columns into rows"
ROOM = r"too much room.*limits\.temporary_gigabytes"
MEMORY = "memory"
LINE = "longer than 16 MiB"


def wide(separator: str) -> bytes:
    row = separator.join(f"column {i}" for i in range(20_000))
    return f"{row}\n{row}\n".encode()


FILES = {
    # DuckDB cannot be interrupted while it sniffs this one.
    "commas.csv": (b"a,b\n" + b"," * 50_000_000 + b"\n", TIME),
    "quoted.csv": (b'a,b\n1,"' + b"x" * 100_000_000 + b'"\n', TIME),
    "one_line.csv": (b'"' + b"x" * 100_000_000 + b'"\n', LINE),
    "one_line.jsonl": (b'{"a":"' + b"x" * 100_000_000 + b'"}\n', LINE),
    "wide.csv": (wide(","), WIDTH),
    "wide.tsv": (wide("\t"), WIDTH),
    "wide.csv.gz": (gzip.compress(wide(";")), WIDTH),
    "wide.jsonl": (b"{" + b",".join(b'"k%d":1' % i for i in range(20_000)) + b"}\n", WIDTH),
    "text.csv.gz": (gzip.compress(("a,b\n1,2\n" * 10_000_000).encode("utf-16"), 1), ROOM),
    "zeros.csv.gz": (gzip.compress(bytes(100_000_000), 1), "binary"),
    "deep.jsonl": (b'{"a":' * 10_000 + b"1" + b"}" * 10_000, "recursion"),
}
VIEWS = {
    "endless": ("WITH RECURSIVE t AS (SELECT 1 x UNION ALL SELECT x + 1 FROM t) FROM t", TIME),
    # One cell of this cannot be interrupted either.
    "slow_cell": ("SELECT levenshtein(repeat('a', 9000000 + i), repeat('b', 9000000)) x "
                  "FROM range(2) t(i)", TIME),
    "huge_cell": ("SELECT repeat('x', 3000000000 + i) AS x FROM range(9) t(i)", MEMORY),
    "huge_list": ("SELECT list(range) AS x FROM range(10000000000)", MEMORY),
    "wide": ("SELECT " + ", ".join(f"1 AS c{i}" for i in range(20_000)), WIDTH),
}  # fmt: skip


def guarded(path: Path, **limits: float) -> IsolatedSource:
    config: SourceConfig = FolderSourceConfig(name="s", path=path)
    if path.is_file():
        config = DuckDBSourceConfig(name="s", path=path)
    bounds = LimitsConfig.model_validate({"seconds_per_table": 5, **limits})
    short = bounds.model_copy(update={"seconds_per_gigabyte": 0})
    return IsolatedSource(config, os.environ, short)


def read(source: IsolatedSource, ref: TableRef) -> None:
    source.profile(ref)
    source.sample(ref, 5, 0)


SLOW = {
    *("quoted.csv", "one_line.jsonl", "wide.tsv", "wide.csv.gz", "text.csv.gz"),
    *("endless", "slow_cell", "huge_list"),
}
"""What others stand for."""


def each(names):
    return [pytest.param(one, marks=[pytest.mark.slow] * (one in SLOW)) for one in names]


@pytest.mark.parametrize("name", each(FILES))
def test_a_file(tmp_path, name):
    content, cause = FILES[name]
    (tmp_path / name).write_bytes(content)
    (tmp_path / "zz.csv").write_bytes(PEOPLE)
    seconds = 5 if cause == TIME else 600
    source = guarded(tmp_path, seconds_per_table=seconds, temporary_gigabytes=0.01)
    bomb, people = source.list_tables().tables
    with pytest.raises(TableReadError, match=cause) as caught:
        source.profile(bomb)
    assert "\n" not in str(caught.value)
    source.close()
    after = guarded(tmp_path, seconds_per_table=600)
    assert after.profile(people).row_count == 2
    after.close()


@pytest.mark.parametrize("name", each(VIEWS))
def test_a_view(tmp_path, name):
    query, cause = VIEWS[name]
    with duckdb.connect(tmp_path / "b.duckdb") as connection:
        connection.execute(f"CREATE VIEW bomb AS {query}")
        connection.execute("CREATE TABLE people AS SELECT 'ann' AS name")
    source = guarded(tmp_path / "b.duckdb", seconds_per_table=5 if cause == TIME else 600)
    bomb, people = source.list_tables().tables
    with pytest.raises(TableReadError, match=cause) as caught:
        read(source, bomb)
    assert "\n" not in str(caught.value)
    assert "b.duckdb#main.bomb cannot be read: " in str(caught.value)
    assert "that it is a DuckDB database" not in str(caught.value)
    source.close()
    after = guarded(tmp_path / "b.duckdb", seconds_per_table=600)
    assert after.profile(people).row_count == 1
    after.close()


@pytest.mark.slow
def test_a_document_of_half_a_gigabyte_is_cut(tmp_path):
    (tmp_path / "a.csv").write_bytes(PEOPLE)
    with (tmp_path / "a.html").open("wb") as file:
        file.write(b"<p>Who works here.</p>" + b"<!--" * 100_000)
        file.truncate(500_000_000)
    entities = b"".join(b'<!ENTITY e%d "&e%d;&e%d;">' % (i + 1, i, i) for i in range(99))
    (tmp_path / "README.html").write_bytes(b"<!DOCTYPE x [" + entities + b"]><p>&e99; here</p>")
    source = guarded(tmp_path, seconds_per_table=600)
    (ref,) = source.list_tables().tables
    contexts = source.contexts(ref)
    source.close()
    assert sum(map(len, contexts.texts)) < 500_000
    assert source.profile(ref).row_count == 2
    source.close()


@pytest.mark.slow
def test_values_that_take_too_long_to_gather_leave_the_table_its_names_and_sample(tmp_path):
    """The columns are counted from the footer and sampled from two row groups, in no time."""
    cell = pa.DictionaryArray.from_arrays(pa.array([0] * 500_000, pa.int32()), ["x" * 1_000])
    with pq.ParquetWriter(tmp_path / "a.parquet", pa.schema([("a", cell.type)])) as writer:
        for _ in range(400):
            writer.write_table(pa.table([cell], ["a"]))
    source = guarded(tmp_path, seconds_per_table=10)
    (ref,) = source.list_tables().tables
    with pytest.raises(TableReadError, match=TIME):
        source.evidence(ref, 0)
    assert source.profile(ref).row_count == 200_000_000
    assert len(source.sample(ref, 2, 0)) == 2
    source.close()
