"""What a question needs stays open until it has ended, whoever releases its workspace meanwhile."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from pneuma_assets.core.config.load import load_deployment
from pneuma_assets.core.errors import StateError
from pneuma_assets.core.models.language import registry
from pneuma_assets.core.service import workspace_base as module
from pneuma_assets.core.service.workspace import Workspace
from tests.support.fake_model import FakeLanguageModel


class Model(FakeLanguageModel):
    closed = False

    def close(self) -> None:
        assert not self.closed
        self.closed = True


@pytest.fixture
def models(monkeypatch) -> list[Model]:
    """The models that were opened, in order."""
    found: list[Model] = []
    opening = lambda *_: (found.append(Model()), found[-1])[1]  # noqa: E731
    monkeypatch.setattr(registry, "open_language_model", opening)
    monkeypatch.setattr(module, "check_answerable", lambda _: None)
    return found


@pytest.fixture
def workspace(here, models):
    (here / "pneuma.yaml").write_text("home: home\njudge: {model: m}\nanswers: {model: m}\n")
    with Workspace(load_deployment()) as workspace:
        yield workspace


@pytest.mark.parametrize("end", [Workspace.release, Workspace.close])
@pytest.mark.parametrize("loads", ["before", "after"])
def test_a_question_in_flight_keeps_its_model_and_opens_none_behind(workspace, models, end, loads):
    asked, go_on = threading.Event(), threading.Event()

    def answer(question, k, model, where):
        if loads == "before":
            assert not session.model("answers").closed
        asked.set()
        assert go_on.wait(60)
        return session.model("answers")

    session = workspace._session
    session.answering.answer = answer
    with ThreadPoolExecutor() as pool:
        asking = pool.submit(workspace.answer, "?")
        assert asked.wait(60)
        end(workspace)
        closed = [one.closed for one in models]
        go_on.set()
        assert not any(closed)
        assert asking.result(60) is models[0]
    assert [one.closed for one in models] == [True]
    with pytest.raises(StateError, match="released"):
        _ = session.model("judge")


def test_after_a_release_there_are_other_parts_and_after_closing_none(workspace, models):
    first = workspace._session.model("judge")
    assert workspace._session.model("judge") is first
    workspace.release()
    assert workspace._session.model("judge") is not first
    workspace.close()
    workspace.close()
    assert [one.closed for one in models] == [True, True]
    for use in (
        lambda: workspace._session,
        lambda: workspace.answer("?"),
        lambda: workspace.encoder,
    ):
        with pytest.raises(StateError, match="closed"):
            use()
