"""Packing: fixed cases with words as tokens, and properties with the real tokenizer."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pneuma_assets.core.config.models import EncoderConfig
from pneuma_assets.core.describe.packing import pack_blocks
from pneuma_assets.core.models.encoder.encoder import open_encoder
from pneuma_assets.core.tables import Document, DocumentKind
from pneuma_assets.core.text.safe import well_formed
from pneuma_assets.core.text.sentences import split_text
from tests.support.word_encoder import WordEncoder

ROWS, CONTEXT = DocumentKind.ROWS, DocumentKind.CONTEXT
MINILM = open_encoder(EncoderConfig())


def rows(*texts, table="lake/t"):
    return [Document(table, ROWS, text) for text in texts]


@pytest.mark.parametrize(
    ("texts", "blocks"),
    [
        ([], []),
        (["a b c"], ["a b c"]),
        (["a b", "c d", "e f"], ["a b\nc d", "e f"]),
        (["a b c d", "e"], ["a b c d", "e"]),
        (["a", "b c d e", "f"], ["a", "b c d e", "f"]),
        (["a b c d e f"], ["a b c d", "e f"]),
        (["a b c | d e f"], ["a b c |", "d e f"]),
        (["a b.\nc d e"], ["a b.", "c d e"]),
        (["x x x x", "x x x x"], ["x x x x"]),
        (["", "  \n", "a"], ["a"]),
        (["  a b  "], ["a b"]),
        (["a \ud800 b"], ["a ? b"]),
    ],
)
def test_packing(texts, blocks):
    packed = pack_blocks(rows(*texts), WordEncoder(window=4))
    assert [block.text for block in packed] == blocks


def test_tables_and_kinds_are_kept_apart():
    documents = [
        Document("lake/t", ROWS, "a"),
        Document("lake/u", ROWS, "b"),
        Document("lake/t", CONTEXT, "c"),
        Document("lake/t", ROWS, "d"),
    ]
    packed = pack_blocks(documents, WordEncoder())
    assert [(block.table_id, block.kind, block.text) for block in packed] == [
        ("lake/t", ROWS, "a\nd"),
        ("lake/u", ROWS, "b"),
        ("lake/t", CONTEXT, "c"),
    ]


def test_equal_blocks_of_two_tables_stay_two():
    assert len(pack_blocks(rows("a") + rows("a", table="lake/u"), WordEncoder())) == 2


class JoiningEncoder(WordEncoder):
    """Reads three more tokens at a line break, but only between these two words."""

    def token_spans(self, texts):
        extra = [[(text.find("\n"), text.find("\n") + 1)] * 3 * ("q\nr" in text) for text in texts]
        spans = super().token_spans(texts)
        return [sorted(one + more) for one, more in zip(spans, extra, strict=True)]


def test_texts_of_more_tokens_than_the_window_are_split_or_passed_over():
    encoder = JoiningEncoder(window=4)
    packed = pack_blocks(rows("p q", "r s"), encoder)
    texts = [block.text for block in packed]
    assert all(len(spans) <= 4 for spans in encoder.token_spans(texts))
    assert " ".join(texts).split() == ["p", "q", "r", "s"]
    spans = [(0, 1), (1, 2), (1, 2), (1, 2), (2, 3)]
    assert split_text("a🙂b", spans, 2) == ["a", "🙂", "b"]
    assert split_text("🙂", [(0, 1)] * 3, 2) == ["🙂"]


hostile = st.one_of(
    st.text(max_size=400),
    st.text("abc |\n.\x00\u0301\u200b漢字🙂👩\u200d🚀e\u0308ﬁİß\t\u3000-_'", max_size=2000),
    st.builds(lambda part, times: part * times, st.text(max_size=8), st.integers(1, 400)),
)


@settings(max_examples=80, deadline=None)
@given(st.lists(hostile, max_size=12))
def test_blocks_fit_the_window_and_lose_no_text(texts):
    packed = pack_blocks(rows(*texts), MINILM)
    spans = MINILM.token_spans([block.text for block in packed])
    assert all(0 < len(one) <= MINILM.window for one in spans)
    assert len({block.block_id for block in packed}) == len(packed)
    cleaned = [well_formed(text).strip() for text in texts]
    seen = zip(cleaned, MINILM.token_spans(cleaned), strict=True)
    said = squeezed("".join(text for text, tokens in seen if tokens))
    assert is_made_of(said, {squeezed(block.text) for block in packed})


@settings(max_examples=80, deadline=None)
@given(hostile, st.integers(1, 60))
def test_parts_joined_are_the_text_again(text, window):
    spans = MINILM.token_spans([text])[0]
    parts = split_text(text, spans, window)
    assert "".join(parts) == text
    assert all(parts) or not text


@pytest.mark.parametrize(
    ("unit", "characters"),
    [
        ("x", 1_000_000),
        ("word ", 100_000),
        ("漢", 100_000),
        ("🙂", 100_000),
        ("e\u0301", 100_000),
        ("a-", 100_000),
        ("\x00a", 1_000_000),
        ("\u200b", 1_000_000),
    ],
)
def test_a_long_text_takes_linear_time(unit, characters):
    text = unit * (characters // len(unit))
    packed = pack_blocks(rows(text), MINILM)  # a quadratic way would not end in the suite's limit
    assert all(squeezed(block.text) in squeezed(text) for block in packed)
    assert bool(packed) == bool(MINILM.token_spans([text])[0])


def squeezed(text: str) -> str:
    """Without whitespace, which packing may drop or add."""
    return re.sub(r"\s", "", text)


def is_made_of(text: str, parts: set[str]) -> bool:
    """Whether the text is a sequence of these parts; equal blocks were stored once."""
    reached = {0}
    for start in range(len(text)):
        if start in reached:
            reached |= {start + len(part) for part in parts if text.startswith(part, start)}
    return len(text) in reached
