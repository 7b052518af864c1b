"""The OpenAI-compatible back end against a real server that misbehaves."""

import json
import secrets
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from pneuma_assets.core.errors import ModelError
from pneuma_assets.core.models.base import Generation
from pneuma_assets.core.models.language.openai import OpenAIModel
from tests.support.waiting import LONGEST

pytestmark = pytest.mark.integration

KEY = "sk-very-secret-0123456789"


class Endpoint(ThreadingHTTPServer):
    """Answers with what `reply` makes of each request: a status and a body."""

    daemon_threads = True

    def __init__(self, reply):
        super().__init__(("127.0.0.1", 0), Handler)
        self.reply, self.requests, self.busiest, self.busy = reply, [], 0, 0
        self.lock = threading.Lock()
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def handle_error(self, request, client_address):
        """Say nothing of clients that hung up; a test of time-outs does."""

    def model(self, **options):
        url = f"http://127.0.0.1:{self.server_port}/v1"
        options = {"api_key": KEY, "key_variable": "MY_KEY", "retries": 2, **options}
        return OpenAIModel("m", url, **options)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        server = self.server
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with server.lock:
            server.requests.append((body, self.headers["Authorization"]))
            server.busy += 1
            server.busiest = max(server.busiest, server.busy)
        status, answer = server.reply(body)
        with server.lock:
            server.busy -= 1
        data = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


@pytest.fixture
def serve():
    servers = []

    def start(reply):
        servers.append(Endpoint(reply))
        return servers[-1]

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def completion(text, candidates=None):
    logprobs = None
    if candidates is not None:
        top = [{"token": t, "logprob": p, "bytes": None} for t, p in candidates]
        logprobs = {"content": [{**top[0], "top_logprobs": top}]}
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "finish_reason": "stop", "message": message, "logprobs": logprobs}
    return 200, {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [choice],
    }


def question(body):
    return body["messages"][0]["content"]


def test_prompts_run_side_by_side_and_keep_their_places(serve):
    meeting = threading.Barrier(2)  # of requests under way at once

    def reply(body):
        meeting.wait(timeout=LONGEST)
        return completion(question(body).upper())

    endpoint = serve(reply)
    model = endpoint.model(concurrency=4)
    prompts = [f"p{n}" for n in range(12)]
    texts = {answer.index: answer.text for answer in model.generate(prompts, 7)}
    assert texts == {n: f"P{n}" for n in range(12)}
    assert 1 < endpoint.busiest <= 4
    body, authorisation = endpoint.requests[0]
    assert (body["max_tokens"], body["temperature"], body["model"]) == (7, 0.0, "m")
    assert authorisation == f"Bearer {KEY}"
    model.close()


def test_the_first_token_decides(serve):
    endpoint = serve(lambda body: completion("Yes", [("Yes", -0.5), ("No", -0.5), ("A", -3)]))
    assert endpoint.model().yes_probability(["a", "b"]) == pytest.approx([0.5, 0.5])
    assert endpoint.requests[0][0]["max_tokens"] == 1


@pytest.mark.parametrize(("candidates", "text"), [(None, "Yes, indeed"), ([("The", -0.1)], "yes")])
def test_without_probabilities_the_text_decides(serve, candidates, text):
    endpoint = serve(lambda body: completion(text, candidates))
    assert endpoint.model().yes_probability(["a"]) == [1.0]


def test_an_endpoint_that_refuses_probabilities_is_asked_for_them_once(serve):
    def reply(body):
        if body.get("logprobs"):
            return 400, {"error": {"message": "logprobs is not supported"}}
        return completion("No.")

    endpoint = serve(reply)
    model = endpoint.model(concurrency=1)
    assert model.yes_probability(["a", "b", "c"]) == [0.0, 0.0, 0.0]
    assert sum("logprobs" in body for body, _ in endpoint.requests) == 1


def refusing(*words, status=400):
    """Return an endpoint that refuses prompts with any of these words."""

    def reply(body):
        if any(word in question(body) for word in words):
            return status, {"error": {"message": "the prompt was filtered"}}
        return completion("Yes", [("Yes", -0.1), ("No", -3.0)])

    return reply


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_refused_prompt_has_no_verdict_and_the_others_have(serve, status):
    model = serve(refusing("poison", status=status)).model()
    verdicts = model.yes_probability(["a", "poison", "b"])
    assert verdicts[1] is None
    assert [round(verdicts[at], 2) for at in (0, 2)] == [0.95, 0.95]
    assert model.yes_probability(["poison"]) == [None]


