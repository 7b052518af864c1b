"""What a model answers is read strictly, and what it may change of a state is bounded."""

import json

import pytest

from pneuma_assets.core.seek.actions import (
    NAMES,
    Change,
    ShapeError,
    action_schema,
    changed,
    read_actions,
    read_written,
    with_steps,
    written_schema,
)
from pneuma_assets.core.seek.state import StateInvalidError, read_state

STEP = {"operator": "sql", "reads": ["s"], "makes": "t", "code": "SELECT a FROM s"}
STATE = read_state({
    "sources": [{"name": "s", "table_ids": ["lake/s"]}],
    "tables": [{"name": "t", "columns": [{"name": "a"}], "steps": [STEP]}],
    "queries": [{"name": "q", "sql": "SELECT a FROM t"}],
    "assumptions": [{"text": "Sure.", "confirmed": True}, {"text": "Perhaps."}],
    "questions": ["Which year?"],
})  # fmt: skip
EXAMPLES = {
    "think": {"text": "Hm."},
    "search": {"query": "tariffs"},
    "look": {"table": "t1"},
    "fetch": {"page": "w1"},
    "probe": {"sql": "SELECT 1"},
    "change": {"tables": [{"name": "t", "columns": [{"name": "a"}]}]},
    "materialize": {},
    "run": {},
    "message": {"text": "Done."},
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "form", ["{}", 'Sure: {"actions": [{}]}', '<think>{{}}</think>```json\n{"actions": [{}]}\n```']
)
def test_every_action_is_read_in_the_forms_that_models_use(name, form):
    action = json.dumps({"action": name, **EXAMPLES[name]})
    place = form.rindex("{}")
    text = form[:place] + action + form[place + 2 :]
    (read,) = read_actions(text)
    assert read.model_dump()["action"] == name


@pytest.mark.parametrize(
    "text",
    ["", "yes", "[]", "null", "{", '{"actions": []}', '{"actions": {"action": "run"}}',
     '{"actions": [{"action": "run"}, {"action": "drop"}]}', "{" * 100_000,
     '{"actions": [' + ", ".join(['{"action": "run"}'] * 6) + "]}",
     '{"action": "message"}', '{"action": "run", "all": true}', '{"action": ["run"]}',
     '{"action": "change", "assumptions": [{"text": "x", "confirmed": true}]}',
     '{"action": "change", "tables": [{"name": "a b", "columns": [{"name": "x"}]}]}',
     '{"action": "message", "text": "' + "x" * 5_000 + '"}'],
)  # fmt: skip
def test_what_is_no_action_is_refused_with_a_reason(text):
    with pytest.raises(ShapeError) as refused:
        read_actions(text)
    assert len(str(refused.value)) < 700


def test_an_action_that_is_not_allowed_now_is_none():
    with pytest.raises(ShapeError, match="'run' is none of: message"):
        read_actions('{"action": "run"}', ("message",))


def not_strict(schema):
    """Return the objects of a schema that OpenAI's strict mode refuses."""
    if isinstance(schema, list):
        return [found for one in schema for found in not_strict(one)]
    if not isinstance(schema, dict):
        return []
    given = schema.get("properties", {})
    is_loose = "properties" in schema and (
        schema.get("additionalProperties") is not False or set(schema["required"]) != set(given)
    )
    return [*([schema] if is_loose else []), *not_strict(list(schema.values()))]


@pytest.mark.parametrize("allowed", [NAMES, ("message",), ("search", "message")])
def test_a_schema_is_closed_small_and_of_what_is_allowed(allowed):
    text = json.dumps(action_schema(allowed))
    for name in NAMES:
        assert (f'"const": "{name}"' in text) is (name in allowed)
    for word in ("pattern", "maxLength", "maxItems", "default", "discriminator"):
        assert f'"{word}":' not in text
    assert not_strict(action_schema(allowed)) == []
    assert len(text) < 6_000


def test_the_schema_of_steps_is_bound_likewise_and_keeps_columns_called_like_its_words():
    text = json.dumps(written_schema())
    assert '"maxLength"' not in text
    assert '"steps"' in text
    assert '"description"' in json.dumps(action_schema(["change"])), "a column has one"


def change(**given):
    return Change(action="change", **given)


def test_a_change_leaves_what_it_does_not_name_and_what_a_person_confirmed():
    after = changed(STATE, change(queries=[{"name": "Q", "sql": "SELECT 2"}]), {})
    assert [one.sql for one in after.queries] == ["SELECT 2"]
    assert after.tables == STATE.tables
    assert after.questions == STATE.questions
    assert changed(STATE, change(questions=[]), {}).questions == ()
    same = change(tables=[{"name": "t", "description": "New.", "columns": [{"name": "a"}]}])
    assert changed(STATE, same, {}).tables[0].steps == STATE.tables[0].steps
    assert changed(STATE, same, {}).tables[0].description == "New."
    other = change(tables=[{"name": "t", "columns": [{"name": "a", "type": "integer"}]}])
    assert changed(STATE, other, {}).tables[0].steps == ()
    after = changed(STATE, change(assumptions=[{"text": "New."}, {"text": "Sure."}]), {})
    told = [(one.text, one.confirmed) for one in after.assumptions]
    assert told == [("Sure.", True), ("New.", False)]


def test_a_source_that_is_removed_takes_the_steps_that_read_it_and_what_came_of_it():
    given = json.loads(STATE.to_json())
    given["tables"][0]["columns"][0]["origins"] = [{"source": "s", "columns": ["a"]}]
    after = changed(read_state(given), change(remove=["s"]), {})
    assert after.tables[0].columns[0].origins == ()
    with pytest.raises(StateInvalidError, match="'nothing'"):
        changed(STATE, change(remove=["nothing"]), {})
    after = changed(STATE, change(remove=["S"]), {})
    assert after.sources == ()
    assert after.tables[0].steps == ()
    with pytest.raises(StateInvalidError):
        changed(STATE, change(sources=[{"name": "t", "of": ["t1"]}]), {"t1": ("lake/x",)})


def test_a_family_is_a_source_of_all_its_members():
    after = changed(
        STATE, change(sources=[{"name": "f", "of": ["t1"]}]), {"t1": ("lake/1", "lake/2")}
    )
    assert after.sources[1].table_ids == ("lake/1", "lake/2")


def test_written_steps_are_checked_as_those_of_a_person():
    good = read_written(json.dumps({
        "steps": [STEP],
        "origins": [{"column": "a", "origins": [{"source": "s", "columns": ["a"]}]}],
    }))  # fmt: skip
    after = with_steps(STATE, STATE.tables[0], good)
    assert after.tables[0].columns[0].origins[0].source == "s"
    wrong = read_written(json.dumps({"steps": [{**STEP, "reads": ["nothing"]}]}))
    with pytest.raises(StateInvalidError):
        with_steps(STATE, STATE.tables[0], wrong)
    with pytest.raises(ShapeError):
        read_written('{"steps": []}')
