"""The Dagster job over real files, the real encoder and the real index; the narrator counts."""

import dagster as dg
import pytest

from pneuma_assets.assets.table_events import asset_key
from pneuma_assets.core.service.workspace import Workspace
from tests.support.fake_model import FakeLanguageModel
from tests.support.pipeline_support import deployment, run_job, small_lake

pytestmark = pytest.mark.integration

FIRST = ["Ada", "Bela", "Cleo", "Dora", "Emil", "Fritz", "Gesa", "Hugo", "Ines", "Jan"]
LAST = ["Abt", "Brot", "Cal", "Dorn", "Eck", "Falk", "Gans", "Horn", "Igel", "Jung"]


@pytest.fixture
def lake(tmp_path):
    return small_lake(tmp_path)


@pytest.fixture
def loaded(tmp_path, lake):
    return deployment(tmp_path, lake)


def asked(loaded, instance, **options) -> int:
    model = FakeLanguageModel()
    run_job(loaded, instance, model, **options)
    return len(model.prompts)


def test_a_lake_is_indexed_answers_and_has_pages_and_nothing_is_asked_twice(
    loaded, instance, tmp_path, lake
):
    model = FakeLanguageModel()
    result = run_job(loaded, instance, model, isolated=True)
    assert len(model.prompts) == 6
    checks = {event.check_name: event.passed for event in result.get_asset_check_evaluations()}
    assert checks == {
        "every_table_indexed": True,
        "every_table_readable": True,
        "block_counts_agree": True,
        "no_removals_held": True,
        "listed_lake": True,
    }
    with Workspace(loaded, {}) as workspace:
        best = workspace.query_engine().ask("collected on island 4", k=3)[0]
        assert best.table_id == "lake/t4"
        assert "island 4" in best.text
        summary = workspace.query_engine().ask("one row is one of them", k=1)[0]
        assert summary.kind == "summary"
        assert workspace.status().counts() == {"indexed": 6}
    metadata, columns = shown(instance)
    assert [column.name for column in columns] == ["id", "label_0", "amount_0"]
    assert not any(column.description for column in columns), "a model may quote what it was shown"
    assert metadata["dagster/row_count"].value == 20
    assert asked(loaded, instance) == 0
    assert asked(deployment(tmp_path, lake, dagster={"show_rows": True}), instance) == 0
    assert all(column.description for column in shown(instance)[1])


def shown(instance):
    """What the page of a table shows, and its columns."""
    event = instance.get_latest_materialization_event(asset_key("pneuma", "lake/deep/t0"))
    metadata = event.asset_materialization.metadata
    return metadata, metadata["dagster/column_schema"].value.columns


@pytest.mark.slow
def test_a_prompt_that_does_not_fit_in_memory_is_its_table_s_problem(loaded, instance, lake):
    names = ",".join(f"measured quantity number {n}" for n in range(30))
    (lake / "wide.csv").write_text(f"{names}\n{','.join('1' * 30)}\n")
    (lake / "same.csv").write_text(f"{names}\n{','.join('2' * 30)}\n")
    cramped = FakeLanguageModel(longest=250)
    run_job(loaded, instance, cramped)
    with Workspace(loaded, {}) as workspace:
        assert workspace.status().counts() == {"indexed": 8}
        assert workspace.query_engine().ask("measured quantity", k=1)[0].text
        assert len(workspace.store.narrations.of_tables(["lake/t1"])["lake/t1"]) == 3
        assert not workspace.store.narrations.of_tables(["lake/wide"])["lake/wide"]
        problems = {p.subject: (p.stage, p.cause) for p in workspace.store.problems.all()}
    assert problems.keys() == {"lake/wide", "lake/same"}
    stage, cause = problems["lake/wide"]
    assert stage == "narrations"
    assert "does not describe the table and 30 of 30 columns" in cause
    assert "does not fit in memory" in cause
    assert "names and values stand in" in cause

    run_job(loaded, instance, cramped)
    assert cramped.calls == 1, "while nothing changes nobody is asked again"
    roomy = FakeLanguageModel()
    run_job(loaded, instance, roomy, rebuild=True)
    assert len(roomy.prompts) == 2, "of both: each prompt shows its own table"
    with Workspace(loaded, {}) as workspace:
        assert workspace.store.problems.all() == []
        assert len(workspace.store.narrations.of_tables(["lake/wide"])["lake/wide"]) == 30


