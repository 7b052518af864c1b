"""The Dagster job over real files, the real encoder and the real index; the narrator counts."""

import sqlite3
from contextlib import closing

import dagster as dg
import pytest

from pneuma_assets.assets.table_events import asset_key
from pneuma_assets.core.models.language.fake import FakeLanguageModel
from pneuma_assets.core.service.workspace import Workspace
from pneuma_assets.definitions import build_definitions
from tests.support.hostile_lake import build_hostile_lake
from tests.support.pipeline_support import deployment, run_job, small_lake

pytestmark = pytest.mark.integration

FIRST = ["Ada", "Bela", "Cleo", "Dora", "Emil", "Fritz", "Gesa", "Hugo", "Ines", "Jan"]
LAST = ["Abt", "Brot", "Cal", "Dorn", "Eck", "Falk", "Gans", "Horn", "Igel", "Jung"]


@pytest.fixture
def instance():
    with dg.DagsterInstance.ephemeral() as ephemeral:
        yield ephemeral


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


def test_a_lake_is_indexed_and_answers(loaded, instance):
    result = run_job(loaded, instance)
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
        assert workspace.status().counts() == {"indexed": 6}


def test_every_table_has_a_page_with_narrated_columns(loaded, instance):
    run_job(loaded, instance)
    event = instance.get_latest_materialization_event(asset_key("pneuma", "lake/deep/t0"))
    metadata = event.asset_materialization.metadata
    columns = metadata["dagster/column_schema"].value.columns
    assert [column.name for column in columns] == ["id", "label_0", "amount_0"]
    assert all(column.description for column in columns)
    assert metadata["dagster/row_count"].value == 20


def test_a_second_run_asks_the_model_nothing(loaded, instance):
    assert asked(loaded, instance) == 18
    assert asked(loaded, instance) == 0


@pytest.mark.slow
def test_a_renamed_column_costs_no_narration_and_a_new_one_costs_one(loaded, instance, lake):
    asked(loaded, instance)
    table = lake / "t1.csv"
    table.write_text(table.read_text().replace("amount_1", "total_1"))
    assert asked(loaded, instance) == 0
    header, *rows = table.read_text().splitlines()
    table.write_text("\n".join([f"{header},colour", *(f"{row},red" for row in rows)]))
    assert asked(loaded, instance) == 1


@pytest.mark.slow
def test_a_prompt_that_does_not_fit_in_memory_is_its_table_s_problem(loaded, instance, lake):
    names = ",".join(f"measured quantity number {n}" for n in range(30))
    (lake / "wide.csv").write_text(f"{names}\n{','.join('1' * 30)}\n")
    (lake / "same.csv").write_text(f"{names}\n{','.join('2' * 30)}\n")
    cramped = FakeLanguageModel(longest=100)
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
    assert cause.startswith("30 of 30 columns are not described (such as 'measured quantity nu")
    assert "does not fit in memory" in cause
    assert "their names stand in" in cause

    run_job(loaded, instance, cramped)
    assert cramped.calls == 1, "while nothing changes nobody is asked again"
    roomy = FakeLanguageModel()
    run_job(loaded, instance, roomy, rebuild=True)
    assert len(roomy.prompts) == 60, "of both: each prompt shows its own table"
    with Workspace(loaded, {}) as workspace:
        assert workspace.store.problems.all() == []
        assert len(workspace.store.narrations.of_tables(["lake/wide"])["lake/wide"]) == 30


@pytest.mark.slow
def test_a_touched_file_costs_no_embedding(loaded, instance, lake):
    run_job(loaded, instance)
    (lake / "t1.csv").touch()
    result = run_job(loaded, instance)
    metadata = result.asset_materializations_for_node("pneuma_embedding_blocks")[0].metadata
    assert (metadata["tables"].value, metadata["embedded"].value) == (1, 0)


def test_deleted_tables_leave_index_store_and_catalogue(loaded, instance, lake):
    run_job(loaded, instance)
    (lake / "t1.csv").unlink()
    run_job(loaded, instance)
    assert instance.get_latest_materialization_event(asset_key("pneuma", "lake/t1")) is None
    with Workspace(loaded, {}) as workspace:
        assert "lake/t1" not in workspace.search_index.list_tables()
        assert len(workspace.status().tables) == 5


