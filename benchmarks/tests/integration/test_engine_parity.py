"""Both engines give the same answers to the same questions.

What little parts them is that Elasticsearch adds in float32 and searches its vectors
approximately.
"""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

from pneuma_assets.core.config.elasticsearch import ElasticsearchConfig
from pneuma_assets.core.config.models import EncoderConfig
from pneuma_assets.core.config.small_sections import SamplingConfig
from pneuma_assets.core.index.base import Hit, IndexQuery
from pneuma_assets.core.index.elastic.engine import ElasticsearchIndex
from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from pneuma_assets.core.models.encoder.encoder import open_encoder
from pneuma_assets.core.search.query import QueryEngine
from pneuma_assets.core.search.signals import proposed_tables
from pneuma_assets.core.sources.base import Row
from pneuma_assets.core.tables import Table, TableTerms
from pneuma_assets.core.terms.fields import Field
from pneuma_bench.reading import read_set
from pneuma_bench.retrieval import index_set
from pneuma_bench.sets import RetrievalSet

DATA = Path(__file__).resolve().parents[3].parent / "shared/data/retrieval"
TABLES = 300
QUESTIONS = 60
CANDIDATES = 50
ROWS = 10
"""Of a table, kept whole; of the others, the cells."""
NAMES = ["tabfact val", "html csv"]
"""Short enough to be looked for as names."""

BM25_TOLERANCE = 1e-5
"""Relative; Elasticsearch adds in float32."""
COSINE_TOLERANCE = 1e-5
NEAREST = 0.995
"""Share of the nearest blocks that the approximate search must find, over all questions."""
SAME_FIRST = 0.98
"""Share of the questions whose first table must be the same."""
SHARED = 0.995
"""Share of the ten tables that both must have, over all questions."""

pytestmark = [
    pytest.mark.integration,
    pytest.mark.slow,
    pytest.mark.skipif(not DATA.is_dir(), reason=f"the retrieval sets are not in {DATA}"),
]


class Asked(NamedTuple):
    """A set of tables in the embedded engine, the encoder that embedded them, and questions."""

    index: EmbeddedIndex
    encoder: object
    questions: list[str]


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """The first tables of TabFact, and the first questions of it."""
    whole = read_set(DATA, "tabfact_val")
    part = RetrievalSet(whole.name, whole.tables[:TABLES], [], [])
    encoder = open_encoder(EncoderConfig())
    folder = tmp_path_factory.mktemp("embedded")
    with closing(EmbeddedIndex(folder, encoder.name, encoder.dimension)) as index:
        index_set(index, encoder, part, SamplingConfig())
        kept = dict(index.contents())
        index.replace_tables(
            {
                table.table_id: replace(kept[table.table_id], evidence=evidence_of(table, rows))
                for table, rows in part.tables
            }
        )
        yield Asked(index, encoder, list(whole.questions[:QUESTIONS]))


@pytest.fixture(params=[1, 3], ids=["one shard", "three shards"])
def elastic(request, asked, elasticsearch_url, index_name):
    """The same blocks and vectors in Elasticsearch."""
    config = ElasticsearchConfig(urls=(elasticsearch_url,), name=index_name, shards=request.param)
    info = asked.index.info()
    with closing(ElasticsearchIndex(config, info.encoder, info.dimension)) as index:
        index.replace_tables(dict(asked.index.contents()))
        yield index


def evidence_of(table: Table, rows: Sequence[Row]) -> TableTerms:
    """Return a table's names, some of its rows, and the cells of the others."""
    texts = [tuple(None if cell is None else str(cell) for cell in row) for row in rows]
    others = dict.fromkeys(cell for row in texts[ROWS:] for cell in row if cell)
    columns = tuple(column.name for column in table.columns)
    return TableTerms((table.table_id,), columns, "", "", tuple(texts[:ROWS]), tuple(others))


