"""The OpenAI-compatible back end against a real server that misbehaves."""

import json
import secrets
import threading
import time
from pathlib import Path

import pytest
from pydantic import BaseModel

from pneuma_assets.core.config.models import ModelConfig
from pneuma_assets.core.errors import ModelError
from pneuma_assets.core.models.base import Generation
from pneuma_assets.core.models.endpoint import Endpoint
from pneuma_assets.core.models.language.forms import ask, object_in
from pneuma_assets.core.models.language.openai import OpenAIModel
from pneuma_assets.core.models.language.registry import open_language_model
from pneuma_assets.core.models.usage import counting
from pneuma_assets.core.seek.actions import action_schema
from tests.support.endpoint_modes import answer, like, refusal
from tests.support.recording_endpoint import completion, prompt_of
from tests.support.small_server import answering
from tests.support.waiting import LONGEST

pytestmark = pytest.mark.integration

KEY = "sk-very-secret-0123456789"


def model_at(endpoint, **options):
    options = {"api_key": KEY, "key_variable": "MY_KEY", **options}
    return OpenAIModel("m", Endpoint(endpoint.url, **options))


@pytest.fixture(autouse=True)
def _in_a_hurry(monkeypatch):
    monkeypatch.setattr("pneuma_assets.core.models.endpoint._LONGEST_PAUSE", 0.01)


def test_prompts_run_side_by_side_and_keep_their_places(serve):
    meeting = threading.Barrier(2)  # of requests under way at once

    def reply(body):
        meeting.wait(timeout=LONGEST)
        return completion(prompt_of(body).upper())

    endpoint = serve(reply)
    model = model_at(endpoint, concurrency=4)
    prompts = [f"p{n}" for n in range(12)]
    texts = {answer.index: answer.text for answer in model.generate(prompts, 7)}
    assert texts == {n: f"P{n}" for n in range(12)}
    assert 1 < endpoint.busiest <= 4
    body, authorisation = endpoint.requests[0], endpoint.authorisations[0]
    assert (body["max_tokens"], body["temperature"], body["model"]) == (7, 0.0, "m")
    assert authorisation == f"Bearer {KEY}"
    model.close()


def refusing(*words, status=400):
    def reply(body):
        if any(word in prompt_of(body) for word in words):
            return status, {"error": {"message": "the prompt was filtered"}}
        return completion("Yes")

    return reply


def test_a_refused_prompt_has_its_problem_and_the_others_answers(serve):
    model = model_at(serve(refusing("poison")))
    given = {answer.index: answer for answer in model.generate(["a", "poison"], 5)}
    assert given[0] == Generation(0, "Yes")
    assert given[1].text == ""
    assert "the prompt was filtered" in given[1].problem
    (alone,) = model.generate(["poison"], 5)
    assert "the prompt was filtered" in alone.problem


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (401, r"refuses the key in \$MY_KEY"),
        (403, r"refuses the key in \$MY_KEY"),
        (404, "knows no model 'm'"),
        (400, "refuses: .*wrong"),
        (500, "does not answer"),
    ],
)
def test_errors_are_one_line_and_never_show_the_key(serve, status, message):
    endpoint = serve(lambda body: (status, {"error": {"message": f"wrong\nkey {KEY}"}}))
    model = model_at(endpoint)
    with pytest.raises(ModelError, match=message) as caught:
        list(model.generate(["a", "b"], 5))
    assert "\n" not in str(caught.value)
    assert KEY not in str(caught.value) + repr(caught.value) + repr(model)
    assert caught.value.__suppress_context__


def test_no_part_of_a_key_is_shown_where_an_error_is_cut(serve):
    key = secrets.token_hex(200)
    endpoint = serve(lambda body: (400, {"error": {"message": f"{'x' * 200} key {key}"}}))
    with pytest.raises(ModelError) as caught:
        list(model_at(endpoint, api_key=key).generate(["a", "b"], 5))
    assert key[:20] not in str(caught.value)


class Word(BaseModel):
    word: str


class Words(BaseModel):
    words: list[Word]


GOOD = '{"words": [{"word": "so"}]}'
ANSWERED = {"plain": 1, "reasoning": 3, "strict": 1, "ignore": 1, "busy": 2, "thought": 1}
"""How servers answer in the end, after how many requests."""
TOLD = {
    "window": "read 4,196 tokens of a prompt of 40,000 characters",
    "overflow": "maximum context length",
    "refuse": "the model refuses: I can't help with that",
    "empty": "sent an empty answer",
    "cut": "was cut off",
}
"""Of a prompt that has no answer, though the endpoint is there."""


def asked(model, *prompts):
    return list(ask(model, prompts, Words, 2_000))


