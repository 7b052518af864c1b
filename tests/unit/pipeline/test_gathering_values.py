"""What all rows of a table say, on its way from the source to the index."""

from contextlib import closing
from dataclasses import replace
from itertools import chain
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pneuma_assets.core.config.small_sections import IndexingConfig, SamplingConfig
from pneuma_assets.core.errors import TableTooSlowError
from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from pneuma_assets.core.pipeline import sample, write
from pneuma_assets.core.pipeline.embed import embed_tables
from pneuma_assets.core.pipeline.plan import Indexed, RunRequest, claim_tables
from pneuma_assets.core.pipeline.profile import profile_tables
from pneuma_assets.core.pipeline.sample import SampledRowsFigures, Verdict, sample_tables
from pneuma_assets.core.pipeline.write import index_tables
from pneuma_assets.core.sources.files.folder import FolderStorage
from pneuma_assets.core.sources.files.source import FileSource
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.profiles import SampleSnapshot
from pneuma_assets.core.store.queue import Stage
from pneuma_assets.core.tables import TableTerms
from pneuma_assets.core.terms.collect import ROWS_KEPT, CollectedTerms, table_terms
from tests.support.word_encoder import WordEncoder


class RememberingIndex(EmbeddedIndex):
    """The real one, and what it was given."""

    given: dict[str, TableTerms]

    def replace_tables(self, tables):
        super().replace_tables(tables)
        vars(self).setdefault("given", {})
        self.given.update({table_id: one.evidence for table_id, one in tables.items()})


