"""Conversations over a real lake, with a scripted model behind a real endpoint, or with none."""

import json
import threading

import pytest

from pneuma_assets.core.access_names import Asker
from pneuma_assets.core.errors import ConfigError, PneumaError, QueryError
from pneuma_assets.core.seek.conversation import (
    Kind,
    NothingToUndoError,
    is_agreement,
    outcome_of,
    proposal,
)
from pneuma_assets.core.seek.state import StateInvalidError, read_state
from pneuma_assets.core.store.conversations import ConversationChangedError, SavedEvent
from tests.support.endpoint_modes import like
from tests.support.index_blocks import file_of
from tests.support.recording_endpoint import serving
from tests.support.scripted_model import act, say, scripted_model, together
from tests.support.seek_lake import (
    ALL,
    ANA,
    BO,
    CHANGE,
    EXPECTED,
    FOUND,
    STATE,
    STEP,
    STEPS,
    actions,
    deploy,
    kinds,
    model_at,
    opened,
)

pytestmark = [pytest.mark.integration, pytest.mark.usefixtures("small_encoder", "read_here")]
NEED = "What impact will tariffs have on our purchases?"
PLAN = [FOUND, CHANGE, say("Shall I materialize T?", questions=["Shall I materialize T?"])]
MADE = act("materialize", agreed="yes")
AGREED = act("materialize", agreed="Yes, go ahead")
MAKE = [AGREED, STEPS, say("It costs more.", next_steps=["By country"])]


@pytest.fixture(scope="module")
def lake(tmp_path_factory, small_encoder, read_here):
    return deploy(tmp_path_factory.mktemp("seek"))


@pytest.fixture
def talk(lake):
    """Have a conversation: each text is a turn, said to a model of this script."""

    def have(script, *texts, asker=ANA, **seek):
        with scripted_model(*script) as (endpoint, said):
            with opened(lake, model_at(endpoint.url, **seek)) as workspace:
                begun = workspace.seek.start(asker).conversation_id
                for text in texts:
                    list(workspace.seek.say(begun, text, asker))
                found = workspace.seek.get(begun, asker)
            return found, said

    return have


def test_a_need_is_worked_out_proposed_agreed_to_made_and_reported(talk):
    found, said = talk([*PLAN, *MAKE], NEED, "Yes, go ahead.")
    assert [a for a, _ in actions(found)] == ["search", "change", "materialize"]
    assert not any(failed for _, failed in actions(found))
    assert found.shown(Kind.RESULT).cells["rows"] == {"more": [[EXPECTED]]}
    assert found.shown(Kind.MADE).data["tables"][0]["rows"] == 8
    assert [one.by for one in found.versions[1:]] == ["model m", "model m"]
    assert found.state.tables[0].steps[0].code == STEPS["steps"][0]["code"]
    assert found.spent.requests == 6
    assert (found.spent.read, found.spent.written) == (600, 60)
    assert not found.is_open
    assert found.saved.title == NEED
    assert "DATA" in said.prompts[1]
    assert "country = t" in said.prompts[1], "joins of what was found are told"
    assert "lake/trade/purchases" in said.prompts[0], "the first words were searched for"
    assert str(EXPECTED) in said.prompts[-1], "Q was run, too"
    assert said.lines == []


def test_what_does_not_depend_on_another_is_done_in_one_reply(talk):
    table = {**CHANGE["actions"][0]["tables"][0], "sql": STEP["code"]}
    whole = {"actions": [{**CHANGE["actions"][0], "tables": [table]}]}
    script = [together(whole, say("Shall I?")), together(AGREED, say("Guessed."))]
    found, said = talk(script, NEED, "Yes, go ahead!")
    assert [one for one, _ in actions(found)] == ["change", "materialize"]
    texts = [one.data["text"] for one in found.events if one.kind == Kind.ASSISTANT]
    assert texts == ["Shall I?", "The script has ended."], "no result is told before it was read"
    assert found.state.tables[0].steps[0].reads == ("purchases", "tariffs")
    assert found.shown(Kind.RESULT).cells["rows"] == {"more": [[EXPECTED]]}
    assert len(said.prompts) == 3


