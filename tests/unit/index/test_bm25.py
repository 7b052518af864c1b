import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pneuma_assets.core.index.embedded.bm25 import (
    Bm25,
    Postings,
    count_terms,
    lucene_lengths,
    term_key,
)
from tests.support.lucene_bm25 import rounded_length

TEXTS = st.lists(st.lists(st.sampled_from("abcdef"), max_size=8), max_size=12)


def postings(texts, base=0):
    """Index lists of terms as consecutive rows from `base`."""
    counted = [count_terms(terms) for terms in texts]
    rows = np.repeat(np.arange(len(texts), dtype=np.int32), [len(keys) for keys, _ in counted])
    return Postings.build(
        np.concatenate([np.empty(0, np.uint64)] + [keys for keys, _ in counted]),
        rows + np.int32(base),
        np.concatenate([np.empty(0, np.uint16)] + [counts for _, counts in counted]),
        len(texts),
    )


def lengths(texts):
    return np.array([len(terms) for terms in texts], np.int32)


def found(part, term):
    nothing = np.empty(0, np.int32), np.empty(0, np.uint16)
    rows, counts = part.find(np.array([term_key(term)], np.uint64)).get(0, nothing)
    return dict(zip(rows.tolist(), counts.tolist(), strict=True))


def test_a_terms_key_never_changes():
    assert term_key("lake") == 0x2AEDF8BBDFEC2555


@given(TEXTS, st.integers(0, 12))
def test_merging_is_building_at_once(texts, cut):
    whole = postings(texts)
    merged = Postings.merge([postings(texts[:cut]), postings(texts[cut:], len(texts[:cut]))])
    assert merged.row_count == len(texts)
    assert [found(merged, term) for term in "abcdefg"] == [found(whole, t) for t in "abcdefg"]


@given(TEXTS, st.data())
def test_dead_rows_and_segments_leave_no_trace(texts, data):
    alive = np.array(
        data.draw(st.lists(st.booleans(), min_size=len(texts), max_size=len(texts))), bool
    )
    cut = data.draw(st.integers(0, len(texts)))
    parts = [postings(texts[:cut]), postings(texts[cut:], len(texts[:cut]))]
    question = ["a", "b", "zebra", "a"]
    scores = Bm25(parts, lengths(texts), alive).score(question)
    living = [terms for terms, lives in zip(texts, alive, strict=True) if lives]
    expected = Bm25([postings(living)], lengths(living), np.ones(len(living), bool)).score(question)
    np.testing.assert_array_equal(scores[alive], expected)
    assert not scores[~alive].any()


def test_blocks_without_words_do_not_count():
    texts = [["a"], ["b", "b"]]
    expected = Bm25([postings(texts)], lengths(texts), np.ones(2, bool)).score(["a"])
    texts.append([])
    scores = Bm25([postings(texts)], lengths(texts), np.ones(3, bool)).score(["a"])
    assert scores.tolist() == [*expected.tolist(), 0.0]


@pytest.mark.parametrize("alive", [[], [False, False]])
def test_nothing_alive_scores_nothing(alive):
    texts = [["a"] for _ in alive]
    scores = Bm25([postings(texts)], lengths(texts), np.array(alive, bool)).score(["a"])
    assert scores.tolist() == [0.0] * len(alive)


def test_lengths_are_rounded_as_lucene_does():
    every = np.concatenate([np.arange(5000), [65_535, 65_536, 1_000_000, 2**31 - 1]])
    expected = [rounded_length(int(length)) for length in every]
    assert lucene_lengths(every.astype(np.int32)).tolist() == expected
    assert expected[23:28] == [23, 24, 25, 26, 27]
    assert (
        max(1 - after / before for before, after in zip(every[1:], expected[1:], strict=True))
        < 1 / 8
    )
