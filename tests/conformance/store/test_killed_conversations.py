"""A turn whose process is killed at any moment goes on: nothing is lost, and nothing done twice."""

import multiprocessing
import random
import time
from contextlib import nullcontext

import pytest

from pneuma_assets.core.config.seek import SeekConfig
from pneuma_assets.core.models.endpoint import Endpoint
from pneuma_assets.core.models.language.openai import OpenAIModel
from pneuma_assets.core.seek.conductor import Conductor
from pneuma_assets.core.seek.conversation import Conversation
from pneuma_assets.core.seek.prompts import Shown
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.conversations import ConversationChangedError, NewEvent
from tests.support.recording_endpoint import completion, serving

TURNS, ACTIONS, KILLS = 6, 4, 30


class EmptyLake:
    """A lake in which there is nothing: what thinking and changing Q need."""

    def shown(self, _):
        return Shown({}, {}, values=True)

    def check(self, _):
        return []

    def search(self, *_):
        return "", []

    def guarded(self):
        return nullcontext()


def conversation_of(store, conversation_id):
    saved = store.conversations.find(conversation_id)
    return Conversation(saved, tuple(store.conversations.events(conversation_id)))


def talk(at, url, conversation_id):
    """Say each text unless it was said, and conduct what is open, as a door does."""
    model = OpenAIModel("m", Endpoint(url))
    with Store(at) as store:
        conductor = Conductor(
            model,
            SeekConfig(replies=ACTIONS),
            EmptyLake(),
            lambda: conversation_of(store, conversation_id),
            lambda after, new: store.conversations.append(conversation_id, after, new),
        )
        for turn in range(TURNS):
            now = conversation_of(store, conversation_id)
            if not now.told(str(turn)):
                said = NewEvent("person", {"text": f"turn {turn}", "key": str(turn)})
                store.conversations.append(conversation_id, now.last, [said])
            list(conductor.turn())


def reply(body):
    """Answer by what the prompt says was done: each second action changes Q, the last writes."""
    import json

    prompt = str(body["messages"][-1]["content"])
    turn = prompt.rpartition("PERSON: turn ")[2].split("\n")[0]
    done = prompt.rpartition("PERSON: turn ")[2].count("\nDONE: {")
    done -= turn == "0"  # the first words are searched for
    if done == ACTIONS:
        action = {"action": "message", "text": f"answer {turn}"}
    elif done % 2:
        query = {"name": f"q{turn}_{done}", "sql": "SELECT 1"}
        action = {"action": "change", "queries": [query]}
    else:
        action = {"action": "think", "text": f"{turn} {done}"}
    return completion(json.dumps({"actions": [action]}))


def expected():
    for turn in range(TURNS):
        yield f"turn {turn}"
        if turn == 0:
            yield "search"
        for done in range(ACTIONS):
            yield from [f"q{turn}_{done}", "change"] if done % 2 else [f"{turn} {done}"]
        yield f"answer {turn}"


def told(conversation):
    for one in conversation.events:
        if one.kind == "state":
            yield one.data["state"]["queries"][-1]["name"]
        elif one.kind == "action":
            action = one.data["action"]
            yield action.get("text", action["action"])
        else:
            yield one.data["text"]


@pytest.mark.slow
def test_thirty_kills_lose_nothing_and_double_nothing(state):
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__, "openai", "httpx"])
    chance, kills, within = random.Random(26), 0, 0
    with Store(state) as store, serving(reply) as endpoint:
        while kills < KILLS:
            begun = store.conversations.create("ana", "Killed")
            for _ in range(100):
                process = context.Process(target=talk, args=(state, endpoint.url, begun))
                process.start()
                seen = len(store.conversations.events(begun))
                while process.is_alive() and len(store.conversations.events(begun)) < seen + 2:
                    time.sleep(0.002)
                process.join(chance.random() * 0.1)
                if not process.is_alive():
                    assert process.exitcode == 0
                    break
                process.kill()
                process.join()
                kills += 1
                now = conversation_of(store, begun)
                within += now.is_open
                made = list(told(now))
                assert made == list(expected())[: len(made)], "a beginning of what is to happen"
            assert list(told(conversation_of(store, begun))) == list(expected())
    assert within >= KILLS // 3, "most kills are within a turn"


def test_of_two_who_go_on_with_one_turn_each_action_is_kept_once(state):
    from threading import Thread

    with Store(state) as store, serving(reply) as endpoint:
        begun = store.conversations.create("ana", "Two")

        def one():
            for _ in range(50):
                try:
                    talk(state, endpoint.url, begun)
                except ConversationChangedError:
                    continue
                return

        threads = [Thread(target=one) for _ in range(2)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        assert list(told(conversation_of(store, begun))) == list(expected())
