"""An embedded index is built anew for another encoder or analyzer while questions are answered."""

import shutil
from functools import cache

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
)
from tests.support.named_encoders import use_named_encoders
from tests.support.pipeline_support import run_job, small_lake

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module", autouse=True)
def _named_encoders():
    with pytest.MonkeyPatch.context() as patched:
        use_named_encoders(patched)
        yield


@pytest.fixture
def instance():
    with dg.DagsterInstance.ephemeral() as ephemeral:
        yield ephemeral


@pytest.fixture
def root(tmp_path, indexed):
    """Return a folder with a lake, and the index that the encoder `words` has built of it.

    The lake is where it was indexed, or its tables would be others.
    """
    made = indexed("words")
    shutil.copytree(made / "home", tmp_path / "home")
    (tmp_path / "lake").symlink_to(made / "lake")
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


@pytest.fixture(scope="module")
def indexed(tmp_path_factory):
    """Return what makes a folder with a lake, and its index by an encoder, once."""

    @cache
    def build(encoder):
        root = tmp_path_factory.mktemp(f"indexed-{encoder}")
        small_lake(root, TABLES)
        with dg.DagsterInstance.ephemeral() as instance:
            run_all(deployed(root, encoder), instance)
        return root

    return build


@pytest.fixture(scope="module")
def expected(indexed):
    """Return what an index holds that an encoder built from the start."""

    @cache
    def build(encoder):
        return contents(deployed(indexed(encoder), encoder))

    return build


@pytest.mark.parametrize("encoder", ["other", pytest.param("longer", marks=pytest.mark.slow)])
def test_questions_are_answered_all_the_time(root, instance, expected, encoder):
    old, new = deployed(root), deployed(root, encoder)
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


@pytest.mark.slow
@pytest.mark.parametrize("runs", [1, 3])
def test_back_and_forth(root, instance, expected, runs):
    old, new = deployed(root), deployed(root, "other")
    for _ in range(2):
        for _ in range(runs):  # of three that are needed
            run_job(new, instance)
        run_all(old, instance)
        assert contents(old) == expected("words")
        assert left_in(old) == ["index"]
        assert answers(Workspace(old, {})) == answers(Workspace(new, {})) == {ANSWER}


@pytest.mark.slow
def test_a_third_encoder_before_the_second_is_complete(root, instance, expected):
    first, second, third = (deployed(root, name) for name in ("words", "other", "longer"))
    with asking(first, second, third):
        run_job(second, instance)
        with Workspace(second, {}) as workspace:
            assert "other, 2 tables" in workspace.inspect_index().details["being built"]
        assert run_until_published(third, instance) == [2, 2, 2]
    assert contents(third) == expected("longer")
    assert left_in(third) == ["index"]


def test_an_encoder_that_is_gone_is_named_and_so_is_what_is_done(root, instance, monkeypatch):
    old, new = deployed(root), deployed(root, "other")
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


@pytest.mark.slow
def test_another_analyzer_needs_no_model(root, instance):
    old, german = deployed(root), deployed(root, index={"analyzer": "german"})
    with asking(old, german) as askers:
        model = FakeLanguageModel()
        assert figures_of(run_job(german, instance, model))["tables"] == 0
        assert model.prompts == []
        for asker in askers:
            asker.wait_for_an_answer()
    assert built_with(german) == ("words", "german-2")
    assert left_in(german) == ["index"]


@pytest.mark.slow
def test_encoder_and_analyzer_at_once_then_the_analyzer_back(root, instance, expected):
    both = deployed(root, "other", index={"analyzer": "german"})
    run_job(both, instance)
    other = deployed(root, "other")  # what is begun is renewed, and gone on with
    assert run_until_published(other, instance) == [2, 2]
    assert built_with(other) == ("other", "english-2")
    assert contents(other) == expected("other")
    assert left_in(other) == ["index"]
