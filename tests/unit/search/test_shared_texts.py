"""Texts that many tables share: they crowd nobody out, weigh less, and break their own ties."""

from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pneuma_assets.core.config.query import QueryOptions, Weights
from pneuma_assets.core.index.base import Hit, SideHits, TableScores
from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from pneuma_assets.core.search.query import QueryEngine
from pneuma_assets.core.search.retrieve import Candidates, rank
from pneuma_assets.core.search.signals import rank_tables
from pneuma_assets.core.tables import Block, DocumentKind
from tests.support.index_blocks import embedded, replace_blocks
from tests.support.word_encoder import WordEncoder

ROWS, CONTEXT = DocumentKind.ROWS, DocumentKind.CONTEXT
README = "Herring landings of the harbour office, ships and fees."
TWO_SIDES = QueryOptions(alpha=0.5, n=5)
COPIES = 120


@pytest.fixture
def encoder():
    return WordEncoder()


@pytest.fixture
def lake(tmp_path, encoder):
    """Tables of the harbour share a README; each has rows of its own, as other tables have."""
    with closing(EmbeddedIndex(tmp_path / "index", encoder.name, encoder.dimension)) as index:

        def fill(tables: dict[str, list[str]], copies: int = COPIES) -> EmbeddedIndex:
            blocks = [Block(i, ROWS, text) for i, texts in tables.items() for text in texts]
            shared = [f"harbour/t{number:03}" for number in range(copies)]
            blocks += [Block(i, CONTEXT, README) for i in shared]
            blocks += [Block(i, ROWS, f"berth {i[-3:]}") for i in shared if i not in tables]
            replace_blocks(index, embedded(blocks))
            return index

        yield fill


def ids(results):
    return [result.table_id for result in results]


def test_copies_push_no_other_table_out(lake, encoder):
    """The only other table that speaks of herring stood behind 120 copies for 10 places."""
    index = lake({"sea/catch": ["herring caught by ship"]})
    found = ids(
        QueryEngine(index, encoder, defaults=TWO_SIDES).ask("herring landings of ships", k=10)
    )
    assert "sea/catch" in found
    assert len(found) == 10


def test_tables_that_share_the_best_text_are_ordered_by_their_own(lake, encoder):
    index = lake({"harbour/t099": ["fees of berths in gold"], "harbour/t050": ["gold"]})
    found = ids(QueryEngine(index, encoder, defaults=TWO_SIDES).ask(README + " Fees in gold?", k=3))
    assert found[:2] == ["harbour/t099", "harbour/t050"]


def test_a_shared_text_weighs_less_than_an_own_one(lake, encoder):
    index = lake({"sea/catch": [README[:-1] + " too."]})
    found = QueryEngine(index, encoder, defaults=TWO_SIDES).ask(README, k=2)
    assert found[0].table_id == "sea/catch"
    assert found[1].parts.lexical == found[1].parts.semantic == 1.0
    assert found[1].parts.tables == COPIES
    assert found[0].parts.tables == 1
    assert found[1].score < found[0].score < 1.0


def test_within_one_table_its_text_is_its_own(lake, encoder):
    index = lake({}, copies=1)
    (found,) = QueryEngine(index, encoder, defaults=TWO_SIDES).ask(README)
    assert (found.score, found.parts.tables) == (1.0, 1)


def hits(texts: dict[str, list[str]], scores: dict[str, float]) -> list[Hit]:
    return [
        Hit(Block(table, ROWS, text), scores[text])
        for text, tables in texts.items()
        for table in tables
    ]


shares = st.dictionaries(
    st.sampled_from("abcdefgh"),
    st.sets(st.sampled_from(["t/1", "t/2", "t/3", "t/4", "t/5"]), min_size=1),
    min_size=1,
)
numbers = st.floats(0.0, 100.0, allow_nan=False)


@given(shares, st.data(), st.floats(0.0, 1.0))
def test_the_more_tables_share_a_text_the_less_it_weighs(texts, data, alpha):
    sides = [hits(texts, {text: data.draw(numbers) for text in texts}) for _ in range(2)]
    ranked = rank(Candidates.of(SideHits(*sides)), alpha)
    assert sorted(one.block.text for one in ranked) == sorted(texts)
    for one in ranked:
        assert {block.table_id for block in one.blocks} == texts[one.block.text]
        fused = alpha * one.parts.lexical + (1 - alpha) * one.parts.semantic
        assert one.parts.tables == len(texts[one.block.text])
        assert one.score == pytest.approx(one.parts.weight * fused)
    by_share = sorted(ranked, key=lambda one: one.parts.tables)
    weights = [one.parts.weight for one in by_share]
    assert weights == sorted(weights, reverse=True)
    assert all(0.0 < one.parts.weight <= 1.0 for one in ranked)
    assert all((one.parts.weight == 1.0) == (one.parts.tables == 1) for one in ranked)
    assert [one.score for one in ranked] == sorted((one.score for one in ranked), reverse=True)


@pytest.mark.parametrize(
    ("sharing", "least", "most"), [(1, 0.65, 0.75), (20, 0.4, 0.6), (60, 0.3, 0.5)]
)
def test_the_best_text_counts_for_less_the_more_tables_say_it(sharing, least, most):
    """What the README of a folder answers stood at .92 for each of its tables."""
    hits = [Hit(Block(f"t{number:02}", CONTEXT, README), 0.7) for number in range(sharing)]
    hits += [Hit(Block(f"u{at:02}", ROWS, f"row {at}"), 0.01) for at in range(60 - sharing)]
    found = {hit.block.table_id: TableScores(semantic=hit, lexical=hit, fields={}) for hit in hits}
    weights = Weights(**dict.fromkeys(Weights.model_fields, 0.0) | {"meaning": 1.0})
    first = rank_tables(found, weights, SideHits(lexical=hits, semantic=hits, fields={}))[0]
    assert least <= first.score <= most
