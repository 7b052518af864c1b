"""A model is asked each prompt once, also by whoever goes on after a kill."""

import multiprocessing
import os
import signal

import pytest

from pneuma_assets.core.errors import BenchmarkError
from pneuma_bench.files import KeptFile
from pneuma_bench.generator.rewording import _AT_ONCE, Asker
from tests.support.fake_model import FakeLanguageModel

PROMPTS = [f"What is number {number}?" for number in range(3 * _AT_ONCE - 5)]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "made" / "kept.db"


def asked(path, model, prompts=PROMPTS, purpose="a test"):
    with KeptFile(path) as kept:
        return Asker(model, kept).ask(purpose, prompts)


def echoing():
    return FakeLanguageModel(answers=lambda prompt: f"To {prompt}")


def test_answers_stand_where_their_prompts_do_and_are_asked_for_once(path):
    model = echoing()
    said = asked(path, model, [*PROMPTS, *PROMPTS[:3]])
    assert [one.text for one in said] == [f"To {one}" for one in [*PROMPTS, *PROMPTS[:3]]]
    assert [one.index for one in said] == [*range(len(PROMPTS) + 3)]
    assert asked(path, model) == said[: len(PROMPTS)]
    assert model.prompts == PROMPTS


@pytest.mark.parametrize("other", [{"name": "other"}, {"purpose": "another"}])
def test_what_was_asked_otherwise_is_asked_anew(path, other):
    asked(path, FakeLanguageModel())
    model = FakeLanguageModel(other.get("name", "fake"))
    asked(path, model, purpose=other.get("purpose", "a test"))
    assert model.prompts == PROMPTS


def test_what_was_refused_is_asked_again_by_the_next_run(path):
    prompts = ["too many words for this model here", "short one"]
    first = asked(path, FakeLanguageModel(longest=5), prompts)
    assert [bool(one.problem) for one in first] == [True, False]
    mended = echoing()
    again = asked(path, mended, prompts)
    assert mended.prompts == prompts[:1]
    assert (again[0].problem, again[1]) == (None, first[1])


def ask_until_killed(path):
    """Answer some, and be killed among the next."""
    left = [_AT_ONCE + _AT_ONCE // 2]

    def answer(prompt):
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return f"To {prompt}"

    asked(path, FakeLanguageModel(answers=answer))


def test_whoever_goes_on_after_a_kill_asks_for_the_rest(path):
    child = multiprocessing.get_context("spawn").Process(target=ask_until_killed, args=(path,))
    child.start()
    child.join(60)
    assert child.exitcode == -signal.SIGKILL
    model = echoing()
    assert [one.text for one in asked(path, model)] == [f"To {one}" for one in PROMPTS]
    assert model.prompts == PROMPTS[_AT_ONCE:]


def test_a_file_that_is_none_of_these_is_told_with_the_remedy(path):
    path.parent.mkdir()
    path.write_text("something else, but long enough to be looked at" * 100)
    with pytest.raises(BenchmarkError, match="remove it"):
        KeptFile(path)