@pytest.mark.parametrize("mode", ANSWERED)
def test_what_servers_do_besides_an_answer_is_an_answer(serve, mode):
    endpoint = serve(like(mode, GOOD))
    model = model_at(endpoint)
    assert [one.value.words[0].word for one in asked(model, "a")] == ["so"]
    assert len(endpoint.requests) == ANSWERED[mode]


@pytest.mark.parametrize("mode", TOLD)
def test_what_is_no_answer_is_a_problem_and_never_a_no(serve, mode):
    harmless = like("plain", GOOD)
    server = like(mode, GOOD)
    endpoint = serve(lambda body: (server if len(prompt_of(body)) > 99 else harmless)(body))
    first, other = sorted(asked(model_at(endpoint), "a" * 40_000, "b"), key=lambda one: one.index)
    assert first.value is None
    assert TOLD[mode] in first.problem
    assert other.value is not None


@pytest.mark.parametrize("mode", ["broken", "away", "slow"])
def test_one_that_is_away_costs_one_wait(serve, mode):
    given_up = threading.Event()
    endpoint = serve(like(mode, GOOD, given_up))
    model = model_at(endpoint, seconds=0.3 if mode == "slow" else LONGEST)
    with pytest.raises(ModelError, match="does not answer"):
        asked(model, "a")
    tried = len(endpoint.requests)
    assert tried == (1 if mode == "slow" else 6)
    with pytest.raises(ModelError, match="does not answer"):
        asked(model, *"abcdefgh")
    assert len(endpoint.requests) == tried, "it is left alone for a while"
    given_up.set()


@pytest.mark.parametrize("body", [b"<html>", b"", b"\xff", b"[1]", {"choices": [{}]}, {}])
def test_what_is_no_completion_is_one_of_an_endpoint_that_is_away(serve, body):
    with pytest.raises(ModelError, match="The endpoint"):
        asked(model_at(serve(lambda _: (200, body)), seconds=0.3), "a")


def test_nobody_listens():
    model = OpenAIModel("m", Endpoint("http://127.0.0.1:9/v1", seconds=0.5))
    with pytest.raises(ModelError, match="check that it runs"):
        asked(model, "a")


def test_a_server_that_drips_ends_at_the_deadline():
    def drip(handler, _):
        handler.send_response(200)
        handler.end_headers()
        for _ in range(100):
            try:
                handler.wfile.write(b" ")
            except OSError:
                return
            time.sleep(0.05)

    with answering(drip) as url:
        model = OpenAIModel("m", Endpoint(f"{url}/v1", seconds=0.3))
        began = time.monotonic()
        with pytest.raises(ModelError, match="takes too long"):
            asked(model, "a")
    assert time.monotonic() - began < 3


def test_an_option_that_is_refused_is_left_out_and_said_once(serve, caplog):
    def reply(body):
        return refusal("Extra inputs are not permitted: 'top_k'") if "top_k" in body else good(body)

    good = like("plain", GOOD)
    endpoint = serve(reply)
    model = model_at(endpoint, options={"top_k": 3, "top_p": 0.5, "reasoning_effort": "low"})
    for _ in range(3):
        assert asked(model, "a")[0].value is not None
    assert ["top_k" in body for body in endpoint.requests] == [True, False, False, False]
    assert {(b["top_p"], b["reasoning_effort"]) for b in endpoint.requests} == {(0.5, "low")}
    assert caplog.text.count("refuses top_k") == 1


def test_what_a_prompt_is_refused_for_drops_no_option(serve):
    endpoint = serve(like("overflow", GOOD))
    model = model_at(endpoint)
    asked(model, "a" * 40_000, "a")
    assert all("max_tokens" in body for body in endpoint.requests)


def test_an_endpoint_without_schemas_is_asked_by_a_tool_and_then_in_words(serve):
    def reply(body):
        unknown = {"response_format", "tools"} & body.keys()
        return refusal(f"{unknown.pop()} is not supported") if unknown else answer(GOOD)

    endpoint = serve(reply)
    model = model_at(endpoint)
    for _ in range(2):
        assert asked(model, "a")[0].value is not None
    forms = [{"response_format", "tools"} & body.keys() for body in endpoint.requests]
    assert forms == [{"response_format"}, {"tools"}, set(), set()]


ACTIONS = action_schema(["search", "message"])


def called(arguments):
    """Return what a server answers that calls a tool."""
    call = {"type": "function", "function": {"name": "search", "arguments": arguments}}
    status, said = answer(None)
    said["choices"][0]["message"]["tool_calls"] = [call, call]
    return status, said


def test_actions_are_tools_with_no_more_of_the_form_than_each_needs(serve):
    endpoint = serve(lambda _: called('{"query": "tariffs"}'))
    [said] = model_at(endpoint).generate(["a"], 99, ACTIONS)
    wanted = {"query": "tariffs", "action": "search"}
    assert json.loads(said.text) == {"actions": [wanted, wanted]}
    body = endpoint.requests[0]
    assert [one["function"]["name"] for one in body["tools"]] == ["search", "message"]
    assert "$defs" not in str(body["tools"])
    assert body["tool_choice"] == "required"


