"""What all rows say becomes searchable by the real job, and costs no narration."""

import dagster as dg
import pytest

from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from pneuma_assets.core.models.language.fake import FakeLanguageModel
from pneuma_assets.core.pipeline import plan
from pneuma_assets.core.tables import TableTerms
from tests.support.pipeline_support import deployment, run_job

pytestmark = pytest.mark.integration


@pytest.fixture
def given(monkeypatch):
    """The evidence that the index is given, by table."""
    given: dict[str, TableTerms] = {}
    replace = EmbeddedIndex.replace_tables

    def remembering(index, tables):
        given.update({table_id: contents.evidence for table_id, contents in tables.items()})
        replace(index, tables)

    monkeypatch.setattr(EmbeddedIndex, "replace_tables", remembering)
    return given


@pytest.fixture
def lake(tmp_path):
    folder = tmp_path / "lake" / "harbour"
    folder.mkdir(parents=True)
    for name in ("ports", "ships"):
        rows = "".join(f"{name} {number},{number}\n" for number in range(60))
        (folder / f"{name}.csv").write_text(f"name,berthNo\n{rows}")
    return tmp_path / "lake"


def test_every_row_reaches_the_index_and_figures_say_how_much(tmp_path, lake, given):
    with dg.DagsterInstance.ephemeral() as instance:
        result = run_job(deployment(tmp_path, lake), instance)
    ports = given["lake/harbour/ports"]
    assert ports.names == ("lake", "harbour", "ports")
    assert ports.columns == ("name", "berthNo")
    said = {cell for row in ports.rows for cell in row} | {*ports.cells}
    assert {f"ports {number}" for number in range(60)} <= said
    figures = result.asset_materializations_for_node("pneuma_sampled_rows")[0].metadata
    assert figures["values"].value == sum(
        sum(map(len, evidence.rows)) + len(evidence.cells) for evidence in given.values()
    )
    assert figures["without values"].value == 0
    assert figures["milliseconds for values"].value > 0


@pytest.mark.slow
def test_tables_of_an_older_version_are_made_anew_and_nothing_is_asked_again(
    tmp_path, lake, given, monkeypatch
):
    with dg.DagsterInstance.ephemeral() as instance:
        with monkeypatch.context() as older:
            older.setattr(plan, "FORMAT", "2")
            first = FakeLanguageModel()
            run_job(deployment(tmp_path, lake), instance, first)
            assert first.prompts
        given.clear()
        second = FakeLanguageModel()
        run_job(deployment(tmp_path, lake), instance, second)
        assert sorted(given) == ["lake/harbour/ports", "lake/harbour/ships"]
        assert second.prompts == []
        given.clear()
        run_job(deployment(tmp_path, lake), instance, second)
        assert given == {}


def test_values_are_left_out_where_the_deployment_says_so(tmp_path, lake, given):
    with dg.DagsterInstance.ephemeral() as instance:
        run_job(deployment(tmp_path, lake, sampling={"values": False}), instance)
    assert given["lake/harbour/ships"] == TableTerms(
        names=("lake", "harbour", "ships"), columns=("name", "berthNo")
    )
