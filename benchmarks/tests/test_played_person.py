"""A person played by a model: what they see, when they converge, what they give away."""

import json
from argparse import Namespace

import pytest

from pneuma_bench.experiments.seek import print_played
from pneuma_bench.experiments.support.models import open_person
from pneuma_bench.models import ENDPOINT, PERSON, open_model
from pneuma_bench.seek.levels import MOST_TURNS, has_answer
from pneuma_bench.seek.needs import Need
from pneuma_bench.seek.person import given_away, played
from tests.support import seek_lake
from tests.support.scripted_model import act, say, scripted_model

pytestmark = [pytest.mark.integration, pytest.mark.usefixtures("small_encoder", "read_here")]

QUESTION = "what the new tariffs cost us in all, relative to the previous ones"
NEED = Need("costs", {}, {}, "", [[seek_lake.EXPECTED]], {})
SYSTEM = [seek_lake.FOUND, seek_lake.CHANGE, say("Shall I?"), act("materialize"), seek_lake.STEPS]


def said(text="And then?", **more):
    told = {"thought": "", "is_goal": False, "is_answered": False, "agrees": False, "text": text}
    return json.dumps(told | more)


@pytest.fixture(scope="module")
def small(tmp_path_factory, small_encoder, read_here):
    return seek_lake.deploy(tmp_path_factory.mktemp("small"))


def test_a_person_who_is_the_system_is_told(monkeypatch, capsys):
    for variable in (ENDPOINT, PERSON):
        monkeypatch.setenv(variable, "http://127.0.0.1:1/v1")
    for person in ("m", "other"):
        open_person(Namespace(model="m", person=person)).close()
    assert capsys.readouterr().out.count("own model") == 1


def play(small, monkeypatch, system, person, opening="purchases of items"):
    """Return what a conversation comes to, and the prompts of the person."""
    with scripted_model(*system) as (here, _), scripted_model(*person) as (there, script):
        monkeypatch.setenv(PERSON, there.url)
        with seek_lake.opened(small, seek_lake.model_at(here.url)) as workspace:
            found = played(
                workspace.seek, open_model("p", PERSON), QUESTION,
                lambda now: has_answer(now, NEED), opening=opening,
            )  # fmt: skip
    return found, script.prompts


def test_a_person_sees_the_state_agrees_converges_and_is_answered(small, monkeypatch, capsys):
    person = [
        said("Looks good, by all means.", is_goal=True, agrees=True),
        said(is_goal=True, is_answered=True),
    ]
    system = [*SYSTEM, act("run"), say("That is it.")]
    found, prompts = play(small, monkeypatch, system, person)
    assert (found.turns, found.converged, found.answered) == (2, 1, 2)
    assert (found.pasted, found.unanswered, found.problem) == (0.0, 0, "")
    assert "YOU: purchases of items" in prompts[0]
    assert "Shall I?" in prompts[0]
    assert "column costs.new_tariff: number" in prompts[0]
    assert str(seek_lake.EXPECTED) in prompts[1]
    print_played("all", [found])
    told = capsys.readouterr().out
    assert "1 of 1 converged within 15 turns (median 1); 0 of them" in told
    assert "1 got the right answer" in told


def test_a_person_may_open_and_goes_on_for_so_many_turns(small, monkeypatch):
    person = [said("tariffs, broadly"), *[said(f"more, {n}") for n in range(MOST_TURNS)]]
    found, prompts = play(small, monkeypatch, [say()] * MOST_TURNS, person, opening="")
    assert "nothing yet" in prompts[0]
    assert "YOU: tariffs, broadly" in prompts[1]
    assert (found.turns, found.converged, found.answered) == (MOST_TURNS, 0, 0)


def test_silence_is_told_apart_on_either_side(small, monkeypatch, capsys):
    unread, _ = play(small, monkeypatch, [say()], ["I am not sure."])
    assert "no whole JSON" in unread.problem
    silent, _ = play(small, monkeypatch, [401], [said(is_answered=True)])
    assert (silent.unanswered, silent.problem) == (1, "")
    print_played("all", [unread, silent])
    told = capsys.readouterr().out
    assert "0 of 1 converged" in told
    assert "not counted: 1," in told
    assert "1 turns had no reply" in told


@pytest.mark.parametrize(
    ("text", "known", "share"),
    [
        (QUESTION.upper(), "", 1.0),
        ("how trade is going", "", 0.0),
        (QUESTION, f"You ask: {QUESTION}?", 0.0),
        ("what the new tariffs cost us, roughly?", "the new tariffs", 0.3),
    ],
    ids=["pasted", "vague", "the system said so", "in part"],
)
def test_what_is_given_away_is_what_nobody_said_before(text, known, share):
    assert given_away(QUESTION, text, known) == pytest.approx(share, abs=0.05)
