"""A model is asked in whole units, each once, also by whoever goes on after a kill."""

import multiprocessing
import os
import signal

import pytest

from pneuma_assets.core.errors import BenchmarkError
from pneuma_bench.generator.asking import UNIT, Ledger, ask_in_units
from tests.support.fake_model import FakeLanguageModel

PROMPTS = [f"What is number {number}?" for number in range(3 * UNIT - 5)]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "made" / "ledger.db"


def asked(path, model, prompts=PROMPTS, **given):
    with Ledger(path) as ledger:
        return ask_in_units(model, ledger, prompts, 20, version="v1", **given)


def echoing():
    return FakeLanguageModel(answers=lambda prompt: f"To {prompt}")


def test_answers_stand_where_their_prompts_do_and_are_asked_for_once(path):
    model = echoing()
    said = asked(path, model, [*PROMPTS, *PROMPTS[:3]])
    assert [one.text for one in said] == [f"To {one}" for one in [*PROMPTS, *PROMPTS[:3]]]
    assert [one.index for one in said] == [*range(len(PROMPTS) + 3)]
    assert asked(path, model) == said[: len(PROMPTS)]
    assert model.prompts == PROMPTS


@pytest.mark.parametrize(
    "other", [{"name": "other"}, {"stop": ["number"]}, {"prompts": PROMPTS[1:]}]
)
def test_what_was_asked_otherwise_is_asked_anew(path, other):
    asked(path, FakeLanguageModel())
    model = FakeLanguageModel(other.get("name", "fake"))
    prompts = other.get("prompts", PROMPTS)
    asked(path, model, prompts, stop=other.get("stop", ()))
    assert model.prompts == prompts


def test_what_was_refused_is_asked_again_by_the_next_run_and_by_none_twice(path):
    prompts = ["too many words for this model here", "short one"]
    with Ledger(path) as ledger:
        first, again = (
            ask_in_units(FakeLanguageModel(longest=one), ledger, prompts, 2, version="v1")
            for one in (5, None)
        )
    assert again == first
    assert ([bool(one.problem) for one in first], first[1].whole) == ([True, False], False)
    with Ledger(path) as ledger:
        mended = echoing()
        again = ask_in_units(mended, ledger, prompts, 2, version="v1")
    assert mended.prompts == prompts[:1]
    assert (again[0].problem, again[1]) == (None, first[1])


def ask_until_killed(path):
    """Answer a unit, and be killed within the next."""
    left = [UNIT + UNIT // 2]

    def answer(prompt):
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return f"To {prompt}"

    asked(path, FakeLanguageModel(answers=answer))


def test_whoever_goes_on_after_a_kill_asks_for_the_rest_in_whole_units(path):
    child = multiprocessing.get_context("spawn").Process(target=ask_until_killed, args=(path,))
    child.start()
    child.join(60)
    assert child.exitcode == -signal.SIGKILL
    model = echoing()
    assert [one.text for one in asked(path, model)] == [f"To {one}" for one in PROMPTS]
    assert model.prompts == PROMPTS[UNIT:]


def test_a_file_that_is_no_ledger_is_told_with_the_remedy(path):
    path.parent.mkdir()
    path.write_text("something else, but long enough to be looked at" * 100)
    with pytest.raises(BenchmarkError, match="remove it"):
        Ledger(path)
