"""Conversations are only ever added to, one event at a time, and go as a whole."""

import threading

import pytest

from pneuma_assets.core.errors import StateError
from pneuma_assets.core.store import conversations
from pneuma_assets.core.store.conversations import (
    EVENTS_WITH_CELLS,
    ConversationChangedError,
    NewEvent,
)

SAID = NewEvent("person", {"text": "What will tariffs cost us?"})


@pytest.fixture
def begun(store):
    return store.conversations.create("ana", "Tariffs")


def test_events_come_back_as_they_were_added(store, begun):
    shown = NewEvent("made", {"rows": 2, "name": "\ud800 \0 é"}, [["a", None], ["b", 1.5]])
    assert store.conversations.append(begun, 0, [SAID]) == 1
    assert store.conversations.append(begun, 1, [shown, SAID]) == 3
    first, second, third = store.conversations.events(begun)
    assert [one.number for one in (first, second, third)] == [1, 2, 3]
    assert (first.kind, first.data, first.cells) == ("person", SAID.data, None)
    assert second.data["rows"] == 2
    assert second.cells == [["a", None], ["b", 1.5]]
    assert store.conversations.events(begun, after=2) == [third]
    found = store.conversations.find(begun)
    assert (found.title, found.author) == ("Tariffs", "ana")
    assert found.created_at <= first.at <= third.at == found.updated_at


def test_rows_of_a_table_are_forgotten_in_the_conversations_alone_that_may_show_them(store):
    found = [{"kind": "table", "id": "lake/f", "tables": ["lake/f1"]}, {"kind": "web", "id": "x"}]
    source = {"name": "s", "table_ids": ["lake/a", "lake/é"]}
    about = {
        "state": {"state": {"sources": [source, {"name": "own", "file": "x.csv"}]}},
        "found": {"action": {"action": "search"}, "found": found},
        "neither": {"text": "lake/a"},
    }
    talks = {name: store.conversations.create("ana", name) for name in about}
    for name, data in about.items():
        told = [NewEvent("state", data), NewEvent("made", {}, [["cell"]])]
        store.conversations.append(talks[name], 0, told)

    def shown():
        events = {name: store.conversations.events(one) for name, one in talks.items()}
        return {name for name, found in events.items() if found[1].cells == [["cell"]]}

    store.conversations.forget_rows(["lake/other", "x"])
    assert shown() == {*about}
    store.conversations.forget_rows(["lake/f1"])
    assert shown() == {"state", "neither"}
    store.conversations.forget_rows(["lake/é"])
    assert shown() == {"neither"}
    assert [len(store.conversations.events(one)) for one in talks.values()] == [2, 2, 2]


def test_of_two_who_add_behind_the_same_event_one_is_refused(open_store, store, begun):
    gate, refused = threading.Barrier(8), []

    def add(number):
        with open_store() as mine:
            gate.wait()
            try:
                mine.conversations.append(begun, 0, [NewEvent("action", {"by": number})])
            except ConversationChangedError:
                refused.append(number)

    threads = [threading.Thread(target=add, args=(n,)) for n in range(8)]
    [one.start() for one in threads]
    [one.join() for one in threads]
    (event,) = store.conversations.events(begun)
    assert len(refused) == 7
    assert event.data["by"] not in refused


@pytest.mark.parametrize("after", [-1, 1, 7])
def test_nothing_is_added_behind_an_event_that_is_not_the_last(store, begun, after):
    with pytest.raises(ConversationChangedError):
        store.conversations.append(begun, after, [SAID, SAID])
    assert store.conversations.events(begun) == []


def test_what_is_too_large_leaves_nothing(store, begun):
    with pytest.raises(StateError, match="bytes"):
        store.conversations.append(begun, 0, [SAID, NewEvent("person", {"text": "x" * 1_000_001})])
    assert store.conversations.events(begun) == []