def test_deleted_tables_leave_and_those_of_an_unreachable_source_stay(loaded, instance, lake):
    run_job(loaded, instance)
    (lake / "t1.csv").unlink()
    run_job(loaded, instance)
    assert instance.get_latest_materialization_event(asset_key("pneuma", "lake/t1")) is None
    with Workspace(loaded, {}) as workspace:
        assert "lake/t1" not in workspace.search_index.list_tables()
        assert len(workspace.status().tables) == 5
    lake.rename(lake.with_name("moved"))
    with pytest.raises(dg.Failure, match="cannot be listed"):
        run_job(loaded, instance)
    with Workspace(loaded, {}) as workspace:
        assert len(workspace.search_index.list_tables()) == 5


def test_what_an_index_lost_is_written_again_and_a_context_is_found_without_the_model(
    loaded, instance
):
    run_job(loaded, instance)
    with Workspace(loaded, {}) as workspace:
        before = workspace.search_index.list_tables()
        workspace.search_index.delete_tables(["lake/t1", "lake/t2"])
        workspace.store.add_context("lake/deep/t3", "wiki", "Zanzibar harbour fees, audited.")
    assert asked(loaded, instance) == 0
    with Workspace(loaded, {}) as workspace:
        assert workspace.search_index.list_tables().keys() == before.keys()
        best = workspace.query_engine().ask("harbour fees in Zanzibar", k=1)[0]
        assert best.table_id == "lake/deep/t3"


@pytest.mark.slow
@pytest.mark.parametrize("replaced", [False, True], ids=["two leave", "all are replaced"])
def test_people_who_left_a_table_are_not_found(loaded, instance, lake, replaced):
    names = [f"{first} {last}" for first in FIRST for last in LAST]

    def index(people: list[str]) -> None:
        rows = "\n".join(f"{name},desk {name[-1]}" for name in people)
        (lake / "people.csv").write_text(f"person,desk\n{rows}\n")
        run_job(loaded, instance)

    def kept(workspace: Workspace) -> list[str]:
        documents = workspace.store.documents.of_tables(["lake/people"])["lake/people"]
        blocks = workspace.search_index.blocks(["lake/people"])
        texts = [d.text for d in documents] + [e.block.text for e in blocks]
        return [name for name in gone if any(f"person: {name} |" in text for text in texts)]

    def found() -> list[str]:
        with Workspace(loaded, {}) as workspace:
            texts = {
                name: [one.text for one in workspace.query_engine().ask(name, k=10)]
                for name in gone
            }
            (evidence,) = workspace.search_index.evidence(["lake/people"]).values()
            cells = {*evidence.cells, *(cell for row in evidence.rows for cell in row)}
            still = {*kept(workspace), *cells}
        return [
            name
            for name in gone
            if name in still or any(f"person: {name} |" in text for text in texts[name])
        ]

    gone = names
    index(names)
    with Workspace(loaded, {}) as workspace:
        sampled = kept(workspace)
    assert len(sampled) == 5
    assert found() == names, "by values, every row is found"
    gone = sampled if replaced else sampled[:2]
    rest = [f"{name} junior" for name in names] + ["a", "b", "c"]
    index(rest if replaced else [name for name in names if name not in gone])
    assert found() == []
    if not replaced:
        gone = sampled[2:]
        assert found() == gone, "the others are still there"


def test_a_damaged_index_is_rebuilt(loaded, instance):
    run_job(loaded, instance)
    for file in (one for one in (loaded.home / "index").rglob("*") if one.is_file()):
        file.write_bytes(b"garbage" * 1000)
    with pytest.raises(dg.Failure, match="--rebuild"):
        run_job(loaded, instance)
    result = run_job(loaded, instance, rebuild=True)
    metadata = result.asset_materializations_for_node("pneuma_embedding_blocks")[0].metadata
    assert (metadata["tables"].value, metadata["embedded"].value) == (6, 0)
    with Workspace(loaded, {}) as workspace:
        assert len(workspace.search_index.list_tables()) == 6