def test_tables_of_t_are_made_one_after_the_other(talk):
    columns = [{"name": "item"}, {"name": "price", "type": "number"}]
    tables = [
        {"name": "cheap", "columns": columns},
        {"name": "one", "columns": columns[:1], "sql": "SELECT item FROM cheap WHERE price = 10"},
        {"name": "dear", "columns": columns},
    ]
    change = act("change", sources=CHANGE["actions"][0]["sources"], tables=tables)
    steps = [
        {"steps": [{"operator": "sql", "reads": ["purchases"], "makes": name,
                    "code": f"SELECT item, price FROM purchases WHERE price {sign} 13"}]}
        for name, sign in (("cheap", "<"), ("dear", ">="))
    ]  # fmt: skip
    probe = {"probe": "SELECT count(*) AS n FROM purchases"}
    script = [together(change, say()), AGREED, probe, *steps, say("Made.")]
    found, said = talk(script, NEED, "Yes, go ahead")
    made = found.shown(Kind.MADE).data["tables"]
    assert [(one["name"], one["rows"]) for one in made] == [("cheap", 3), ("dear", 5), ("one", 1)]
    assert '"rows": [[8]]' in said.prompts[3]


def test_nothing_is_made_before_the_person_agrees_whatever_the_model_wants(talk):
    script = [FOUND, CHANGE, act("materialize"), act("materialize", agreed="impact will"), say()]
    found, said = talk(script, NEED)
    assert Kind.MADE not in kinds(found)
    assert actions(found)[2:] == [("materialize", "not now")] * 2
    assert "has not agreed" in said.prompts[-1]
    found, _ = talk([FOUND, CHANGE, act("materialize"), STEPS, say()], NEED, confirm=False)
    assert Kind.MADE in kinds(found)


@pytest.mark.parametrize(
    ("text", "quote", "is_agreed"),
    [
        ("Sounds good, go for it", "go for it", True),
        ("YES -- please,\nmake it.", "yes please, make it", True),
        ("ja, mach das", "ja, mach das", True),
        ("yes", "yes, go ahead", False),
        ("yesterday's figures", "yes", False),
        ("Shall we go for it?", "go for it", False),
        ("Yes, go ahead.", "Yes", True),
        ("yes", "", False),
        ("yes", "...", False),
        ("no", "no", False),
        ("No, do not go ahead yet.", "go ahead", False),
        ("Yes, but drop the year column first.", "Yes", False),
        ("Don\u2019t", "Don\u2019t", False),
        ("Change the year to 2020.", "the", False),
        ("Is it by year? Go ahead.", "Go ahead", False),
        ("yes please", "yes", False),
    ],
)
def test_a_yes_is_what_the_person_said_last_of_what_they_saw(text, quote, is_agreed):
    state = read_state(STATE)
    said = SavedEvent(3, 0.0, Kind.PERSON, {"text": text, "saw": proposal(state)})
    assert is_agreement(quote, said, state) is is_agreed
    assert not is_agreement(quote, said, read_state({})), "the proposal is another"
    assert not is_agreement(quote, SavedEvent(3, 0.0, Kind.PERSON, {"text": text}), state)


def test_who_changes_what_was_agreed_to_has_to_ask_again(talk):
    other = {**CHANGE["actions"][0], "tables": [{"name": "costs", "columns": [{"name": "item"}]}]}
    make = act("materialize", agreed="yes")
    script = [*PLAN, {"actions": [other]}, make, say("Agree again?")]
    found, _ = talk(script, NEED, "yes")
    assert actions(found)[-1] == ("materialize", "not now")
    assert Kind.MADE not in kinds(found)


def test_queries_wait_for_their_tables(talk):
    found, said = talk([FOUND, CHANGE, act("run"), say()], NEED)
    assert actions(found)[-1] == ("run", "not now")
    assert Kind.RESULT not in kinds(found)
    assert "not made" in said.prompts[-1]


@pytest.mark.parametrize("i", [1, 3, 5])
@pytest.mark.slow
def test_after_so_many_actions_it_has_to_write(talk, i):
    script = [act("think", text="Hm.")] * i + [say("Written.")]
    found, said = talk(script, NEED, replies=i)
    assert found.events[-1].data["text"] == "Written."
    assert "the action message" in said.prompts[-1]
    found, _ = talk([act("think", text="Hm.")] * 9, NEED, replies=i)
    assert len(actions(found)) == i
    assert found.events[-1].data["by"] == "system"


