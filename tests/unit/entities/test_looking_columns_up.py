"""Without a model, the longest runs of a question's words that name columns are its mentions."""

import numpy as np

from pneuma_assets.core.entities.headers import HeaderMatcher
from pneuma_assets.core.entities.looking_up import looked_up_columns
from pneuma_assets.core.text.analysis import ENGLISH

TABLES = {"lake/a": ["unitPrice", "region"], "lake/b": ["unit_id"]}
ANGLES = {"unit price": 0, "region": 90, "unit id": 180, "cost of units": 20, "price region": 45}


class Encoder:
    """Embeds phrases at angles that are given, others far from all."""

    def encode_documents(self, texts):
        radians = np.radians([ANGLES.get(text, 270) for text in texts])
        return np.stack([np.cos(radians), np.sin(radians)], axis=1).astype(np.float32)


def named(question: str) -> dict[str, list[str]]:
    found = looked_up_columns(HeaderMatcher(Encoder(), ENGLISH), question, TABLES)
    return {mention: list(headers) for mention, headers in found.items()}


def test_the_longest_run_near_a_header_is_one_mention():
    assert named("cost of units by region") == {
        "cost of units": ["unit price", "unit id"],
        "region": ["region"],
    }


def test_each_word_is_in_one_mention():
    assert list(named("unit price region")) == ["unit price", "region"]


def test_a_run_that_only_shares_a_word_is_none_but_the_word_is():
    assert list(named("many units sold")) == ["units"]


def test_words_that_no_header_has_are_left_out():
    assert named("who are we") == {}
    assert named("") == {}
