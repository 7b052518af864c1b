"""What several runs did, added up by fields, and the report that people get."""

import pytest

from pneuma_assets.core.service.index_report import make_report
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.queue import Finished
from pneuma_assets.core.store.runs import StageRecord
from pneuma_assets.core.tables import Problem, TableRef


def run(**figures: dict[str, float]) -> dict[str, StageRecord]:
    return {stage: StageRecord(stage, 1.5, some) for stage, some in figures.items()}


def test_runs_add_up_whatever_each_has_ended(tmp_path):
    runs = [
        run(
            raw_tables={"tables": 5},
            schema_narrations={"columns": 9, "shown": 8, "narrated": 7},
            embedding_blocks={"blocks": 6},
            search_index={"tables": 12, "removed": 2, "renamed": 5, "forgotten": 1},
        ),
        run(
            raw_tables={}, schema_narrations={"columns": 1, "shown": 1}, search_index={"tables": 1}
        ),
        run(raw_tables={"tables": 5}),
    ]
    with Store(tmp_path / "state.db") as store:
        report = make_report(store, runs, ["lake"], 3.0)
    assert (report.indexed, report.removed, report.renamed, report.forgotten) == (13, 2, 5, 1)
    assert (report.blocks, report.columns) == (6, 10)
    assert (report.described_columns, report.narrated_columns) == (9, 7)
    order = ["raw_tables", "schema_narrations", "embedding_blocks", "search_index"]
    assert list(report.stage_seconds) == order
    assert report.stage_seconds["raw_tables"] == 4.5
    assert report.stage_seconds["search_index"] == 3.0


@pytest.mark.parametrize(
    ("sources", "unchanged", "failed"),
    [(["lake", "hill"], 2, 1), (["lake"], 1, 1), (["hill"], 0, 0)],
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
        runs = [run(search_index={"tables": 1, "removed": 4})]
        report = make_report(store, runs, sources, 3.0)
    assert (report.indexed, report.removed, report.unchanged) == (1, 4, unchanged)
    assert report.failed == failed
    assert [p.subject for p in report.problems] == ["lake/c"] * failed
    assert report.to_dict()["stage_seconds"] == {"search_index": 1.5}


def test_a_run_fails_whose_source_is_not_listed_or_of_which_nothing_is_searchable(tmp_path):
    gone = {"search_index": StageRecord("search_index", 1.0, {"forgotten": 1})}
    with Store(tmp_path / "state.db") as store:
        succeeds = lambda *runs: make_report(store, runs, ["lake"], 1.0).succeeded  # noqa: E731
        assert not succeeds()
        assert succeeds(gone)
        store.listings.sync("lake", [TableRef("lake/a", "lake", "a", "csv", "1")])
        assert succeeds()
        store.problems.record("lake", "listing", [Problem("lake", "listing", "it is gone")])
        assert not succeeds(gone)
        store.problems.record("lake", "listing", [])
        store.queue.claim("run", 1, 3, ["lake"])
        store.queue.fail(Problem("lake/a", "profile", "it is no table"))
        assert not succeeds()


def test_problems_of_files_of_lineage_are_told_whatever_was_chosen(tmp_path):
    with Store(tmp_path / "state.db") as store:
        for stage, subject in (("lineage", "dbt:/target"), ("listing", "hill")):
            store.problems.record(subject, stage, [Problem(subject, stage, "away")])
        report = make_report(store, [], ["lake"], 3.0)
    assert [problem.subject for problem in report.problems] == ["dbt:/target"]
