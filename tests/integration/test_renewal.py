"""An index whose words older rules counted is told apart, and renewed without asking a model."""

from contextlib import closing

import dagster as dg
import pytest

from pneuma_assets.core.errors import IndexMismatchError, SearchIndexError
from pneuma_assets.core.index import registry
from pneuma_assets.core.index.embedded import pointer
from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from pneuma_assets.core.service.workspace import Workspace
from pneuma_assets.core.text.analysis import Analyzer
from tests.support.fake_model import FakeLanguageModel
from tests.support.index_blocks import file_of
from tests.support.pipeline_support import deployment, run_job, small_lake

pytestmark = pytest.mark.integration

QUESTION, ANSWER = "海口的人口", "lake/zh"


class OldAnalyzer(Analyzer):
    """English as it was: characters, no pairs."""

    def terms(self, text):
        return [term for term in super().terms(text) if term.isascii() or len(term) == 1]


@pytest.fixture
def encoder(small_encoder):
    return small_encoder


@pytest.fixture
def loaded(tmp_path):
    """A deployment whose index is to be made."""
    lake = small_lake(tmp_path, 4)
    (lake / "zh.csv").write_text("城市,人口\n海口,2873358\n上海,24870000\n")
    (lake / "other.csv").write_text("口,海人\n人海,口口\n")
    return deployment(tmp_path, lake)


@pytest.fixture
def built_before(loaded, instance, encoder, monkeypatch):
    """The same deployment, indexed by a version whose analyzer was english-1."""
    with monkeypatch.context() as patched:
        old = OldAnalyzer("english-1", "english")
        patched.setattr("pneuma_assets.core.index.registry.analyzer_named", lambda _: old)
        run_job(loaded, instance)
    encoder.calls.clear()
    return loaded


def contents(loaded):
    with Workspace(loaded, {}) as workspace:
        return sorted(
            (one.block.block_id, one.vector.tobytes()) for one in workspace.search_index.blocks()
        )


def found(loaded) -> tuple[list[str], float]:
    """Return the tables that the words of a question find, and the best one's score."""
    with Workspace(loaded, {}) as workspace:
        results = workspace.query_engine().ask(QUESTION, alpha=1.0)
    return [result.table_id for result in results], results[0].parts.raw_lexical


def test_indexing_renews_it_without_a_model(built_before, instance, encoder):
    for look in (lambda w: w.query_engine(), lambda w: w.search_index):
        with (
            Workspace(built_before, {}) as workspace,
            pytest.raises(IndexMismatchError, match=r"'english-1'.*`pneuma-assets index`"),
        ):
            look(workspace)
    model = FakeLanguageModel()
    run_job(built_before, instance, model)
    assert (model.prompts, encoder.calls) == ([], [])
    renewed = contents(built_before)
    tables, score = found(built_before)
    assert tables[0] == ANSWER
    run_job(built_before, instance, rebuild=True)  # by today's rules from the start
    assert contents(built_before) == renewed
    assert found(built_before) == (tables, pytest.approx(score))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("where", "step"),
    [(registry, "copy_exactly"), (pointer, "replace_file"), (pointer.shutil, "rmtree")],
)
def test_a_renewal_that_is_cut_off_is_completed(
    built_before, instance, encoder, monkeypatch, where, step
):
    before = contents_of_old(built_before)
    cut_off(built_before, instance, monkeypatch, where, step)
    model = FakeLanguageModel()
    run_job(built_before, instance, model)
    assert (model.prompts, encoder.calls) == ([], [])
    assert contents(built_before) == before
    assert found(built_before)[0][0] == ANSWER
    folder = built_before.home / "index"
    assert [path for path in folder.iterdir() if path.is_dir()] == [file_of(folder).parent]


def cut_off(loaded, instance, monkeypatch, where, step) -> None:
    def cut(*_: object, **__: object) -> None:
        raise SearchIndexError("cut off")

    with monkeypatch.context() as patched:
        patched.setattr(where, step, cut)
        with pytest.raises(dg.Failure, match="cut off"):
            run_job(loaded, instance)


def contents_of_old(loaded):
    """Read what the older version wrote."""
    folder = loaded.home / "index"
    old = Analyzer("english-1", None)
    with closing(EmbeddedIndex(folder, "words", 64, analyzer=old)) as index:
        return sorted((one.block.block_id, one.vector.tobytes()) for one in index.blocks())
