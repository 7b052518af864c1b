"""Tables in the languages of the world are found by their words."""

from contextlib import closing

import pytest

from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from pneuma_assets.core.search.query import QueryEngine
from pneuma_assets.core.tables import Block, DocumentKind, EmbeddedBlock
from pneuma_assets.core.text.analysis import analyzer_named
from tests.support.index_blocks import replace_blocks
from tests.support.multilingual_tables import TABLES
from tests.support.word_encoder import WordEncoder

pytestmark = pytest.mark.integration

ENCODER = WordEncoder()


@pytest.fixture(params=["english", "plain", "german"])
def analyzer(request):
    """English is the default, so every language must do with it."""
    return analyzer_named(request.param)


@pytest.fixture
def index(tmp_path, analyzer):
    vectors = ENCODER.encode_documents([one.text for one in TABLES])
    blocks = {
        one.table_id: [EmbeddedBlock(Block(one.table_id, DocumentKind.ROWS, one.text), vector)]
        for one, vector in zip(TABLES, vectors, strict=True)
    }
    known = ENCODER.name, ENCODER.dimension
    with closing(EmbeddedIndex(tmp_path, *known, analyzer=analyzer)) as opened:
        replace_blocks(opened, blocks)
        yield opened


def test_each_question_finds_its_table_by_words_alone(index, analyzer):
    engine = QueryEngine(index, ENCODER, analyzer=analyzer)
    answers = engine.ask_many([one.question for one in TABLES], k=1, alpha=1.0)
    missed = [
        (one.table_id, [result.table_id for result in answer])
        for one, answer in zip(TABLES, answers, strict=True)
        if [result.table_id for result in answer] != [one.table_id]
    ]
    assert missed == []
