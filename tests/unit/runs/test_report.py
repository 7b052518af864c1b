"""What several runs did, added up by fields, and the report that people get."""

import pytest

from pneuma_assets.core.pipeline.describe import SchemaNarrationsFigures
from pneuma_assets.core.pipeline.embed import EmbeddingBlocksFigures
from pneuma_assets.core.pipeline.list import RawTablesFigures
from pneuma_assets.core.pipeline.write import SearchIndexFigures
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.queue import Finished
from pneuma_assets.core.store.runs import StageRecord
from pneuma_assets.core.tables import Problem, TableRef
from pneuma_assets.index_run import RunFigures, make_report


def run(seconds: float, tables: int) -> RunFigures:
    return RunFigures(
        read=RawTablesFigures(tables=5, waiting=5 - tables),
        narrated=SchemaNarrationsFigures(columns=9, shown=8, narrated=7),
        embedded=EmbeddingBlocksFigures(blocks=2 * tables),
        indexed=SearchIndexFigures(tables=tables, removed=1, blocks={"rows": tables}),
        seconds={"raw_tables": seconds, "search_index": 1.0},
    )


def test_runs_add_up():
    both = run(2.0, tables=3) + run(0.5, tables=2)
    assert both.indexed == SearchIndexFigures(tables=5, removed=2, blocks={"rows": 5})
    assert both.embedded.blocks == 10
    assert both.narrated.narrated == 14
    assert both.seconds == {"raw_tables": 2.5, "search_index": 2.0}


def test_what_the_store_kept_of_a_run_is_read_whole(tmp_path):
    figures = run(2.0, tables=3)
    stages = (figures.read, figures.narrated, figures.embedded, figures.indexed)
    with Store(tmp_path / "state.db") as store:
        store.runs.begin("run")
        for stage in stages:
            seconds = figures.seconds.get(stage.stage, 0.25)
            store.runs.record("run", StageRecord(stage.stage, seconds, stage.named()))
        found = RunFigures.from_records(store.runs.stages("run"))
    assert (found.read, found.narrated, found.embedded, found.indexed) == stages
    assert found.seconds["raw_tables"] == 2.0


def test_a_stage_that_left_no_record_counts_nothing():
    found = RunFigures.from_records({"raw_tables": StageRecord("raw_tables", 1.0, {"tables": 2})})
    assert found.read == RawTablesFigures(tables=2)
    assert found.indexed == SearchIndexFigures()


@pytest.mark.parametrize(
    ("sources", "unchanged", "failed"), [([], 2, 1), (["lake"], 1, 1), (["hill"], 0, 0)]
)
def test_the_report_is_of_the_chosen_sources(tmp_path, sources, unchanged, failed):
    ids = ["lake/a", "lake/b", "lake/c", "hill/a"]
    with Store(tmp_path / "state.db") as store:
        for source in ("lake", "hill"):
            own = [i for i in ids if i.startswith(source)]
            store.listings.sync(source, [TableRef(i, source, i, "csv", "1") for i in own])
        store.queue.claim("run", 10, 3, ["lake", "hill"])
        store.queue.fail(Problem("lake/c", "profile", "it is no table"))
        store.queue.finish("run", [Finished(i, "hash", 1) for i in ids if i != "lake/c"])
        figures = RunFigures.from_records(
            {"search_index": StageRecord("search_index", 1.0, {"tables": 1, "removed": 4})}
        )
        report = make_report(store, figures, sources, 3.0)
    assert (report.indexed, report.removed, report.unchanged) == (1, 4, unchanged)
    assert report.failed == failed
    assert [p.subject for p in report.problems] == ["lake/c"] * failed
    assert report.to_dict()["stage_seconds"] == {"search_index": 1.0}


def test_renamed_tables_are_those_that_the_index_lost_under_their_old_name(tmp_path):
    figures = {"tables": 12, "removed": 2, "renamed": 5, "forgotten": 1}  # which a sensor listed
    records = {"search_index": StageRecord("search_index", 1.0, figures)}
    with Store(tmp_path / "state.db") as store:
        report = make_report(store, RunFigures.from_records(records), ["lake"], 3.0)
    assert (report.indexed, report.removed, report.renamed, report.forgotten) == (12, 2, 5, 1)


def test_columns_are_described_whoever_says_it(tmp_path):
    with Store(tmp_path / "state.db") as store:
        report = make_report(store, run(2.0, tables=3) + run(0.5, tables=2), ["lake"], 3.0)
    told = report.columns, report.described_columns, report.narrated_columns
    assert told == (18, 16, 14)


def test_problems_of_files_of_lineage_are_told_whatever_was_chosen(tmp_path):
    with Store(tmp_path / "state.db") as store:
        for stage, subject in (("lineage", "dbt:/target"), ("listing", "hill")):
            store.problems.record(subject, stage, [Problem(subject, stage, "away")])
        report = make_report(store, RunFigures.from_records({}), ["lake"], 3.0)
    assert [problem.subject for problem in report.problems] == ["dbt:/target"]