def test_a_conversation_has_so_many_events_and_files_and_a_person_so_many(
    store, begun, monkeypatch
):
    for name in ("MOST_EVENTS", "MOST_CONVERSATIONS", "MOST_FILES"):
        monkeypatch.setattr(conversations, name, 1)
    store.conversations.append(begun, 0, [SAID])
    with pytest.raises(StateError, match="another"):
        store.conversations.append(begun, 1, [SAID])
    with pytest.raises(StateError, match="delete some"):
        store.conversations.create("ana", "More")
    store.conversations.create("bo", "His first")
    store.conversations.keep_file(begun, "mine", b"1")
    store.conversations.keep_file(begun, "mine", b"2")
    with pytest.raises(StateError, match="at most"):
        store.conversations.keep_file(begun, "more", b"3")
    assert store.conversations.file(begun, "mine") == b"2"


def test_a_person_lists_theirs_the_latest_first(store, begun):
    other = store.conversations.create("ana", "Beaches")
    store.conversations.create("bo", "His")
    store.conversations.append(begun, 0, [SAID])
    store.conversations.rename(begun, "Imports")
    titles = [one.title for one in store.conversations.of_author("ana")]
    assert titles == ["Imports", "Beaches"]
    assert store.conversations.find(other).author == "ana"
    assert store.conversations.find("none") is None


def test_what_is_deleted_is_gone_with_all_that_belongs_to_it(store, begun):
    kept = store.conversations.create("ana", "Kept")
    for one in (begun, kept):
        store.conversations.append(one, 0, [NewEvent("made", {}, [["secret"]])])
        store.conversations.keep_file(one, "mine", b"1")
    store.back_up()
    store.conversations.delete(begun)
    assert store.conversations.find(begun) is None
    assert store.conversations.events(begun) == []
    assert store.conversations.files(begun) == []
    assert store.conversations.file(begun, "mine") is None
    with pytest.raises(ConversationChangedError, match="deleted"):
        store.conversations.append(begun, 1, [SAID])
    assert store.conversations.events(kept)[0].cells == [["secret"]]


def test_rules_that_hide_more_take_the_rows_that_were_shown_and_leave_the_history(store, begun):
    store.conversations.append(begun, 0, [NewEvent("made", {"rows": 1}, [["secret"]])])
    store.privacy.forget(["lake/any"])
    (event,) = store.conversations.events(begun)
    assert (event.data, event.cells) == ({"rows": 1}, None)


def test_rows_are_kept_of_the_latest_events_alone(store, begun):
    for at in range(2):
        event = NewEvent("made", {}, {"samples": at})
        store.conversations.append(begun, at * EVENTS_WITH_CELLS, [event] * EVENTS_WITH_CELLS)
    kept = [one.cells is not None for one in store.conversations.events(begun)]
    assert kept == [False] * EVENTS_WITH_CELLS + [True] * EVENTS_WITH_CELLS


def test_knowledge_is_corrected_and_forgotten_by_its_id(store, begun):
    first = store.knowledge.say("Direct tariffs alone count.", ("w/b", "w/a"), "ana", begun)
    other = store.knowledge.say("Beaches close in May.", (), "bo", begun)
    assert store.knowledge.say("Indirect ones count, too.", ("w/a",), "ana", begun, first) == first
    found = {one.knowledge_id: one for one in store.knowledge.all()}
    assert found.keys() == {first, other}
    assert (found[first].text, found[first].tables) == ("Indirect ones count, too.", ("w/a",))
    assert store.knowledge.forget(first)
    assert not store.knowledge.forget(first)
    assert store.knowledge.find(first) is None
    assert store.knowledge.find(other).text == "Beaches close in May."


def test_knowledge_outlives_a_lost_state_file(tmp_path):
    from pneuma_assets.core.store import Store

    with Store(tmp_path / "state.db") as store:
        store.knowledge.say("Beaches close in May.", ("w/a",), "bo", "c")
    for one in tmp_path.glob("state.db*"):
        one.unlink()
    with Store(tmp_path / "state.db") as store:
        assert [one.text for one in store.knowledge.all()] == ["Beaches close in May."]


def test_a_file_is_not_kept_of_a_conversation_that_is_gone(store, begun):
    store.conversations.delete(begun)
    with pytest.raises(ConversationChangedError, match="deleted"):
        store.conversations.keep_file(begun, "mine", b"1")
    assert store.conversations.file(begun, "mine") is None
