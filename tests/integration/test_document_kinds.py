"""A new kind of document is one module and one registration; the real job does the rest."""

import dagster as dg
import pytest

from pneuma_assets.core.errors import QueryError
from pneuma_assets.core.index.base import IndexFilter
from pneuma_assets.core.service.workspace import Workspace
from pneuma_assets.core.tables import DocumentKind
from tests.support.fake_model import FakeLanguageModel
from tests.support.pipeline_support import deployment, run_job
from tests.support.values_documents import VALUES, registered

pytestmark = [pytest.mark.integration, pytest.mark.usefixtures("small_encoder")]

ONLY_VALUES = IndexFilter(kinds=(DocumentKind("distinct"),))


@pytest.fixture
def loaded(tmp_path):
    for name, cells in {"ports": "Zanzibar,Lamu", "trees": "oak,ash", "ships": "Ada,Bela"}.items():
        path = tmp_path / "lake" / f"{name}.csv"
        path.parent.mkdir(exist_ok=True)
        path.write_text("first,second\n" + f"{cells}\n" * 3)
    return deployment(tmp_path, tmp_path / "lake", dagster={"show_rows": True})


def kinds_in(workspace) -> set[str]:
    return {embedded.block.kind for embedded in workspace.search_index.blocks()}


def test_documents_of_a_new_kind_are_indexed_found_and_counted(loaded, caplog):
    with dg.DagsterInstance.ephemeral() as instance:
        run_job(loaded, instance)
        with registered(VALUES):
            model = FakeLanguageModel()
            result = run_job(loaded, instance, model)
            assert model.prompts == [], "every table is made anew, and no column asked for again"
            sampled = result.asset_materializations_for_node("pneuma_sampled_rows")[0].metadata
            assert "| lake/ports | Zanzibar, Lamu |" in sampled["preview"].value
            assert "| lake/ports | first: Zanzibar" in sampled["preview"].value
            (last,) = (
                made.metadata
                for made in result.asset_materializations_for_node("pneuma_search_index")
                if "tables" in made.metadata
            )
            assert last["tables"].value == last["distinct blocks"].value == 3
            assert last["rows blocks"].value == 3
            checks = result.get_asset_check_evaluations()
            assert all(check.passed for check in checks)
            with Workspace(loaded, {}) as workspace:
                engine = workspace.query_engine()
                best = engine.ask("Zanzibar", k=3, where=ONLY_VALUES)
                assert (best[0].table_id, best[0].kind) == ("lake/ports", VALUES.kind)
                assert best[0].text == "Zanzibar, Lamu"
                assert {result.kind for result in best} == {VALUES.kind}
                assert engine.ask("Zanzibar", k=1)[0].table_id == "lake/ports"
        with Workspace(loaded, {}) as workspace:
            (best,) = workspace.query_engine().ask("Zanzibar", k=1, where=ONLY_VALUES)
            assert best.kind == VALUES.kind, "the index holds it, whoever made it"
        assert "without documents of the kind" not in caplog.text
        run_job(loaded, instance)
        assert "made anew, without documents of the kind distinct, which nothing" in caplog.text
        caplog.clear()
        run_job(loaded, instance)
        assert "without documents of the kind" not in caplog.text
        with Workspace(loaded, {}) as workspace:
            assert kinds_in(workspace) == {"schema", "rows", "summary"}, "it is no longer made"
            with pytest.raises(QueryError, match="unknown kind 'distinct'; use one of: context, "):
                workspace.query_engine().ask("Zanzibar", where=ONLY_VALUES)