@pytest.mark.parametrize("arguments", ["[" * 3_000, "[]", "null", '{"query": ', 7])
def test_arguments_of_another_form_are_an_answer_that_cannot_be_read(serve, arguments):
    [said] = model_at(serve(lambda _: called(arguments))).generate(["a"], 99, ACTIONS)
    assert said.problem is None
    assert object_in(said.text) is None


def test_an_endpoint_that_heeds_no_tools_is_asked_by_a_schema_the_next_time(serve):
    endpoint = serve(lambda _: answer("Let us search for tariffs."))
    model = model_at(endpoint)
    for _ in range(2):
        list(model.generate(["a"], 99, ACTIONS))
    assert [{"response_format", "tools"} & one.keys() for one in endpoint.requests] == [
        {"tools"}, {"response_format"}
    ]  # fmt: skip


def test_headers_and_prices_are_those_of_the_configuration(serve):
    endpoint = serve(lambda _: answer(GOOD, read=1_000_000))
    config = ModelConfig(
        model="m", endpoint_url=endpoint.url, headers_env="MORE", read_price=2.0, written_price=0.5
    )
    model = open_language_model(config, Path("nowhere"), {"MORE": "x-team: data\napi-key: k-123"})
    with counting() as used:
        list(model.generate(["a" * 4_000_000], 2_000))
    assert (used.calls, used.read, round(used.cost, 3)) == (1, 1_000_000, 2.0)
    assert endpoint.headers[0]["api-key"] == "k-123"
    away = open_language_model(config, Path("nowhere"), {})
    with pytest.raises(ModelError, match="MORE is not set"):
        list(away.generate(["a"], 5))
    wrong = open_language_model(config, Path("nowhere"), {"MORE": "k-123"})
    with pytest.raises(ModelError, match="one `Name: value` a line") as caught:
        list(wrong.generate(["a"], 5))
    assert "k-123" not in str(caught.value)


def test_a_body_that_is_cut_or_stalls_is_one_of_an_endpoint_that_is_away():
    def cut(handler, _):
        handler.send_response(200)
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        handler.wfile.write(b'{"choices"')

    with answering(cut) as url:
        model = OpenAIModel("m", Endpoint(f"{url}/v1", seconds=LONGEST))
        with pytest.raises(ModelError, match="does not answer"):
            asked(model, "a")


def test_options_that_are_refused_by_both_names_are_left_out(serve):
    def reply(body):
        sent = {"max_tokens", "max_completion_tokens"} & body.keys()
        return refusal(f"Unsupported parameter: '{sent.pop()}'") if sent else answer(GOOD)

    endpoint = serve(reply)
    assert asked(model_at(endpoint), "a")[0].value is not None
    assert len(endpoint.requests) == 3


def test_one_slow_prompt_is_a_problem_of_its_own_while_others_are_answered(serve):
    slow, plain = like("slow", GOOD, given_up := threading.Event()), like("plain", GOOD)
    endpoint = serve(lambda body: (slow if prompt_of(body) == "slow" else plain)(body))
    model = model_at(endpoint, seconds=2.0)
    assert asked(model, "a")[0].value is not None
    said = {one.index: one for one in asked(model, "slow", "b")}
    given_up.set()
    assert "but not this prompt within the model's timeout" in said[0].problem
    assert not said[0].refused
    assert said[1].value is not None
    assert asked(model, "c")[0].value is not None, "it is not left alone"


def test_a_prompt_that_is_too_long_says_nothing_of_forms(serve):
    endpoint = serve(like("overflow", GOOD))
    model = model_at(endpoint)
    asked(model, "a" * 40_000, "b")
    asked(model, "c")
    assert all("response_format" in body for body in endpoint.requests)
    assert len(endpoint.requests) == 3


def test_a_token_in_a_header_is_shown_to_nobody(serve):
    told = {"error": {"message": "wrong token tok-0123456789 here"}}
    endpoint = serve(lambda _: (400, told))
    headers = {"Authorization": "Bearer tok-0123456789"}
    (said,) = asked(model_at(endpoint, headers=lambda: headers), "a")
    assert "wrong token *** here" in said.problem


@pytest.mark.parametrize("count", [-1, True, "5", None])
def test_tokens_that_an_endpoint_miscounts_are_estimated(serve, count):
    def reply(_):
        status, said = answer(GOOD)
        return status, said | {"usage": {"prompt_tokens": count, "completion_tokens": count}}

    with counting() as used:
        asked(model_at(serve(reply)), "a" * 300)
    assert (used.read, used.written > 0) == (100, True)
