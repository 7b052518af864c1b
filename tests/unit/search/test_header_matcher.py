"""The embeddings of headers are taken from where they are kept, and made where they are not."""

import numpy as np
import pytest

from pneuma_assets.core.search.mentions import HeaderMatcher
from pneuma_assets.core.text.analysis import ENGLISH

TABLES = {"lake/a": ["unitPrice", "region"], "lake/b": ["cost", "#"]}


class Angles:
    """Embeds texts at angles that are given, and keeps what it was asked for."""

    angles = {"unit price": 0, "cost": 25, "region": 90, "fee": 10}  # noqa: RUF012

    def __init__(self) -> None:
        self.asked: list[str] = []

    def encode_documents(self, texts):
        self.asked += texts
        radians = np.radians([self.angles[text] for text in texts])
        return np.stack([np.cos(radians), np.sin(radians)], axis=1).astype(np.float32)


def cosine(degrees: float):
    return pytest.approx(np.cos(np.radians(degrees)), abs=1e-6)


def test_columns_that_are_mentioned_have_scores():
    matcher = HeaderMatcher(Angles(), ENGLISH)
    assert matcher.matched_columns(["fee", "region"], TABLES) == {
        "lake/a": {"unitPrice": cosine(10), "region": 1.0},
        "lake/b": {"cost": cosine(15)},
    }


def test_what_is_kept_is_not_embedded_again():
    encoder = Angles()
    kept = {"region": np.array([1, 0], np.float32)}
    asked = []
    matcher = HeaderMatcher(encoder, ENGLISH, lambda names: asked.append(names) or kept)
    found = matcher.matched_columns(["fee"], TABLES)
    assert asked == [["cost", "region", "unit price"]]
    assert encoder.asked == ["cost", "unit price", "fee"]
    assert found["lake/a"].keys() == {"unitPrice", "region"}


def test_other_bounds_match_otherwise():
    matcher = HeaderMatcher(Angles(), ENGLISH).among(1, 0.0)
    assert matcher.matched_columns(["fee"], TABLES) == {
        "lake/a": {"unitPrice": cosine(10)},
        "lake/b": {},
    }


@pytest.mark.parametrize(("mentions", "tables"), [([], TABLES), (["fee"], {"lake/a": ["#"]})])
def test_nothing_is_embedded_where_nothing_can_match(mentions, tables):
    encoder = Angles()
    matcher = HeaderMatcher(encoder, ENGLISH)
    assert matcher.matched_columns(mentions, tables) == {one: {} for one in tables}
    assert encoder.asked == []