def test_both_engines_give_the_same_scores(asked, elastic):
    vectors = asked.encoder.encode_queries(asked.questions)
    queries = list(map(IndexQuery, asked.questions, vectors))
    sides = asked.index.search(queries, CANDIDATES)
    wanted = [
        sorted({hit.block.block_id for hit in (*side.lexical, *side.semantic)}) for side in sides
    ]
    ours, theirs = (index.scores(queries, wanted) for index in (asked.index, elastic))
    for embedded, other in zip(ours, theirs, strict=True):
        assert embedded.keys() == other.keys()
        for block_id, scores in embedded.items():
            lexical = pytest.approx(scores.lexical, rel=BM25_TOLERANCE)
            semantic = pytest.approx(scores.semantic, abs=COSINE_TOLERANCE)
            assert other[block_id].lexical == lexical
            assert other[block_id].semantic == semantic


def test_both_engines_find_the_nearest_blocks(asked, elastic):
    vectors = asked.encoder.encode_queries(asked.questions)
    queries = [IndexQuery(None, vector) for vector in vectors]
    found, exact = (
        [
            {hit.block.block_id for hit in side.semantic}
            for side in index.search(queries, CANDIDATES)
        ]
        for index in (elastic, asked.index)
    )
    shared = sum(len(ours & theirs) for ours, theirs in zip(found, exact, strict=True))
    assert shared >= NEAREST * CANDIDATES * QUESTIONS


def test_both_engines_give_back_the_same_evidence(asked, elastic):
    ids = list(asked.index.list_tables())
    ours, theirs = (index.evidence(ids) for index in (asked.index, elastic))
    assert ours == theirs
    assert all(one.rows for one in ours.values())


def test_both_engines_find_the_same_evidence(asked, elastic):
    queries = [IndexQuery(None, None, question) for question in [*asked.questions, *NAMES]]
    ours, theirs = (index.search(queries, CANDIDATES) for index in (asked.index, elastic))
    assert {field for side in ours for field in side.fields} == set(Field)
    for embedded, other in zip(ours, theirs, strict=True):
        assert embedded.fields.keys() == other.fields.keys()
        for field, hits in embedded.fields.items():
            scores = [hit.score for hit in hits]
            found = other.fields[field]
            assert [hit.score for hit in found] == pytest.approx(scores, rel=BM25_TOLERANCE)
            inside = {h.table_id for h in hits if h.score > scores[-1] * (1 + BM25_TOLERANCE)}
            assert inside <= {hit.table_id for hit in found}


def test_both_engines_give_tables_the_same_scores(asked, elastic):
    texts = [*asked.questions, *NAMES]
    queries = list(map(IndexQuery, texts, asked.encoder.encode_queries(texts), texts))
    wanted = list(map(proposed_tables, asked.index.search(queries, CANDIDATES)))
    pairs = [
        (one, other[table_id])
        for ours, other in zip(
            asked.index.table_scores(queries, wanted),
            elastic.table_scores(queries, wanted),
            strict=True,
        )
        for table_id, one in ours.items()
    ]
    assert len(pairs) == sum(map(len, wanted))
    for ours, theirs in pairs:
        assert theirs.fields == pytest.approx(ours.fields, rel=BM25_TOLERANCE)
        assert (ours.row is None) == (theirs.row is None)
        assert score_of(theirs.lexical) == pytest.approx(score_of(ours.lexical), rel=BM25_TOLERANCE)
        near = pytest.approx(score_of(ours.semantic), abs=COSINE_TOLERANCE)
        assert score_of(theirs.semantic) == near
    assert sum(ours.row == theirs.row for ours, theirs in pairs) >= SAME_FIRST * len(pairs)


def score_of(hit: Hit | None) -> float:
    return 0.0 if hit is None else hit.score


def test_both_engines_rank_the_same_tables(asked, elastic):
    ours, theirs = (
        [
            [result.table_id for result in results]
            for results in QueryEngine(index, asked.encoder).ask_many(asked.questions)
        ]
        for index in (asked.index, elastic)
    )
    pairs = list(zip(ours, theirs, strict=True))
    assert [len(one) for one in ours] == [len(other) for other in theirs] == [10] * QUESTIONS
    assert sum(one[0] == other[0] for one, other in pairs) >= SAME_FIRST * QUESTIONS
    assert sum(len({*one} & {*other}) for one, other in pairs) >= SHARED * 10 * QUESTIONS