class Lake:
    """A folder, and runs over it by the real stages, without a language model."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "lake"
        self.folder.mkdir()
        self.store = Store(folder / "state.db")
        self.encoder = WordEncoder()
        self.index = RememberingIndex(folder / "index", "words", self.encoder.dimension)

    def close(self) -> None:
        self.index.close()
        self.store.close()

    def read(self, run: str, **options) -> SampledRowsFigures:
        """Run the stages up to sampling."""
        source = FileSource("lake", FolderStorage(self.folder))
        wanted = SamplingConfig(**options)
        with closing(source):
            claim_tables(
                self.store,
                run,
                RunRequest([source]),
                IndexingConfig(),
                recipe=wanted.model_dump_json(),
                indexed=Indexed({}, 0.0),
            )
            profile_tables(self.store, run, [source])
            return sample_tables(self.store, run, [source], wanted, IndexingConfig())

    def finish(self, run: str) -> dict[str, TableTerms]:
        """Run the others, and return what the index was given."""
        taken = self.store.queue.take(run, Stage.SAMPLED)
        self.store.queue.advance(run, Stage.NARRATED, [item.ref.table_id for item in taken])
        embed_tables(self.store, run, self.encoder, self.index)
        self.index.given = {}
        index_tables(self.store, run, self.encoder.name, self.index, lambda table: None)
        return self.index.given


@pytest.fixture
def lake(tmp_path):
    with closing(Lake(tmp_path)) as lake:
        yield lake


def staff(count: int) -> str:
    return "empName,city\n" + "".join(f"name {i},town {i % 7}\n" for i in range(count))


def test_the_index_gets_every_row_under_the_tables_names(lake):
    (lake.folder / "hr").mkdir()
    (lake.folder / "hr" / "payroll_march.csv").write_text(staff(30))
    figures = lake.read("first")
    assert (figures.tables, figures.rows, figures.values, figures.without_values) == (1, 5, 60, 0)
    (evidence,) = lake.finish("first").values()
    assert evidence == TableTerms(
        names=("lake", "hr", "payroll_march"),
        columns=("empName", "city"),
        spelled_columns="employee",
        rows=tuple((f"name {i}", f"town {i % 7}") for i in range(30)),
    )
    assert lake.store.profiles.terms(["lake/hr/payroll_march"]) == {}


def test_of_more_rows_it_gets_cells(lake):
    (lake.folder / "staff.csv").write_text(staff(400))
    figures = lake.read("first")
    (evidence,) = lake.finish("first").values()
    assert len(evidence.rows) == ROWS_KEPT
    said = {row[0] for row in evidence.rows} | {*evidence.cells}
    assert {f"name {i}" for i in range(400)} <= said
    assert figures.values == 2 * ROWS_KEPT + len(evidence.cells)


def test_columns_are_profiled_and_row_counts_kept_of_each_reading(lake):
    path = lake.folder / "staff.csv"
    path.write_text(staff(9))
    lake.read("first")
    found = lake.store.statistics.column_profiles("lake/staff")
    assert list(found) == ["empName", "city"]
    assert (found["empName"].distinct, found["empName"].greatest) == (9, None)
    assert found["city"].frequent == (("town 0", 2 / 9), ("town 1", 2 / 9))
    path.write_text("name,city\nname 3,Kiel\n")
    lake.read("second")
    found = lake.store.statistics.column_profiles("lake/staff")
    assert {name: (one.nulls, one.distinct) for name, one in found.items()} == {
        "name": (0, 1),
        "city": (0, 1),
    }
    assert [rows for _, rows in lake.store.statistics.row_counts("lake/staff")] == [9, 1]
    lake.read("third", values=False)
    assert lake.store.statistics.column_profiles("lake/staff") == {}, "nobody read all rows"


def test_a_column_that_is_marked_as_hidden_keeps_no_profile_whatever_the_source_gathers(lake):
    (lake.folder / "staff.csv").write_text(staff(9))
    lake.read("first")
    (item,) = lake.store.queue.claimed("first")
    columns = (item.table.columns[0], replace(item.table.columns[1], hidden=True))
    profiles = tuple(lake.store.statistics.column_profiles("lake/staff").values())
    gathered = CollectedTerms(TableTerms(), None, profiles)
    verdict = Verdict(False, None, SampleSnapshot(()), SampleSnapshot(()))
    table = replace(item.table, columns=columns)
    one = sample._Read(item, table, gathered, None, 0.0, verdict, None, None)
    sample._save(lake.store, "first", {"lake/staff": one}, 0.2)
    assert list(lake.store.statistics.column_profiles("lake/staff")) == ["empName"]


def test_values_can_be_left_out_and_taken_in_again(lake):
    (lake.folder / "staff.csv").write_text(staff(9))
    names = TableTerms(("lake", "staff"), ("empName", "city"), spelled_columns="employee")
    assert lake.read("first", values=False).values == 0
    assert lake.finish("first") == {"lake/staff": names}
    assert lake.read("second").values == 18
    assert len(lake.finish("second")["lake/staff"].rows) == 9
    assert lake.read("third", values=False).values == 0
    assert lake.finish("third") == {"lake/staff": names}


@pytest.mark.parametrize(("values", "found"), [(True, ("ill", "fired")), (False, ())])
def test_labels_of_enums_are_values_too(lake, values, found):
    (lake.folder / "staff.csv").write_text("state\nill\n")
    lake.read("first", values=values)
    (item,) = lake.store.queue.claimed("first")
    listed = replace(item.table.columns[0], type="ENUM('fired', 'ill')")
    item = replace(item, table=replace(item.table, columns=(listed,)))
    with closing(FileSource("lake", FolderStorage(lake.folder))) as source:
        gathered, _ = sample.gather_values(source, item, SamplingConfig(values=values))
    terms = table_terms(item.table, gathered.terms)
    assert tuple(dict.fromkeys((*chain(*terms.rows), *terms.cells))) == found


def test_rows_that_cannot_all_be_read_are_a_problem_and_the_table_is_found(lake):
    path = lake.folder / "readings.parquet"
    rows = [f"station {i}" for i in range(10_000)]
    pq.write_table(pa.table({"place": rows}), path, row_group_size=100, compression="none")
    data = path.read_bytes()
    drawn = lake.read("first")
    assert drawn.without_values == 0
    assert lake.store.statistics.column_profiles("lake/readings")["place"].distinct == 10_000
    marks = lake.store.queue.claimed("first")[0].sampled
    free = next(g for g in range(1, 99) if not any(m.position // 100 == g for m in marks))
    start = pq.ParquetFile(path).metadata.row_group(free).column(0).dictionary_page_offset
    path.write_bytes(data[:start] + b"\xff" * 40 + data[start + 40 :])
    figures = lake.read("second")
    assert (figures.kept + figures.tables, figures.without_values) == (1, 1)
    assert lake.store.statistics.column_profiles("lake/readings") == {}
    (problem,) = lake.store.problems.all()
    assert (problem.subject, problem.stage) == ("lake/readings", "values")
    assert "only 5 sampled rows" in problem.cause
    evidence = lake.finish("second")["lake/readings"]
    assert (evidence.names, len(evidence.rows), evidence.cells) == (("lake", "readings"), 5, ())
    assert {row[0] for row in evidence.rows} <= {*rows}
    assert [p.stage for p in lake.store.problems.all()] == ["values"]  # searchable, and still true
    path.write_bytes(data)
    assert lake.read("third").without_values == 0
    lake.finish("third")
    assert lake.store.problems.all() == []


def test_rows_that_take_too_long_leave_a_table_its_sample(lake, monkeypatch):
    """But no view, a sample of which takes as long: `tests/integration/test_slow_views.py`."""
    (lake.folder / "staff.csv").write_text(staff(9))

    def slow(*_):
        raise TableTooSlowError("it took longer than it may")

    monkeypatch.setattr(FileSource, "evidence", slow)
    assert lake.read("first").without_values == 1
    assert len(lake.finish("first")["lake/staff"].rows) == 5


def test_a_table_that_changed_while_it_was_read_is_its_own_problem(lake, monkeypatch):
    (lake.folder / "staff.csv").write_text(staff(9))
    (lake.folder / "ports.csv").write_text("port,berths\nKiel,40\n")

    real = FileSource.evidence

    def changed(source, ref, seed):
        """What the source finds when a column was added after the profile."""
        found = real(source, ref, seed)
        if ref.table_id != "lake/staff":
            return found
        wider = tuple((*row, "3") for row in found.terms.rows)
        return replace(found, terms=replace(found.terms, rows=wider))

    with monkeypatch.context() as then:
        then.setattr(FileSource, "evidence", changed)
        lake.read("first")
    assert list(lake.finish("first")) == ["lake/ports"]
    (problem,) = lake.store.problems.all()
    assert problem.subject == "lake/staff"
    assert "changed while it was read" in problem.cause
    lake.read("second")
    assert len(lake.finish("second")["lake/staff"].rows) == 9
    assert lake.store.problems.all() == []


@pytest.mark.parametrize("names_too", [False, True])
def test_evidence_that_an_engine_refuses_stops_no_other_table(lake, monkeypatch, names_too):
    """A gathered row of another width, and a column's name that is none."""
    (lake.folder / "staff.csv").write_text(staff(9))
    (lake.folder / "ports.csv").write_text("port,berths\nKiel,40\n")
    lake.read("first")
    real = write.table_terms

    def broken(table, gathered, described):
        found = real(table, gathered, described)
        if table.table_id != "lake/staff":
            return found
        return replace(found, rows=(("one",),), names=[*found.names] if names_too else found.names)

    monkeypatch.setattr(write, "table_terms", broken)
    given = lake.finish("first")
    names = TableTerms(("lake", "staff"), ("empName", "city"), spelled_columns="employee")
    assert given["lake/staff"] == (TableTerms() if names_too else names)
    assert given["lake/ports"].rows == (("Kiel", "40"),)
    (problem,) = lake.store.problems.all()
    assert (problem.subject, problem.stage) == ("lake/staff", "values")
    assert "evidence of table 'lake/staff' has" in problem.cause


