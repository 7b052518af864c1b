"""What is taken for an answer of a form, and what is none."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from pneuma_assets.core.models.language.forms import ask, object_in, schema_of
from tests.support.fake_model import FakeLanguageModel


class Part(BaseModel):
    n: int
    said: str | None


class Whole(BaseModel):
    parts: list[Part]


GOOD = '{"parts": [{"n": 1, "said": null}]}'


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"Sure! Here it is:\n```json\n{GOOD}\n```\nAnything else?",
        f'I take {{n}} for a number, such as {{"n": 1}}.\n\n{GOOD}',
        f'<think>{{"parts": [], "of": "a thought that is longer than it"}}</think>{GOOD}',
        '{"parts": [{"n": 1, "said": null}], "quoted": "a </think> of a stranger"}',
        f'{{"parts": [], "its beginning is": "in the template"}}</think>\n{GOOD}',
    ],
)
def test_the_object_is_found_in_whatever_stands_around_it(text):
    (said,) = ask(FakeLanguageModel(answers=lambda _: text), ["q"], Whole, 1_000)
    assert said.value == Whole(parts=[Part(n=1, said=None)])
    assert said.problem == ""


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "no whole JSON object"),
        ("No.", "no whole JSON object"),
        (GOOD[:-4], "no whole JSON object"),
        (GOOD[:-2], "of another form: parts"),
        ('{"parts": [{"n": "one", "said": ""}]}', "parts.0.n"),
        ("[" * 5_000, "no whole JSON object"),
        ('{"a":' * 50_000, "no whole JSON object"),
        (f"<think>{GOOD}", "no whole JSON object"),
    ],
)
def test_what_is_none_is_a_problem_that_quotes_nothing(text, problem):
    (said,) = ask(FakeLanguageModel(answers=lambda _: text), ["q"], Whole, 100_000)
    assert said.value is None
    assert problem in said.problem
    assert "one" not in said.problem.replace("none", "")


def test_an_answer_that_was_cut_says_so():
    (said,) = ask(FakeLanguageModel(answers=lambda _: '{"parts": [ 1 2 3'), ["q"], Whole, 2)
    assert "cut off" in said.problem


@given(st.text(), st.dictionaries(st.text(), st.text(), min_size=1), st.text(alphabet="ab ,.\n"))
def test_any_object_is_found_behind_words(before, found, after):
    before = before.replace("{", "").replace("<", "")
    assert object_in(f"{before}{json.dumps(found)}{after}") == found


def test_the_schema_is_one_of_strict_mode():
    schema = schema_of(Whole)
    part = schema["$defs"]["Part"]
    for one, names in ((schema, ["parts"]), (part, ["n", "said"])):
        assert (one["additionalProperties"], one["required"]) == (False, names)
    assert part["properties"]["said"] == {"anyOf": [{"type": "string"}, {"type": "null"}]}