@pytest.mark.slow
def test_tables_of_a_source_that_is_no_longer_configured_leave(loaded, instance, tmp_path):
    run_job(loaded, instance)
    other = tmp_path / "other"
    other.mkdir()
    (other / "solo.csv").write_text("a,b\n1,2\n")
    run_job(deployment(tmp_path, other, name="other"), instance)
    with Workspace(loaded, {}) as workspace:
        assert workspace.search_index.list_tables().keys() == {"other/solo"}


def test_a_lost_index_is_rebuilt_without_the_model(loaded, instance):
    run_job(loaded, instance)
    with Workspace(loaded, {}) as workspace:
        before = workspace.search_index.list_tables()
        workspace.search_index.delete_tables(["lake/t1", "lake/t2"])
    assert asked(loaded, instance) == 0
    with Workspace(loaded, {}) as workspace:
        assert workspace.search_index.list_tables() == before


@pytest.mark.slow
def test_a_rebuild_indexes_everything_again(loaded, instance):
    run_job(loaded, instance)
    result = run_job(loaded, instance, rebuild=True)
    metadata = result.asset_materializations_for_node("pneuma_search_index")[-1].metadata
    assert metadata["tables"].value == 6


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


def test_a_context_added_by_hand_is_found(loaded, instance):
    run_job(loaded, instance)
    with Workspace(loaded, {}) as workspace:
        workspace.store.add_context("lake/deep/t3", "wiki", "Zanzibar harbour fees, audited.")
    run_job(loaded, instance)
    with Workspace(loaded, {}) as workspace:
        best = workspace.query_engine().ask("harbour fees in Zanzibar", k=1)[0]
        assert best.table_id == "lake/deep/t3"