def test_a_refused_prompt_has_its_problem_and_the_others_answers(serve):
    model = serve(refusing("poison")).model()
    given = {answer.index: answer for answer in model.generate(["a", "poison"], 5)}
    assert given[0] == Generation(0, "Yes")
    assert given[1].text == ""
    assert "the prompt was filtered" in given[1].problem
    (alone,) = model.generate(["poison"], 5)
    assert "the prompt was filtered" in alone.problem


def test_an_answer_that_a_filter_took_is_no_answer(serve):
    def reply(body):
        status, answer = completion("", [("Yes", -0.1)])
        if "poison" in question(body):
            answer["choices"][0]["finish_reason"] = "content_filter"
        return status, answer

    model = serve(reply).model()
    assert model.yes_probability(["a", "poison"]) == [1.0, None]
    assert [answer.problem is None for answer in model.generate(["a"], 5)] == [True]
    assert [answer.problem is None for answer in model.generate(["poison"], 5)] == [False]


def test_an_endpoint_that_refuses_everything_is_an_error(serve):
    model = serve(refusing("")).model()
    for work in (model.yes_probability, lambda prompts: list(model.generate(prompts, 5))):
        with pytest.raises(ModelError, match=r"refuses: .*filtered"):
            work(["a", "b"])


def test_an_answer_that_the_server_cut_after_an_abbreviation_is_asked_for_again(serve):
    answer = "The country, e.g. Italy. It is text."

    def reply(body):
        ends = [at for end in body["stop"] if (at := answer.find(end)) >= 0]
        return completion(answer[: min(ends)] if ends else answer)

    endpoint = serve(reply)
    given = list(endpoint.model().generate(["a"], 5, (". It", "\n")))
    assert given == [Generation(0, "The country, e.g. Italy")]
    assert [body["stop"] for body, _ in endpoint.requests] == [[". It", "\n"], ["\n"]]


def test_an_answer_that_the_limit_cut_says_so(serve):
    def reply(body):
        status, answer = completion("The year. It")
        answer["choices"][0]["finish_reason"] = "length"
        return status, answer

    model = serve(reply).model()
    assert [answer.whole for answer in model.generate(["a"], 5)] == [False]
    assert [answer.whole for answer in model.generate(["a"], 5, (". It",))] == [True]


def test_an_answer_that_is_neither_yes_nor_no_is_a_no(serve):
    assert serve(lambda _: completion("The table")).model().yes_probability(["a"]) == [0.0]


def test_a_busy_or_broken_server_is_asked_again(serve):
    failures = iter([(429, {}), (503, {})])

    def reply(body):
        return next(failures, None) or completion("fine")

    endpoint = serve(reply)
    assert [answer.text for answer in endpoint.model().generate(["a"], 5)] == ["fine"]
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
    model = endpoint.model(retries=0)
    with pytest.raises(ModelError, match=message) as caught:
        list(model.generate(["a"], 5))
    assert "\n" not in str(caught.value)
    assert KEY not in str(caught.value) + repr(caught.value) + repr(model)
    assert caught.value.__suppress_context__


def test_no_part_of_a_key_is_shown_where_an_error_is_cut(serve):
    key = secrets.token_hex(200)
    endpoint = serve(lambda body: (400, {"error": {"message": f"{'x' * 200} key {key}"}}))
    with pytest.raises(ModelError) as caught:
        list(endpoint.model(retries=0, api_key=key).generate(["a"], 5))
    assert key[:20] not in str(caught.value)


def test_an_answer_without_choices(serve):
    status, body = completion("x")
    endpoint = serve(lambda _: (status, {**body, "choices": []}))
    with pytest.raises(ModelError, match="without a choice"):
        list(endpoint.model().generate(["a"], 5))


def test_a_server_that_hangs_times_out(serve):
    given_up = threading.Event()

    def reply(body):
        given_up.wait(timeout=LONGEST)
        return completion("late")

    model = serve(reply).model(timeout_seconds=0.2, retries=0)
    with pytest.raises(ModelError, match="does not answer"):
        list(model.generate(["a"], 5))
    given_up.set()


def test_nobody_listens():
    model = OpenAIModel(
        "m", "http://127.0.0.1:9/v1", api_key=None, key_variable="MY_KEY", retries=0
    )
    with pytest.raises(ModelError, match="check that it runs"):
        list(model.generate(["a"], 5))
