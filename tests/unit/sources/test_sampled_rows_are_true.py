"""A sampled row that is kept exists in its table as it was last read, whatever happened to it."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pneuma_assets.core.config.small_sections import IndexingConfig, SamplingConfig
from pneuma_assets.core.describe.texts import row_text
from pneuma_assets.core.pipeline.plan import Indexed, RunRequest, claim_tables
from pneuma_assets.core.pipeline.profile import profile_tables
from pneuma_assets.core.pipeline.sample import sample_tables
from pneuma_assets.core.sources.base import Source
from pneuma_assets.core.sources.duckdb.database import DuckDBFileSource
from pneuma_assets.core.sources.files import text_table
from pneuma_assets.core.sources.files.folder import FolderStorage
from pneuma_assets.core.sources.files.source import FileSource
from pneuma_assets.core.sources.sampling import sample_positions
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.queue import Finished
from pneuma_assets.core.tables import DocumentKind

Person = tuple[str, int]
Write = Callable[[Path, Sequence[Person]], None]

ROWS, SEED = 5, 0


def write_csv(folder: Path, people: Sequence[Person]) -> None:
    lines = "".join(f"{name},{age}\n" for name, age in people)
    (folder / "t.csv").write_text(f"name,age\n{lines}")


def write_jsonl(folder: Path, people: Sequence[Person]) -> None:
    lines = (json.dumps({"name": name, "age": age}) + "\n" for name, age in people)
    (folder / "t.jsonl").write_text("".join(lines))


def write_parquet(folder: Path, people: Sequence[Person]) -> None:
    columns = {"name": [p[0] for p in people], "age": [p[1] for p in people]}
    schema = pa.schema([("name", pa.string()), ("age", pa.int64())])
    pq.write_table(pa.table(columns, schema), folder / "t.parquet", row_group_size=7)


def write_duckdb(folder: Path, people: Sequence[Person]) -> None:
    with duckdb.connect(folder / "db.duckdb") as connection:
        connection.execute("CREATE OR REPLACE TABLE t (name VARCHAR, age BIGINT)")
        if people:
            connection.executemany("INSERT INTO t VALUES (?, ?)", people)


WRITERS: dict[str, Write] = {
    "csv": write_csv,
    "jsonl": write_jsonl,
    "parquet": write_parquet,
    "duckdb table": write_duckdb,
}


class Lake:
    """One table, its source, and the stages that read it."""

    def __init__(self, folder: Path, kind: str, *, row_change: float = 0.2) -> None:
        self._data = folder / "data"
        self._data.mkdir(parents=True)
        self._write = WRITERS[kind]
        self._state = folder / "state.db"
        self._row_change = row_change
        self._database = kind == "duckdb table"
        self._id = "s/main/t" if self._database else "s/t"
        self._runs = 0

    def index(self, people: Sequence[Person]) -> list[str]:
        """Write the table, run the stages up to sampling, and return the sampled rows."""
        self._write(self._data, people)
        self._runs += 1
        run, source = f"run{self._runs}", self._source()
        config = IndexingConfig().model_copy(update={"row_change": self._row_change})
        with Store(self._state) as store, store.runs.alive(run):
            claim_tables(
                store, run, RunRequest([source]), config, recipe="", indexed=Indexed({}, 0.0)
            )
            profile_tables(store, run, [source])
            sampling = SamplingConfig(rows=ROWS)
            sample_tables(store, run, [source], sampling, config)
            assert store.problems.all() == []
            items = store.queue.claimed(run)
            store.queue.finish(
                run,
                [
                    Finished(item.ref.table_id, item.table.schema_hash, 0)
                    for item in items
                    if item.table is not None
                ],
            )
            source.close()
            documents = store.documents.of_tables([self._id])[self._id]
        return [d.text for d in documents if d.kind == DocumentKind.ROWS]

    def _source(self) -> Source:
        if self._database:
            return DuckDBFileSource("s", self._data / "db.duckdb")
        return FileSource("s", FolderStorage(self._data))


def texts(people: Sequence[Person]) -> list[str]:
    """Return how rows read, in the order of the table."""
    return [row_text(["name", "age"], person) for person in people]


def fresh(rows: Sequence[str]) -> list[str]:
    return [rows[position] for position in sample_positions(len(rows), ROWS, SEED)]


def people(count: int, first: int = 0) -> list[Person]:
    return [(f"p{i}", i) for i in range(first, first + count)]


def test_slow_growth_draws_all_anew_in_the_end(tmp_path: Path):
    lake = Lake(tmp_path, "csv")
    first = lake.index(people(100))
    assert lake.index(people(115)) == first
    assert lake.index(people(125)) == fresh(texts(people(125)))


def test_a_threshold_of_nothing_draws_anew_at_every_change(tmp_path: Path):
    lake = Lake(tmp_path, "csv", row_change=0)
    lake.index(people(100))
    shuffled = people(100)[::-1]
    assert lake.index(shuffled) == fresh(texts(shuffled))


def test_what_people_wrote_stays_with_its_table(tmp_path: Path):
    """A file of the same stem and an earlier format comes later."""
    lake = Lake(tmp_path, "csv")
    lake.index(people(10))
    with Store(tmp_path / "state.db") as store:
        store.add_context("s/t", "wiki", "Who works here.")
    write_parquet(tmp_path / "data", [("other", 1)])
    assert lake.index(people(10)) == fresh(texts(people(10)))
    with Store(tmp_path / "state.db") as store:
        places = {record.table_id: record.format for record in store.tables.records()}
    assert places == {"s/t": "csv", "s/t.parquet": "parquet"}


@st.composite
def scripts(draw: st.DrawFn) -> list[list[Person]]:
    """Draw versions of a table: rows leave, come, change, are doubled, and change their order."""
    person = st.tuples(st.sampled_from(["ann", "bob", "cy", "é|: x"]), st.integers(0, 6))
    table = draw(st.lists(person, min_size=1, max_size=30))
    versions = [table]
    for _ in range(draw(st.integers(1, 4))):
        table = [p for p in table if not draw(st.integers(0, 9)) < 1]
        table += draw(st.lists(person, max_size=4))
        table = draw(st.permutations(table)) if draw(st.booleans()) else table
        versions.append(table or [("ann", 0)])
    return versions


@settings(max_examples=4, deadline=None)
@given(scripts(), st.sampled_from(["csv", "jsonl", "parquet", "duckdb table"]), st.booleans())
def test_whatever_is_edited_the_sample_is_true(
    tmp_path_factory: pytest.TempPathFactory,
    versions: list[list[Person]],
    kind: str,
    small: bool,
):
    lake = Lake(tmp_path_factory.mktemp("lake"), kind, row_change=100)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_table, "SMALL_BYTES", 256 << 10 if small else 0)
        before = Counter(lake.index(versions[0]))
        for version in versions[1:]:
            rows = Counter(texts(version))
            after = Counter(lake.index(version))
            assert not after - rows, "each sampled row exists, and as often"
            true = before & rows
            assert not true - after, "what is true stays"
            if true != before:
                assert after.total() == min(ROWS, len(version))
            else:
                assert after == before, "nothing is gone, so nothing is drawn"
            before = after