def test_what_a_killed_run_gathered_is_not_gathered_again(lake):
    (lake.folder / "staff.csv").write_text(staff(9))
    lake.read("killed")
    gathered = lake.store.profiles.terms(["lake/staff"])
    assert lake.read("next").values == 0
    assert lake.store.profiles.terms(["lake/staff"]) == gathered
    assert len(lake.finish("next")["lake/staff"].rows) == 9


def test_what_is_gathered_is_kept_every_few_seconds(lake, monkeypatch):
    monkeypatch.setattr(sample, "SAVED_EVERY_S", 0.0)
    for number in range(3):
        (lake.folder / f"t{number}.csv").write_text(staff(9))
    kept: list[int] = []
    replace = lake.store.profiles.save_terms
    monkeypatch.setattr(
        lake.store.profiles, "save_terms", lambda some: (kept.append(len(some)), replace(some))
    )
    lake.read("first")
    assert kept == [1, 1, 1]


def test_a_run_that_lost_its_tables_writes_nothing(lake):
    (lake.folder / "staff.csv").write_text(staff(9))
    lake.read("first")
    before = lake.store.profiles.terms(["lake/staff"])
    with lake.store.queue.holding("stranger", ["lake/staff"]) as held:
        assert held == set()
    (item,) = lake.store.queue.claimed("first")
    stale = CollectedTerms(TableTerms(cells=("stale",)), None)
    verdict = Verdict(False, None, SampleSnapshot(()), SampleSnapshot(()))
    one = sample._Read(item, item.table, stale, None, 0.0, verdict, None, None)
    sample._save(lake.store, "stranger", {"lake/staff": one}, 0.2)
    assert lake.store.profiles.terms(["lake/staff"]) == before