@pytest.mark.slow
def test_slow_growth_is_sampled_in_the_end(loaded, instance, lake):
    table = lake / "t1.csv"
    run_job(loaded, instance)
    drawn = []
    for _ in range(4):
        lines = table.read_text().splitlines()
        table.write_text("\n".join([*lines, *lines[1 : 1 + len(lines) // 7]]) + "\n")
        result = run_job(loaded, instance)
        metadata = result.asset_materializations_for_node("pneuma_sampled_rows")[0].metadata
        drawn.append(metadata["tables"].value)
    assert drawn.count(1) == 2, "each step is below a fifth, two together are above"


@pytest.mark.slow
def test_a_context_added_while_a_run_holds_the_table_is_not_lost(loaded, instance):
    class Adding(FakeLanguageModel):
        def generate(self, *arguments):
            with Workspace(loaded, {}) as workspace:
                workspace.store.add_context("lake/t1", "wiki", "Zanzibar harbour fees.")
            return super().generate(*arguments)

    run_job(loaded, instance, Adding())
    run_job(loaded, instance)
    with Workspace(loaded, {}) as workspace:
        assert workspace.query_engine().ask("Zanzibar", k=1)[0].table_id == "lake/t1"


def test_a_damaged_index_is_rebuilt(loaded, instance):
    run_job(loaded, instance)
    for file in (loaded.home / "index").iterdir():
        file.write_bytes(b"garbage" * 1000)
    with pytest.raises(dg.Failure, match="--rebuild"):
        run_job(loaded, instance)
    result = run_job(loaded, instance, rebuild=True)
    metadata = result.asset_materializations_for_node("pneuma_embedding_blocks")[0].metadata
    assert (metadata["tables"].value, metadata["embedded"].value) == (6, 0)
    with Workspace(loaded, {}) as workspace:
        assert len(workspace.search_index.list_tables()) == 6


def spoil(loaded, statement) -> None:
    with closing(sqlite3.connect(loaded.home / "index" / "index.db")) as connection:
        connection.execute(statement)
        connection.commit()


@pytest.mark.slow
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE contents SET vectors = randomblob(length(vectors))",
        "UPDATE contents SET texts = zeroblob(length(texts))",
    ],
)
def test_damage_is_named_everywhere_and_a_rebuild_takes_nothing_of_it(loaded, instance, statement):
    run_job(loaded, instance)
    with Workspace(loaded, {}) as workspace:
        before = workspace.query_engine().ask("island 4")
    spoil(loaded, statement)
    with Workspace(loaded, {}) as workspace:
        assert "--rebuild" in workspace.status().index.health
        assert not workspace.status().index.usable
    with pytest.raises(dg.Failure, match=r"damaged .*--rebuild"):
        run_job(loaded, instance)
    assert asked(loaded, instance, rebuild=True) == 0
    with Workspace(loaded, {}) as workspace:
        assert workspace.status().index.health == "green"
        assert workspace.query_engine().ask("island 4") == before


def overwritten(file):
    file.write_bytes(b"garbage" * 1000)


def cut_short(file):
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


@pytest.mark.slow
@pytest.mark.parametrize("damage", [overwritten, cut_short])
def test_the_checks_of_a_damaged_index_fail_and_name_the_remedy(loaded, instance, damage):
    run_job(loaded, instance)
    for file in (loaded.home / "index").glob("*.db"):
        damage(file)
    definitions = build_definitions(loaded, with_tables=False)
    checks = dg.define_asset_job("checks", selection=dg.AssetSelection.all_asset_checks())
    job = dg.Definitions(
        assets=definitions.assets,
        asset_checks=definitions.asset_checks,
        resources=definitions.resources,
        jobs=[checks],
    ).resolve_job_def("checks")
    result = job.execute_in_process(instance=instance)
    found = {event.check_name: event for event in result.get_asset_check_evaluations()}
    for name in ("block_counts_agree", "every_table_indexed"):
        assert not found[name].passed
        assert found[name].severity == dg.AssetCheckSeverity.ERROR
        assert "pneuma-assets index --rebuild" in found[name].description
    assert found["every_table_readable"].passed, "the files of the tables are well"


@pytest.mark.slow
def test_a_table_written_again_as_it_was_says_only_when(loaded, instance, lake):
    run_job(loaded, instance)
    (lake / "t1.csv").touch()
    result = run_job(loaded, instance)
    made = result.asset_materializations_for_node("pneuma_search_index")
    keys = [one.asset_key.path[-1] for one in made]
    assert sorted(keys) == ["search_index", "t1"]
    written = made[keys.index("t1")].metadata["dagster/last_updated_timestamp"].value
    assert written == pytest.approx((lake / "t1.csv").stat().st_mtime, abs=0.01)


@pytest.mark.slow
def test_a_run_over_an_unchanged_lake_makes_no_event_of_a_table(loaded, instance):
    run_job(loaded, instance)
    result = run_job(loaded, instance)
    assert len(result.asset_materializations_for_node("pneuma_search_index")) == 1


@pytest.mark.slow
def test_a_file_that_kills_every_run_is_named(loaded, instance):
    with Workspace(loaded, {}) as workspace:
        store = workspace.store
        run_job(loaded, instance)
        store.queue.mark_pending(["lake/t1", "lake/t2"])
        for number in range(3):
            store.queue.claim(f"killed{number}", 10, 3, ["lake"])
            store.runs.begin(f"killed{number}")
            store.runs.reading(f"killed{number}", "lake/t1")
            store.queue.release_claims("another")
        run_job(loaded, instance)
        causes = {problem.subject: problem.cause for problem in workspace.status().problems}
        assert "killed the run 3 times" in causes["lake/t1"]
        assert workspace.status().counts() == {"indexed": 5, "failed": 1}


def test_an_unreachable_source_fails_the_run_and_deletes_nothing(loaded, instance, lake):
    run_job(loaded, instance)
    lake.rename(lake.with_name("moved"))
    with pytest.raises(dg.Failure, match="cannot be listed"):
        run_job(loaded, instance)
    with Workspace(loaded, {}) as workspace:
        assert len(workspace.search_index.list_tables()) == 6


def test_a_hostile_lake_is_indexed_or_explained(tmp_path, instance):
    lake = tmp_path / "lake"
    lake.mkdir()
    expected = build_hostile_lake(lake)
    loaded = deployment(tmp_path, lake)
    run_job(loaded, instance)
    with Workspace(loaded, {}) as workspace:
        status = workspace.status()
    states = {table.table_id: table.state for table in status.tables}
    causes = {problem.subject: problem.cause for problem in status.problems}
    for table_id, wanted in expected.items():
        if wanted.problem is None:
            assert states.get(table_id) == "indexed", (table_id, causes.get(table_id))
        else:
            assert wanted.problem in causes[table_id]
