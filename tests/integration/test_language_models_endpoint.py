"""The OpenAI-compatible back end against a real server that misbehaves."""

import secrets
import threading
from contextlib import ExitStack

import pytest

from pneuma_assets.core.errors import ModelError
from pneuma_assets.core.models.base import Generation
from pneuma_assets.core.models.language.openai import OpenAIModel
from tests.support.recording_endpoint import completion, prompt_of, serving
from tests.support.waiting import LONGEST

pytestmark = pytest.mark.integration

KEY = "sk-very-secret-0123456789"


def model_at(endpoint, **options):
    options = {"api_key": KEY, "key_variable": "MY_KEY", "retries": 2, **options}
    return OpenAIModel("m", endpoint.url, **options)


@pytest.fixture
def serve():
    with ExitStack() as served:
        yield lambda reply: served.enter_context(serving(reply))


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


@pytest.mark.parametrize(("candidates", "text"), [(None, "Yes, indeed"), ([("The", -0.1)], "yes")])
def test_without_probabilities_the_text_decides(serve, candidates, text):
    endpoint = serve(lambda body: completion(text, candidates))
    assert model_at(endpoint).yes_probability(["a"]) == [1.0]


def test_an_endpoint_that_refuses_probabilities_is_asked_for_them_once(serve):
    def reply(body):
        if body.get("logprobs"):
            return 400, {"error": {"message": "logprobs is not supported"}}
        return completion("No.")

    endpoint = serve(reply)
    model = model_at(endpoint, concurrency=1)
    assert model.yes_probability(["a", "b", "c"]) == [0.0, 0.0, 0.0]
    assert sum("logprobs" in body for body in endpoint.requests) == 1


def refusing(*words, status=400):
    def reply(body):
        if any(word in prompt_of(body) for word in words):
            return status, {"error": {"message": "the prompt was filtered"}}
        return completion("Yes", [("Yes", -0.1), ("No", -3.0)])

    return reply


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_refused_prompt_has_no_verdict_and_the_others_have(serve, status):
    model = model_at(serve(refusing("poison", status=status)))
    verdicts = model.yes_probability(["a", "poison", "b"])
    assert verdicts[1] is None
    assert [round(verdicts[at], 2) for at in (0, 2)] == [0.95, 0.95]
    assert model.yes_probability(["poison"]) == [None]


def test_a_refused_prompt_has_its_problem_and_the_others_answers(serve):
    model = model_at(serve(refusing("poison")))
    given = {answer.index: answer for answer in model.generate(["a", "poison"], 5)}
    assert given[0] == Generation(0, "Yes")
    assert given[1].text == ""
    assert "the prompt was filtered" in given[1].problem
    (alone,) = model.generate(["poison"], 5)
    assert "the prompt was filtered" in alone.problem


def test_an_answer_that_a_filter_took_is_no_answer(serve):
    def reply(body):
        status, answer = completion("Yes", [("Yes", -0.1)])
        if "poison" in prompt_of(body):
            answer["choices"][0]["finish_reason"] = "content_filter"
        return status, answer

    model = model_at(serve(reply))
    assert model.yes_probability(["a", "poison"]) == [1.0, None]
    assert [answer.problem is None for answer in model.generate(["a"], 5)] == [True]
    assert [answer.problem is None for answer in model.generate(["poison"], 5)] == [False]


@pytest.mark.parametrize("content", ["", "  ", None, ["no", "text"]])
def test_an_empty_answer_is_no_verdict_and_no_description(serve, content):
    def reply(body):
        status, answer = completion("No" if "clear" in prompt_of(body) else "")
        if "clear" not in prompt_of(body):
            answer["choices"][0]["message"]["content"] = content
        return status, answer

    model = model_at(serve(reply))
    assert model.yes_probability(["clear", "b"]) == [0.0, None]
    said = {one.index: one.problem for one in model.generate(["clear", "b"], 5)}
    assert said[0] is None
    assert "sent an empty answer" in said[1]
    with pytest.raises(ModelError, match="empty answer"):
        model.yes_probability(["b"])


@pytest.mark.parametrize(
    "body", [b'{"choices": [{"mess', b"<html>", b"", b"\xff", {"choices": [{}]}]
)
def test_a_broken_answer_is_one_of_a_model_that_is_away(serve, body):
    model = model_at(serve(lambda _: (200, body)), retries=0)
    for ask in (lambda: list(model.generate(["a"], 5)), lambda: model.yes_probability(["a"])):
        with pytest.raises(ModelError, match="The endpoint"):
            ask()


def test_an_answer_that_the_server_cut_after_an_abbreviation_is_asked_for_again(serve):
    answer = "The country, e.g. Italy. It is text."

    def reply(body):
        ends = [at for end in body["stop"] if (at := answer.find(end)) >= 0]
        return completion(answer[: min(ends)] if ends else answer)

    endpoint = serve(reply)
    given = list(model_at(endpoint).generate(["a"], 5, (". It", "\n")))
    assert given == [Generation(0, "The country, e.g. Italy")]
    assert [body["stop"] for body in endpoint.requests] == [[". It", "\n"], ["\n"]]


def test_a_busy_or_broken_server_is_asked_again(serve):
    failures = iter([(429, {}), (503, {})])

    def reply(body):
        return next(failures, None) or completion("fine")

    endpoint = serve(reply)
    assert [answer.text for answer in model_at(endpoint).generate(["a"], 5)] == ["fine"]
    assert len(endpoint.requests) == 3


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
    model = model_at(endpoint, retries=0)
    with pytest.raises(ModelError, match=message) as caught:
        list(model.generate(["a"], 5))
    assert "\n" not in str(caught.value)
    assert KEY not in str(caught.value) + repr(caught.value) + repr(model)
    assert caught.value.__suppress_context__


def test_no_part_of_a_key_is_shown_where_an_error_is_cut(serve):
    key = secrets.token_hex(200)
    endpoint = serve(lambda body: (400, {"error": {"message": f"{'x' * 200} key {key}"}}))
    with pytest.raises(ModelError) as caught:
        list(model_at(endpoint, retries=0, api_key=key).generate(["a"], 5))
    assert key[:20] not in str(caught.value)


def test_a_server_that_hangs_times_out(serve):
    given_up = threading.Event()

    def reply(body):
        given_up.wait(timeout=LONGEST)
        return completion("late")

    model = model_at(serve(reply), timeout_seconds=0.2, retries=0)
    with pytest.raises(ModelError, match="does not answer"):
        list(model.generate(["a"], 5))
    given_up.set()


def test_nobody_listens():
    model = OpenAIModel(
        "m", "http://127.0.0.1:9/v1", api_key=None, key_variable="MY_KEY", retries=0
    )
    with pytest.raises(ModelError, match="check that it runs"):
        list(model.generate(["a"], 5))
