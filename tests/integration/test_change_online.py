"""An embedded index is built anew for another encoder or analyzer while questions are answered."""

import dagster as dg
import pytest

from pneuma_assets.core.errors import PneumaError
from pneuma_assets.core.models.language.fake import FakeLanguageModel
from pneuma_assets.core.service.workspace import Workspace
from tests.support.changing import (
    ANSWER,
    KILLING,
    TABLES,
    answers,
    asking,
    deployed,
    index_and_die,
    left_in,
    use_named_encoders,
)
from tests.support.pipeline_support import run_job, small_lake

pytestmark = pytest.mark.integration


@pytest.fixture(autouse=True)
def _named_encoders(monkeypatch):
    use_named_encoders(monkeypatch)


@pytest.fixture
def instance():
    with dg.DagsterInstance.ephemeral() as ephemeral:
        yield ephemeral


@pytest.fixture
def root(tmp_path):
    small_lake(tmp_path, TABLES)
    return tmp_path


def run_until_published(loaded, instance) -> list[int]:
    """Run as a schedule does until the new index has its place; returns the tables of each run."""
    done = []
    while True:
        model = FakeLanguageModel()
        figures = figures_of(run_job(loaded, instance, model))
        assert model.prompts == [], "narrations do not depend on the encoder"
        done.append(figures["tables"])
        if figures["published"]:
            return done
        assert done[-1], "a run did nothing, and published nothing"


def run_all(loaded, instance) -> None:
    while figures_of(run_job(loaded, instance))["tables"]:
        pass


def figures_of(result):
    metadata = result.asset_materializations_for_node("pneuma_search_index")[-1].metadata
    return {name: value.value for name, value in metadata.items()}


def contents(loaded):
    with Workspace(loaded, {}) as workspace:
        return sorted(
            (b.block.block_id, b.vector.tobytes()) for b in workspace.search_index.blocks()
        )


def built_with(loaded) -> tuple[str, str]:
    with Workspace(loaded, {}) as workspace:
        info = workspace.inspect_index()
    assert info.usable
    return info.encoder, info.details["analyzer"]


@pytest.fixture
def expected(tmp_path_factory):
    """Return what an index holds that an encoder built from the start."""

    def build(encoder):
        root = tmp_path_factory.mktemp(f"expected-{encoder}")
        small_lake(root, TABLES)
        with dg.DagsterInstance.ephemeral() as instance:
            run_all(deployed(root, encoder), instance)
        return contents(deployed(root, encoder))

    return build


@pytest.mark.parametrize("encoder", ["other", "longer"])
def test_questions_are_answered_all_the_time(root, instance, expected, encoder):
    old, new = deployed(root), deployed(root, encoder)
    run_all(old, instance)
    with asking(old, new) as askers:
        assert run_until_published(new, instance) == [2, 2, 2]
        for asker in askers:
            asker.wait_for_an_answer()
            asker.wait_for_an_answer()
    for asker in askers:
        assert {one["encoder"] for one in asker.said} == {"words", encoder}
    assert built_with(new)[0] == encoder
    assert contents(new) == expected(encoder)
    assert left_in(new) == ["index"]
    assert figures_of(run_job(new, instance))["tables"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("step", KILLING)
def test_killed_at_any_step_it_is_the_old_one_or_the_new(root, instance, expected, step):
    old, new = deployed(root), deployed(root, "other")
    run_all(old, instance)
    with asking(old, new) as askers:
        index_and_die(new, step)
        for asker in askers:
            asker.wait_for_an_answer()
        run_all(new, instance)
        for asker in askers:
            asker.wait_for_an_answer()
    assert built_with(new)[0] == "other"
    assert contents(new) == expected("other")
    assert left_in(new) == ["index"]


@pytest.mark.parametrize("runs", [1, 3])
def test_back_and_forth(root, instance, expected, runs):
    old, new = deployed(root), deployed(root, "other")
    run_all(old, instance)
    for _ in range(2):
        for _ in range(runs):  # of three that are needed
            run_job(new, instance)
        run_all(old, instance)
        assert contents(old) == expected("words")
        assert left_in(old) == ["index"]
        assert answers(Workspace(old, {})) == answers(Workspace(new, {})) == {ANSWER}


def test_a_third_encoder_before_the_second_is_complete(root, instance, expected):
    first, second, third = (deployed(root, name) for name in ("words", "other", "longer"))
    run_all(first, instance)
    with asking(first, second, third):
        run_job(second, instance)
        with Workspace(second, {}) as workspace:
            assert "other, 2 tables" in workspace.inspect_index().details["being built"]
        assert run_until_published(third, instance) == [2, 2, 2]
    assert contents(third) == expected("longer")
    assert left_in(third) == ["index"]


def test_an_encoder_that_is_gone_is_named_and_so_is_what_is_done(root, instance, monkeypatch):
    old, new = deployed(root), deployed(root, "other")
    run_all(old, instance)
    (old.home / "encoders.json").unlink()
    with (
        Workspace(new, {}) as workspace,
        pytest.raises(
            PneumaError, match=r"'words'.*has built no index here.*Run `pneuma-assets index`"
        ),
    ):
        workspace.ask("island")
    run_job(new, instance)
    with (
        Workspace(new, {}) as workspace,
        pytest.raises(
            PneumaError, match=r"other, 2 tables so far, of about 6.*nothing else is needed"
        ),
    ):
        workspace.ask("island")
    assert answers(Workspace(old, {})) == {ANSWER}
    run_until_published(new, instance)
    assert answers(Workspace(new, {})) == {ANSWER}


def test_another_analyzer_needs_no_model(root, instance):
    old, german = deployed(root), deployed(root, index={"analyzer": "german"})
    run_all(old, instance)
    with asking(old, german) as askers:
        model = FakeLanguageModel()
        assert figures_of(run_job(german, instance, model))["tables"] == 0
        assert model.prompts == []
        for asker in askers:
            asker.wait_for_an_answer()
    assert built_with(german) == ("words", "german-2")
    assert left_in(german) == ["index"]


def test_encoder_and_analyzer_at_once_then_the_analyzer_back(root, instance, expected):
    old, both = deployed(root), deployed(root, "other", index={"analyzer": "german"})
    run_all(old, instance)
    run_job(both, instance)
    other = deployed(root, "other")  # what is begun is renewed, and gone on with
    assert run_until_published(other, instance) == [2, 2]
    assert built_with(other) == ("other", "english-2")
    assert contents(other) == expected("other")
    assert left_in(other) == ["index"]
