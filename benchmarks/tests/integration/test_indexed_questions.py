"""Questions that a model worded are indexed with their tables, and leave with what they hold."""

import pytest

from pneuma_assets.core.index.base import IndexFilter
from pneuma_assets.core.models.language import registry
from pneuma_assets.core.service.workspace import Workspace
from pneuma_assets.core.tables import DocumentKind
from pneuma_assets.index_run import run_indexing
from pneuma_bench.index_questions import index_questions, remove_questions
from tests.support.fake_model import FakeLanguageModel
from tests.support.mined_lake import table_ids, write_lake
from tests.support.pipeline_support import deployment
from tests.support.word_encoder import WordEncoder

pytestmark = pytest.mark.integration

ASKED = IndexFilter(kinds=(DocumentKind.QUESTIONS,))


def answer(prompt: str) -> str:
    return f"1. Which zeppelins flew over the {prompt.split()[2]} site?"


def test_those_of_a_table_leave_with_the_rows_that_the_model_was_shown(tmp_path, monkeypatch):
    for module in ("pneuma_assets.resources.models", "pneuma_assets.core.models.encoder.encoder"):
        monkeypatch.setattr(f"{module}.open_encoder", lambda _: WordEncoder())
    model = FakeLanguageModel(answers=answer)
    monkeypatch.setattr(registry, "open_language_model", lambda *_: model)
    lake = write_lake(tmp_path)
    loaded = deployment(tmp_path, lake, answers={"model": "m"})
    assert run_indexing(loaded)
    with Workspace(loaded, {}) as workspace:
        index_questions(workspace, {}, 5)
    run_indexing(loaded)
    written, grown = lake / "south/quarry_register.csv", lake / "south/harbour_register.csv"
    head, *lines = written.read_text().splitlines()
    written.write_text("\n".join([head, *(f"new{line}" for line in lines)]))
    with grown.open("a") as file:
        file.write("one more,7,dry\n")
    assert run_indexing(loaded)
    others = {*table_ids()} - {"lake/south/quarry_register"}
    with Workspace(loaded, {}) as workspace:
        kept = workspace.store.documents.of_kind(DocumentKind.QUESTIONS, table_ids())
        assert {*kept} == others
        found = workspace.ask("zeppelins over the quarry_register site", k=10, where=ASKED)
        assert {one.table_id for one in found} == others
        assert index_questions(workspace, {}, 5).tables == 1, "it is asked about again"


def test_they_are_found_by_until_they_are_taken_back_or_hidden(tmp_path, monkeypatch):
    for module in ("pneuma_assets.resources.models", "pneuma_assets.core.models.encoder.encoder"):
        monkeypatch.setattr(f"{module}.open_encoder", lambda _: WordEncoder())
    model = FakeLanguageModel(answers=answer)
    monkeypatch.setattr(registry, "open_language_model", lambda *_: model)
    lake = write_lake(tmp_path)
    loaded = deployment(tmp_path, lake, answers={"model": "m"})
    assert run_indexing(loaded)
    with Workspace(loaded, {}) as workspace:
        first = index_questions(workspace, {}, 5)
        assert (first.tables, first.changed, first.questions) == (10, 10, 10)
        with monkeypatch.context() as unopened:
            unopened.setattr(registry, "open_language_model", None)
            assert index_questions(workspace, {}, 5).tables == 0, "all have theirs"
    run_indexing(loaded)
    with Workspace(loaded, {}) as workspace:
        found = workspace.ask("zeppelins over the quarry_register site", k=3, where=ASKED)
        assert (found[0].table_id, found[0].kind) == ("lake/south/quarry_register", "questions")
        assert set(workspace.search_index.kinds()) >= {"questions", "rows", "schema"}
        assert {t.state for t in workspace.status().tables} == {"indexed"}

    rules = {"hidden_columns": ["*_warden"]}
    hiding = deployment(tmp_path, lake, privacy=rules, answers={"model": "m"})
    run_indexing(hiding)
    with Workspace(hiding, {}) as workspace:
        assert DocumentKind.QUESTIONS not in workspace.search_index.kinds()
        assert index_questions(workspace, {}, 5).changed == 10
    run_indexing(hiding)
    with Workspace(hiding, {}) as workspace:
        assert DocumentKind.QUESTIONS in workspace.search_index.kinds()
        assert remove_questions(workspace) == len(table_ids())
    run_indexing(hiding)
    with Workspace(hiding, {}) as workspace:
        assert DocumentKind.QUESTIONS not in workspace.search_index.kinds()
