"""Prompts keep to their budget, and nothing from outside gets out of its line."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pneuma_assets.core.answers.results import AnswerColumn
from pneuma_assets.core.models.usage import CHARACTERS_PER_TOKEN
from pneuma_assets.core.seek.actions import NAMES
from pneuma_assets.core.seek.conversation import Conversation, Kind, state_event
from pneuma_assets.core.seek.prompts import (
    WHERE_DATA_BEGINS,
    Shown,
    conducting,
    making,
)
from pneuma_assets.core.seek.showing import shortened, shown_table
from pneuma_assets.core.seek.state import read_state
from pneuma_assets.core.seek.untrusted import outside
from pneuma_assets.core.store.conversations import SavedConversation, SavedEvent

HEAD = SavedConversation("c", "T", "ana", 0.0, 0.0)
STATE = read_state({
    "sources": [{"name": "s", "table_ids": ["lake/s"]}],
    "tables": [{"name": "t", "columns": [{"name": f"column {n}"} for n in range(200)]}],
    "queries": [{"name": f"q{n}", "sql": "SELECT 1 -- " + "x" * 900} for n in range(40)],
})  # fmt: skip


def conversation(*events):
    saved = (
        SavedEvent(number, 0.0, kind, data, cells)
        for number, (kind, data, cells) in enumerate(events, 1)
    )
    return Conversation(HEAD, tuple(saved))


def acted(number, cells=None):
    action = {"action": "think", "text": f"{number} " + "y" * 900}
    return (Kind.ACTION, {"action": action, "outcome": "z" * 900}, cells)


@pytest.mark.parametrize("tokens", [1_000, 1_500, 3_000, 8_000])
def test_a_prompt_keeps_to_its_budget_however_much_there_is(tokens):
    talk = [(Kind.PERSON, {"text": "w" * 3_000}, None)]
    found = [{"kind": "table", "id": f"lake/{n}"} for n in range(60)]
    talk += [(Kind.ACTION, {**acted(0)[1], "found": found}, None)]
    talk += [(Kind.STATE, dict(state_event(STATE, "ana").data), None)]
    talk += [acted(n, {"a": ["c" * 500] * 50}) for n in range(9)]
    columns = [AnswerColumn(f"column {n}", "VARCHAR", "said " * 30) for n in range(300)]
    found = {f"t{n}": {"columns": ["c" * 90] * 40} for n in range(1, 61)}
    shown = Shown(found, {"s": shown_table(columns, values=True)}, True, latest=[*found])
    now = conversation(*talk)
    for prompt in (
        conducting(now, shown, ("message",), tokens),
        making(STATE.tables[0], STATE, shown, "operators " * 900, tokens, note="n" * 2_000),
    ):
        length = sum(len(one["content"]) for one in prompt)
        assert length <= 1.3 * tokens * CHARACTERS_PER_TOKEN
        assert [one["role"] for one in prompt] == ["system", "user"]


def test_what_the_person_said_last_and_what_was_done_last_is_always_there():
    now = conversation(
        *((Kind.PERSON, {"text": f"said {n} " + "w" * 900}, None) for n in range(40)),
        *(acted(n) for n in range(9)),
    )
    text = conducting(now, Shown({}, {}, True), ("message",), 1_000)[1]["content"]
    assert "PERSON: said 39" in text
    assert '"8 yyy' in text
    assert "said 0 " not in text


@given(st.text(max_size=60), st.text(max_size=60))
def test_no_text_from_outside_begins_a_line_or_ends_its_string(name, cell):
    columns = [AnswerColumn(name, "VARCHAR", cell)]
    told = shown_table(
        columns, values=True, examples=1, frequent=lambda _: [cell], rows=[{name: cell}]
    )
    shown = Shown({"t1": told}, {"s": told}, True, latest=["t1"])
    event = acted(1, {"rows": [[cell], [name]]})
    now = conversation((Kind.PERSON, {"text": "hello"}, None), event)
    lines = conducting(now, shown, ("message",), 8_000)[1]["content"].split("\n")
    starts = (WHERE_DATA_BEGINS, "STATE (", "PERSON: ", "DONE: ", "Today is ")
    assert all(line.startswith(starts) for line in lines)
    for line in lines:
        if line.startswith(WHERE_DATA_BEGINS):
            json.loads(line.removeprefix(f"{WHERE_DATA_BEGINS} "))
    assert len(lines) == 7


def test_without_values_no_cell_description_or_error_is_shown():
    told = {"action": {"action": "probe"}, "outcome": "it did not do", "failed": "error"}
    now = conversation(
        (Kind.PERSON, {"text": "hello"}, None),
        (Kind.ACTION, told, {"rows": [["SECRET"]], "why": "no such value SECRET"}),
        (Kind.MADE, {"digest": "d", "tables": []}, {"samples": {"t": [["SECRET"]]}}),
    )
    told = shown_table(
        [AnswerColumn("a", "VARCHAR", "SECRET")],
        values=False, examples=3, frequent=lambda _: ["SECRET"], rows=[{"a": "SECRET"}],
    )  # fmt: skip
    shown = Shown({"t1": told}, {"s": told}, False, latest=["t1"])
    for prompt in (
        conducting(now, shown, ("message",), 8_000),
        making(STATE.tables[0], STATE, shown, "", 8_000, seen=[{"rows": [["SECRET"]]}]),
    ):
        assert "SECRET" not in str(prompt)
        assert "a VARCHAR" in str(prompt)


@pytest.mark.parametrize("values", [True, False])
def test_labels_of_enums_are_values(values):
    columns = [AnswerColumn("state", "st ENUM('fired', 'ill')", "said")]
    shown = Shown({}, {"s": shown_table(columns, values=values)}, values)
    now = conversation((Kind.PERSON, {"text": "who"}, None))
    for prompt in (
        conducting(now, shown, ("message",), 3_000),
        making(STATE.tables[0], STATE, shown, "", 3_000),
    ):
        text = "".join(one["content"] for one in prompt)
        assert "state st ENUM" in text
        assert ("fired" in text) is values


def test_what_there_is_no_room_for_is_told_and_what_is_newest_stays():
    found = {f"t{n}": {"table": f"lake/{n}", "columns": ["c" * 90] * 40} for n in range(1, 61)}
    shown = Shown(found, {}, True, latest=[f"t{n}" for n in range(60, 0, -1)])
    text = conducting(conversation((Kind.PERSON, {"text": "hello"}, None)), shown, NAMES, 4_000)[1]
    lines = text["content"].split("\n")
    told = [line for line in lines if '"id": "t' in line]
    assert '"id": "t60"' in told[-1]
    assert "c" * 90 in told[-1]
    assert f"({60 - len(told)} more were found;" in text["content"]


def test_whoever_writes_the_steps_is_told_every_join_however_much_was_found():
    joins = [f"s.a{n} = s.b{n}" for n in range(5)]
    found = {f"t{n}": {"columns": ["c" * 90] * 40} for n in range(60)}
    shown = Shown(found, {"s": {"columns": ["b"]}}, True, joins, [*found])
    text = making(STATE.tables[0], STATE, shown, "", 8_000)[1]["content"]
    assert [text.count(one) for one in joins] == [1] * 5
    assert " more sources)" not in text


@pytest.mark.parametrize("count", [3, 100, 300])
def test_a_table_tells_how_many_columns_it_has_however_short_it_is_shown(count):
    told = shown_table([AnswerColumn(f"c{n}", "VARCHAR", "") for n in range(count)], values=True)
    short = shortened(told)
    for one in (told, short, shortened(short)):
        assert len(one["columns"]) + one.get("more columns", 0) == count


def test_room_that_is_left_is_handed_on():
    many = [(Kind.PERSON, {"text": f"said {n} " + "w" * 900}, None) for n in range(20)]
    text = conducting(conversation(*many), Shown({}, {}, True), NAMES, 12_000)[1]["content"]
    assert "PERSON: said 0 " in text


def test_results_stay_with_their_columns_and_say_of_which_state_they_are():
    result = {"digest": "other", "queries": [{"name": "q", "rows": 1, "columns": ["year", "n"]}]}
    cells = {"rows": {"q": [[2020, 7]]}, "findings": []}
    now = conversation(
        (Kind.PERSON, {"text": "how many"}, None),
        (Kind.RESULT, result, cells),
        (Kind.ASSISTANT, {"text": "Please tell me which year you mean.", "by": "model m"}, None),
        (Kind.PERSON, {"text": "2020"}, None),
        (Kind.ACTION, {"action": {"action": "probe"}, "outcome": "it did not do"},
         {"why": "Binder Error: please add explicit type casts"}),
    )  # fmt: skip
    text = conducting(now, Shown({}, {}, True), NAMES, 8_000)[1]["content"]
    assert "result, of an earlier state: q (1 rows)" in text
    assert '{"q": {"columns": ["year", "n"], "rows": [[2020, 7]]}}' in text
    assert "YOU: Please tell me which year you mean." in text, "its own words are no data"
    assert "please add explicit type casts" in text, "nor an engine's"


def test_rows_that_there_is_no_room_for_are_not_looked_at(monkeypatch):
    looked = []
    monkeypatch.setattr(
        "pneuma_assets.core.seek.prompts.outside",
        lambda text, limit: looked.append(text) or outside(text, limit),
    )
    rows = {"rows": [["cell"] * 50] * 200}
    now = conversation((Kind.PERSON, {"text": "hello"}, None), *[acted(n, rows) for n in range(99)])
    conducting(now, Shown({}, {}, True), NAMES, 8_000)
    assert 0 < len(looked) < 8_000