FAULTS = {
    "unknown table": (
        [FOUND, act("change", sources=[{"name": "x", "of": ["lake/none"]}]), say()],
        ("change", "not now"),
        "unknown table",
    ),
    "table of others": (
        [FOUND, act("change", sources=[{"name": "x", "of": ["pay/staff/salaries"]}]), say()],
        ("change", "not now"),
        "unknown table",
    ),
    "table that was not found": (
        [act("change", sources=[{"name": "x", "of": ["lake/water/testing-2022"]}]), say()],
        ("change", "not now"),
        "unknown table",
    ),
    "state that cannot be": (
        [act("change", tables=[{"name": "a", "columns": [{"name": "x"}, {"name": "X"}]}]), say()],
        ("change", "error"),
        "twice",
    ),
    "SQL error": (
        [FOUND, CHANGE, act("probe", sql="SELECT nothing FROM purchases"), say()],
        ("probe", "error"),
        "nothing",
    ),
    "statement that writes": (
        [FOUND, CHANGE, act("probe", sql="DROP TABLE purchases"), say()],
        ("probe", "error"),
        "query",
    ),
    "table that is no source": (
        [FOUND, CHANGE, act("probe", sql="SELECT * FROM salaries"), say()],
        ("probe", "error"),
        "salaries",
    ),
    "web that is off": (
        [act("search", query="tariffs", where="web"), say()],
        ("search", "error"),
        "seek.web",
    ),
    "broken JSON": (["this is no JSON", say()], ("unreadable", "shape"), "JSON"),
    "unknown action": ([act("delete"), say()], ("unreadable", "shape"), "delete"),
    "more than it may say": (
        [act("think", text="x", confirmed=True), say()],
        ("unreadable", "shape"),
        "confirmed",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_told_to_the_model_and_the_turn_goes_on(talk, fault):
    script, failed, told = FAULTS[fault]
    found, said = talk(script, NEED)
    event = [one for one in found.events if one.kind == Kind.ACTION][-1]
    assert (event.data["action"]["action"], event.data["failed"]) == failed
    assert told in outcome_of(event)
    if failed[1] == "error":
        assert told not in event.data["outcome"], "it may repeat a cell, and would outlast the rows"
    assert told in said.prompts[-1]
    assert found.events[-1].data["text"] == "Here it is."


@pytest.mark.parametrize("broken", ["no", '{"next": 1}', "{" * 5_000, '{"next": {"action": []}}'])
def test_a_model_that_breaks_the_form_twice_ends_the_turn_and_nothing_else(talk, broken):
    found, said = talk([broken, broken, say()], NEED)
    assert (len(said.lines), len(actions(found))) == (1, 1)
    assert found.events[-1].data["by"] == "system"
    assert not found.is_open


def test_an_endpoint_that_is_away_is_told_and_the_state_is_kept(talk, monkeypatch, caplog):
    monkeypatch.setattr("pneuma_assets.core.models.endpoint._TRIES", 1)
    found, _ = talk([FOUND, CHANGE, 500], NEED)
    told = found.events[-1].data["text"]
    assert "does not answer (it cannot be used now; tell who operates this server)" in told
    assert "127.0.0.1" in caplog.text
    assert found.state.table("costs") is not None
    assert not found.is_open


def test_endpoints_are_asked_by_a_tool_an_action_else_by_a_schema_and_then_in_words(lake):
    def reply(body):
        heard.append(body)
        if ("tools" in body and not takes_tools) or ("response_format" in body and not takes_forms):
            return 400, {"error": {"message": "Unknown parameter"}}
        status, answer = completion(json.dumps(say("Told.")))
        if "tools" in body:
            wanted = [("search", '{"query": "tariffs"}'), ("look", '{"table": "t1"}')]
            wanted = wanted if len(heard) == 1 else [("message", '{"text": "Told."}')]
            calls = [
                {"id": name, "type": "function", "function": {"name": name, "arguments": text}}
                for name, text in wanted
            ]
            answer["choices"][0]["message"] |= {"tool_calls": calls, "content": None}
        return status, answer

    from tests.support.recording_endpoint import completion, serving

    for takes_tools, takes_forms in ((True, False), (False, True), (False, False)):
        heard = []
        with serving(reply) as endpoint, opened(lake, model_at(endpoint.url)) as workspace:
            begun = workspace.seek.start(ANA).conversation_id
            for _ in range(2):
                *_, last = workspace.seek.say(begun, NEED, ANA)
                assert last.data["text"] == "Told."
            done = [one for one, _ in actions(workspace.seek.get(begun, ANA))]
        assert done == (["search", "look"] if takes_tools else [])
        assert len(heard) == (3 if takes_tools or takes_forms else 4), "what it takes is remembered"


SILENT = {
    "refuse": "refuses", "empty": "empty answer", "cut": "form", "broken": "does not answer",
    "slow": "does not answer", "away": "does not answer", "overflow": "maximum context",
    "window": "context",
}  # fmt: skip


@pytest.mark.parametrize("mode", ["plain", "reasoning", "strict", "ignore", "busy", "thought"])
def test_whatever_servers_do_besides_a_turn_is_answered(lake, mode, monkeypatch):
    monkeypatch.setattr("pneuma_assets.core.models.endpoint._LONGEST_PAUSE", 0.01)
    with (
        serving(like(mode, json.dumps(say("Told.")))) as endpoint,
        opened(lake, model_at(endpoint.url)) as workspace,
    ):
        begun = workspace.seek.start(ALL).conversation_id
        *_, last = workspace.seek.say(begun, NEED, ALL)
    assert last.data["text"] == "Told."


@pytest.mark.parametrize("mode", SILENT)
def test_where_a_model_says_nothing_that_is_told_and_the_state_is_kept(lake, mode, monkeypatch):
    monkeypatch.setattr("pneuma_assets.core.models.endpoint._LONGEST_PAUSE", 0.01)
    stopped = threading.Event()
    with serving(like(mode, json.dumps(say("Told.")), stopped)) as endpoint:
        seek = model_at(endpoint.url)
        seek["model"]["timeout"] = 1
        with opened(lake, seek) as workspace:
            begun = workspace.seek.start(ALL).conversation_id
            workspace.seek.edit(begun, STATE, ALL)
            for _ in range(2):
                *_, last = workspace.seek.say(begun, f"{NEED} " + "word " * 1_900, ALL)
            found = workspace.seek.get(begun, ALL)
        stopped.set()
    assert last.data["by"] == "system"
    assert SILENT[mode] in last.data["text"]
    assert found.state.table("costs") is not None
    assert not found.is_open


def test_hidden_columns_are_out_of_reach(tmp_path, small_encoder, read_here):
    file = deploy(
        tmp_path,
        privacy={"hidden_columns": ["supplier"]},
        documents={"trade/purchases.md": "What we buy.\n\nThe supplier is mostly SECRETCO.\n"},
    )
    probe = act("probe", sql="SELECT supplier FROM purchases")
    script = [FOUND, CHANGE, act("look", table="lake/trade/purchases"), probe, say()]
    with scripted_model(*script) as (endpoint, _), opened(file, model_at(endpoint.url)) as desk:
        begun = desk.seek.start(ANA).conversation_id
        list(desk.seek.say(begun, NEED, ANA))
        found = desk.seek.get(begun, ANA)
        assert actions(found)[-1] == ("probe", "error")
        assert b"supplier 3" not in endpoint.said
        assert b"SECRETCO" not in endpoint.said
        assert b"What we buy" in endpoint.said
        assert "supplier 3" not in str(found.to_dict())
        code = "SELECT supplier AS item, price, 0.1 previous_tariff, 0.2 new_tariff FROM purchases"
        step = {**STEPS["steps"][0], "reads": ["purchases"], "code": code}
        desk.seek.edit(begun, {**STATE, "tables": [{**STATE["tables"][0], "steps": [step]}]}, ANA)
        with pytest.raises(PneumaError, match="supplier"):
            desk.seek.materialize(begun, ANA)


@pytest.mark.slow
def test_a_value_that_no_cell_has_is_told_before_it_is_filtered_by(talk):
    code = STEPS["steps"][0]["code"] + " WHERE p.country = 'Germany'"
    steps = {"steps": [{**STEPS["steps"][0], "code": code}]}
    script = [*PLAN, MADE, steps, MADE, say()]
    found, _ = talk(script, NEED, "yes")
    assert actions(found)[2:4] == [("materialize", "unseen"), ("materialize", "")]
    assert "Germany" in str(found.events[-1].cells["caveats"])
    assert "Germany" not in str(found.events[-1].data["text"]), "values are kept beside the history"


@pytest.mark.slow
def test_steps_that_do_not_do_are_written_anew_a_few_times(talk):
    wrong = {"steps": [{**STEPS["steps"][0], "code": "SELECT item FROM purchases"}]}
    found, said = talk([*PLAN, MADE, wrong, STEPS, say()], NEED, "yes")
    assert Kind.MADE in kinds(found)
    assert "previous_tariff" in said.prompts[-2]
    found, said = talk([*PLAN, MADE, wrong, wrong, "no", say()], NEED, "yes")
    assert actions(found)[-1] == ("materialize", "error")
    assert "after 3 tries" in said.prompts[-1]
    assert Kind.MADE not in kinds(found)


def test_a_yes_and_what_was_written_outlast_a_step_that_fails(talk):
    columns = [{"name": "item"}]
    tables = [{"name": "one", "columns": columns}, {"name": "two", "columns": columns}]
    change = act("change", sources=CHANGE["actions"][0]["sources"], tables=tables)
    step = {"operator": "sql", "reads": ["purchases"], "code": "SELECT item FROM purchases"}
    one, two = ({"steps": [{**step, "makes": name}]} for name in ("one", "two"))
    wrong = {"steps": [{**two["steps"][0], "code": "SELECT nothing FROM purchases"}]}
    script = [together(change, say()), MADE, one, wrong, wrong, wrong, say("It failed.")]
    found, _ = talk([*script, act("materialize"), two, say("Made.")], NEED, "yes", "Try it again.")
    assert [a for a in actions(found) if a[0] == "materialize"] == [
        ("materialize", "error"), ("materialize", "")
    ]  # fmt: skip
    assert found.is_agreed


@pytest.mark.parametrize(
    ("seek", "budget"),
    [
        ({"requests": 2}, "requests"),
        ({"tokens": 1_000}, "tokens"),
        ({"cost": 0.1}, "money"),
        ({"seconds": 1e-9}, "time"),
    ],
)
def test_a_budget_that_is_used_up_ends_the_turn_until_another_is_granted(lake, seek, budget):
    thoughts = [act("think", text="Hm.")] * 30
    with (
        scripted_model(*thoughts) as (endpoint, _),
        opened(lake, model_at(endpoint.url, replies=20, **seek)) as workspace,
    ):
        begun = workspace.seek.start(ANA).conversation_id
        *_, last = workspace.seek.say(begun, NEED, ANA)
        assert f"budget of {budget}" in last.data["text"]
        done = len(actions(workspace.seek.get(begun, ANA)))
        assert done == {"requests": 2, "tokens": 10, "money": 1, "time": 1}[budget]
        list(workspace.seek.say(begun, "More?", ANA))
        assert len(actions(workspace.seek.get(begun, ANA))) == done
        workspace.seek.grant(begun, ANA)
        list(workspace.seek.say(begun, "And now?", ANA))
        assert len(actions(workspace.seek.get(begun, ANA))) > done


def test_questions_to_begin_with_are_those_that_were_answered(lake):
    with opened(lake) as workspace:
        asked = "Which countries have tariffs?"
        workspace.confirm_answer(asked, ["lake/trade/tariffs"], author="ana")
        workspace.confirm_answer("Who earns most?", ["pay/staff/salaries"], author="hr")
        assert workspace.seek.first_questions(ANA) == [asked]
        assert "Who earns most?" in workspace.seek.first_questions(ALL)


def test_a_family_is_one_table_to_the_conversation(talk):
    def whole(prompt):
        import json

        shown = [
            json.loads(line[line.index("{") :]) for line in prompt.splitlines() if '{"id"' in line
        ]
        name = next(one["id"] for one in shown if one.get("members") == 3)
        return act("change", sources=[{"name": "beaches", "of": [name]}])

    found, _ = talk([act("search", query="testing of beaches"), whole, say()], "Beaches?")
    assert len(found.state.sources[0].table_ids) == 3


def test_a_conversation_is_its_authors_and_nobody_elses(lake):
    with opened(lake) as workspace:
        seek = workspace.seek
        begun = seek.start(ANA, "Mine").conversation_id
        calls = {
            "get": seek.get, "undo": seek.undo, "materialize": seek.materialize, "run": seek.run,
            "accept": seek.accept, "script": seek.script,
            "delete": seek.delete, "cancel": seek.cancel, "grant": seek.grant,
        }  # fmt: skip
        for call in calls.values():
            for other in (BO, ALL):
                with pytest.raises(QueryError) as refused:
                    call(begun, other)
                with pytest.raises(QueryError) as unknown:
                    call("0" * 16, other)
                assert str(refused.value).replace(begun, "ID") == str(unknown.value).replace(
                    "0" * 16, "ID"
                )
        for call in (seek.say, seek.rows, lambda *a: seek.change(a[0], {}, a[2], ())):
            with pytest.raises(QueryError, match="no conversation"):
                call(begun, "Hello", BO)
        with pytest.raises(QueryError):
            seek.edit(begun, STATE, BO)
        with pytest.raises(QueryError):
            seek.add_file(begun, "a.csv", b"a\n1\n", BO)
        assert begun not in [one.conversation_id for one in seek.list(BO)]
        assert begun in [one.conversation_id for one in seek.list(ANA)]


def test_a_table_that_is_taken_away_between_turns_is_unknown_and_its_rows_are_gone(lake):
    hr = Asker("ana", ("buyers", "hr"))
    state = {
        "sources": [{"name": "pay", "table_ids": ["pay/staff/salaries"]}],
        "tables": [{
            "name": "all_pay", "columns": [{"name": "salary", "type": "integer"}],
            "steps": [{"operator": "sql", "reads": ["pay"], "makes": "all_pay",
                       "code": "SELECT salary FROM pay"}],
        }, {
            "name": "wide", "steps": [{"operator": "pivot", "reads": ["pay"], "makes": "wide",
                "options": {"rows": ["salary"], "column": "salary", "value": "salary"}}],
        }],
    }  # fmt: skip
    with opened(lake) as workspace:
        begun = workspace.seek.start(hr, "Pay").conversation_id
        workspace.seek.edit(begun, state, hr)
        made = workspace.seek.materialize(begun, hr)
        assert "91234" in str(made.shown(Kind.MADE).cells)
        for call in (
            workspace.seek.materialize,
            workspace.seek.run,
            lambda here, who: workspace.seek.rows(here, "all_pay", who),
        ):
            with pytest.raises(ConfigError, match="unknown table"):
                call(begun, ANA)
        assert "91234" not in str(workspace.seek.get(begun, ANA).to_dict())
        known = workspace.seek.share(begun, "Salaries are gross.", hr)
        with pytest.raises(QueryError, match="unknown now"):
            workspace.seek.document_knowledge(known, ANA)
        workspace.seek.forget_knowledge(known, ANA)
        assert "91234" in str(workspace.seek.get(begun, hr).to_dict())


@pytest.mark.parametrize("file", ["lake/trade/tariffs.csv", "home/index"])
def test_what_cannot_be_read_is_named_to_who_may_see_all_alone(lake, caplog, file):
    file = lake.parent / file
    file = file_of(file) if file.is_dir() else file
    away = file.rename(file.with_suffix(".away"))
    file.write_bytes(bytes(5_000))
    try:
        with opened(lake) as workspace:
            for asker in (ANA, ALL):
                begun = workspace.seek.start(asker).conversation_id
                told = str(workspace.seek.edit(begun, STATE, asker).findings)
                with pytest.raises(
                    PneumaError, match=r"cannot be (read|used)|is damaged"
                ) as caught:
                    workspace.seek.run(begun, asker)
                assert (str(file) in f"{told}{caught.value}") == (asker == ALL)
                assert str(file) in caplog.text
    finally:
        away.replace(file)


def test_a_person_edits_makes_runs_undoes_and_accepts_without_a_model(lake):
    with opened(lake) as workspace:
        seek = workspace.seek
        begun = seek.start(ANA, "By hand").conversation_id
        with pytest.raises(StateInvalidError):
            seek.edit(begun, {"tables": [{"name": "no name"}]}, ANA)
        for other in ("pay/staff/salaries", "lake/none"):
            source = {"name": "s", "table_ids": [other]}
            with pytest.raises(ConfigError, match="unknown table"):
                seek.edit(begun, {"sources": [source]}, ANA)
        with pytest.raises(NothingToUndoError):
            seek.undo(begun, ANA)
        with pytest.raises(QueryError):
            seek.accept(begun, ANA)
        seek.edit(begun, STATE, ANA)
        assert seek.edit(begun, STATE, ANA).version.number == 1, "nothing is another"
        found = seek.run(begun, ANA)
        assert found.shown(Kind.RESULT).cells["rows"] == {"more": [[EXPECTED]]}
        assert found.is_agreed
        other = {**STATE, "queries": [{"name": "count", "sql": "SELECT count(*) FROM costs"}]}
        found = seek.edit(begun, other, ANA)
        assert found.shown(Kind.RESULT) is None
        assert found.shown(Kind.MADE) is not None, "T is as it was"
        assert seek.run(begun, ANA).shown(Kind.RESULT).cells["rows"] == {"count": [[8]]}
        found = seek.undo(begun, ANA)
        assert found.state.queries[0].name == "more"
        assert seek.undo(begun, ANA).state.tables == ()
        with pytest.raises(NothingToUndoError):
            seek.undo(begun, ANA)
        seek.edit(begun, STATE, ANA)
        assert seek.accept(begun, ANA).accepted is not None
        assert seek.edit(begun, other, ANA).accepted is None
        assert seek.rows(begun, "costs", ANA).num_rows == 8
        seek.rename(begun, "Other", ANA)
        assert seek.get(begun, ANA).saved.title == "Other"
        seek.delete(begun, ANA)
        with pytest.raises(QueryError):
            seek.get(begun, ANA)


def test_without_a_model_what_a_person_began_stays_and_the_columns_they_want_are_found(lake):
    with opened(lake) as workspace:
        seek = workspace.seek
        begun = seek.start(ANA, "Mine").conversation_id
        mine = seek.add_file(begun, "my rates.csv", b"country,rate\nDE,0.5\n", ANA).state

        def proposed(*wanted):
            tables = [{"name": "need", "columns": [{"name": name} for name in wanted]}]
            given = json.loads(seek.get(begun, ANA).state.to_json())
            seek.edit(begun, given | ({"tables": tables} if wanted else {}), ANA)
            list(seek.say(begun, "purchases of items by country", ANA))
            found = seek.get(begun, ANA).state
            assert found.sources[0] == mine.sources[0]
            return found

        assert proposed().tables[0].name == "result"
        assert "% sure" in seek.get(begun, ANA).events[-1].data["text"]
        once = proposed("weather")
        assert once.questions[-1] == "Which column is weather?"
        assert proposed("weather") == once, "it is asked once"
        (need,) = proposed("country", "item").tables
        assert [one.name for one in need.columns] == ["country", "item"]
        assert seek.rows(begun, "need", ANA).num_rows == 8
        now = seek.get(begun, ANA).state
        list(seek.say(begun, "And now?", ANA))
        assert seek.get(begun, ANA).state == now, "nothing is left to propose"


def test_a_person_s_file_is_a_table_of_the_conversation_and_of_no_other(lake):
    rates = b"country;rate\nDE;0,5\nFR;1,5\n"
    with opened(lake, {"file_megabytes": 1}) as workspace:
        seek = workspace.seek
        begun = seek.start(ANA, "Mine").conversation_id
        found = seek.add_file(begun, "my rates.csv", b"country,rate\nDE,0.5\nFR,1.5\n", ANA)
        assert found.state.sources[0].name == "file_my_rates"
        step = {"operator": "sql", "reads": ["file_my_rates"], "makes": "mine",
                "code": "SELECT country, rate FROM file_my_rates"}  # fmt: skip
        table = {"name": "mine", "steps": [step],
                 "columns": [{"name": "country"}, {"name": "rate", "type": "number"}]}  # fmt: skip
        state = found.to_dict()["state"] | {"tables": [table]}
        seek.edit(begun, state, ANA)
        made = seek.rows(begun, "mine", ANA)
        assert made.column("rate").to_pylist() == [0.5, 1.5]
        both = seek.add_file(begun, "my rates.jsonl", b'{"a": 1}\n', ANA).state.sources
        assert {one.file for one in both} >= {"my rates.csv", "my rates.jsonl"}
        seek.undo(begun, ANA)
        seek.add_file(begun, "my rates.csv", b"country,rate\nDE,7.5\n", ANA)
        assert seek.rows(begun, "mine", ANA).column("rate").to_pylist() == [7.5]
        assert "read_csv('my rates.csv')" in seek.script(begun, ANA)
        other = seek.start(ANA, "Another").conversation_id
        seek.edit(other, state, ANA)
        with pytest.raises(PneumaError, match="no file"):
            seek.materialize(other, ANA)
        for name, data in {
            "../a.csv": rates, "a.sqlite": rates, "a.csv": b"x" * 1_000_001, "b.parquet": b"no",
            "": rates, "c.csv": b"",
        }.items():  # fmt: skip
            with pytest.raises(QueryError) as caught:
                seek.add_file(begun, name, data, ANA)
            assert "/tmp/" not in str(caught.value)


def test_what_is_said_again_with_the_same_key_is_not_said_twice(lake):
    with (
        scripted_model(say("One."), say("Two.")) as (endpoint, script),
        opened(lake, model_at(endpoint.url)) as workspace,
    ):
        begun = workspace.seek.start(ANA).conversation_id
        for _ in range(3):
            list(workspace.seek.say(begun, NEED, ANA, key="k1"))
        assert kinds(workspace.seek.get(begun, ANA)) == ["person", "action", "assistant"]
        assert len(script.lines) == 1


def test_a_person_s_act_ends_a_turn_that_somebody_else_conducts(lake):
    acts = []

    def interrupt(_):
        acts.append(workspace.seek.cancel(begun, ANA))
        return act("think", text="Too late.")

    with (
        scripted_model(act("think", text="Hm."), interrupt, say()) as (endpoint, script),
        opened(lake, model_at(endpoint.url)) as workspace,
    ):
        begun = workspace.seek.start(ANA).conversation_id
        with pytest.raises(ConversationChangedError):
            list(workspace.seek.say(begun, NEED, ANA))
        found = workspace.seek.get(begun, ANA)
    assert kinds(found) == ["person", "action", "action", "assistant"]
    assert found.events[-1].data["text"] == "Stopped."
    assert len(script.lines) == 1


def test_knowledge_is_shared_found_shown_corrected_and_forgotten(talk, lake):
    with opened(lake) as workspace:
        seek = workspace.seek
        begun = seek.start(ANA, "Tariffs").conversation_id
        seek.edit(begun, STATE, ANA)
        known = seek.share(begun, "Tariffs count direct and indirect ones.", ANA)
        assert [one.knowledge_id for one in seek.knowledge(BO)] == [known]
        assert seek.knowledge(Asker("eve", ("none",))), "the lake is everybody's"
        guest = Asker("ana", ("buyers",), may_edit=False)
        with pytest.raises(QueryError, match="may not add"):
            seek.share(begun, "Guests know nothing.", guest)
        with pytest.raises(QueryError):
            seek.forget_knowledge(known, BO)
        with pytest.raises(QueryError):
            seek.correct_knowledge(known, "Wrong.", BO)
        with pytest.raises(QueryError, match="may not add"):
            seek.correct_knowledge(known, "Guests change nothing.", guest)
    script = [act("search", query="indirect tariffs", where="knowledge"), say()]
    found, said = talk(script, NEED, asker=BO)
    assert found.events[2].data["found"] == [{"kind": "knowledge", "id": known}]
    assert "direct and indirect" in said.prompts[0], "unasked, since its table was found"
    assert "direct and indirect" in said.prompts[1]
    with opened(lake) as workspace:
        workspace.seek.correct_knowledge(known, "Tariffs count direct ones.", ANA)
        workspace.seek.document_knowledge(known, ANA)
        assert workspace.contexts("lake/trade/tariffs")[0].text == "Tariffs count direct ones."
        workspace.seek.forget_knowledge(known, ANA)
        assert workspace.seek.knowledge(ALL) == []


def test_without_values_a_model_is_told_why_an_action_may_not_be_done(lake):
    script = [together(CHANGE, act("materialize")), say()]
    with scripted_model(*script) as (endpoint, said):
        seek = model_at(endpoint.url)
        seek["model"]["send_values"] = False
        with opened(lake, seek) as workspace:
            begun = workspace.seek.start(ANA).conversation_id
            list(workspace.seek.say(begun, NEED, ANA))
    assert "the person has not agreed" in said.prompts[-1]


def test_an_endpoint_that_may_see_no_values_sees_none(lake):
    script = [FOUND, CHANGE, act("look", table="t1"), act("probe", sql="SELECT * FROM purchases")]
    with scripted_model(*script, say()) as (endpoint, _):
        seek = model_at(endpoint.url)
        seek["model"]["send_values"] = False
        with opened(lake, seek) as workspace:
            begun = workspace.seek.start(ANA).conversation_id
            list(workspace.seek.say(begun, NEED, ANA))
            shown = workspace.seek.get(begun, ANA)
        assert b"supplier 3" not in endpoint.said
    assert "supplier 3" in str(shown.to_dict()), "the person sees it"


def test_models_that_reason_are_asked_without_what_they_do_not_support(lake):
    from tests.support.recording_endpoint import completion, serving

    def reply(body):
        heard.append(body)
        for name in ("temperature", "max_tokens"):
            if name in body:
                said = f"Unsupported parameter: '{name}' is not supported with this model."
                return 400, {"error": {"message": said}}
        return completion(json.dumps(say("Here.")))

    heard = []
    with serving(reply) as endpoint, opened(lake, model_at(endpoint.url)) as workspace:
        begun = workspace.seek.start(ANA).conversation_id
        for _ in range(2):
            *_, last = workspace.seek.say(begun, NEED, ANA)
            assert last.data["text"] == "Here."
    assert len(heard) == 4, "what it lacks is remembered"
    assert "max_completion_tokens" in heard[-1]
    assert "tools" in heard[-1]


def test_a_prompt_fits_the_window_of_the_model(lake):
    with serving(like("overflow", json.dumps(say("Told.")))) as endpoint:
        seek = model_at(endpoint.url)
        seek["model"]["context"] = 4_096
        with opened(lake, seek) as workspace:
            begun = workspace.seek.start(ALL).conversation_id
            for _ in range(3):
                *_, last = workspace.seek.say(begun, f"{NEED} " + "word " * 1_900, ALL)
    assert last.data["text"] == "Told."


def test_what_many_said_leaves_room_for_what_was_found(talk, lake):
    with opened(lake) as workspace:
        begun = workspace.seek.start(BO, "Purchases").conversation_id
        workspace.seek.edit(begun, STATE, BO)
        known = [workspace.seek.share(begun, f"{n} " + "word " * 90, BO) for n in range(40)]
    _, said = talk([say()], NEED)
    with opened(lake) as workspace:
        for one in known:
            workspace.seek.forget_knowledge(one, BO)
    assert said.prompts[0].count('"said before"') == 5
    assert "lake/trade/purchases" in said.prompts[0]
