"""As many tables as were asked for, on either engine, in as few requests as that takes."""

from contextlib import closing

import pytest

from pneuma_assets.core.config.elasticsearch import ElasticsearchConfig
from pneuma_assets.core.index.elastic.engine import ElasticsearchIndex
from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from pneuma_assets.core.search.query import QueryEngine
from pneuma_assets.core.tables import Block, DocumentKind, EmbeddedBlock
from tests.support.index_blocks import replace_blocks
from tests.support.word_encoder import WordEncoder

pytestmark = pytest.mark.integration

ENCODER = WordEncoder()
TABLES, HOARD = 8, 150


@pytest.fixture(params=["embedded", pytest.param("elasticsearch", marks=pytest.mark.slow)])
def index(request, tmp_path):
    """Seven small tables, and one whose documents fill all places of a question for years."""
    if request.param == "embedded":
        opened = EmbeddedIndex(tmp_path, ENCODER.name, ENCODER.dimension)
    else:
        url, name = map(request.getfixturevalue, ("elasticsearch_url", "index_name"))
        config = ElasticsearchConfig(urls=(url,), name=name)
        opened = ElasticsearchIndex(config, ENCODER.name, ENCODER.dimension)
    texts = {f"lake/t{n}": [f"year | sales of region {n} | amount"] for n in range(TABLES - 1)}
    texts["lake/hoard"] = [f"year year year {number}" for number in range(HOARD)]
    with closing(opened):
        replace_blocks(opened, {i: embedded(i, texts[i]) for i in texts})
        yield opened


def embedded(table_id: str, texts: list[str]) -> list[EmbeddedBlock]:
    blocks = [Block(table_id, DocumentKind.CONTEXT, text) for text in texts]
    return list(map(EmbeddedBlock, blocks, ENCODER.encode_documents(texts)))


def test_one_tables_documents_hide_no_other(index):
    engine = QueryEngine(index, ENCODER)
    for k in (3, TABLES):
        found = engine.ask("year", k=k, n=2)
        assert len({result.table_id for result in found}) == k
    assert [r.table_id for r in engine.ask("year", k=3, n=2)] == [
        r.table_id for r in engine.ask("year", k=3, n=100)
    ]
    assert len(engine.ask("year", k=100, n=1)) == TABLES


@pytest.mark.parametrize("index", ["elasticsearch"], indirect=True)
@pytest.mark.parametrize(
    ("alpha", "requests"),
    [
        (0.5, 2),  # one for the blocks, one for what either side lacks
        (None, 5),  # for the proposals, the scores, facts in two, and what is shown
    ],
)
def test_a_question_that_meets_enough_tables_takes_few_requests(
    index, monkeypatch, alpha, requests
):
    send, sent = index._client.msearch, []

    def msearch(**options: object) -> object:
        sent.append(options)
        return send(**options)

    monkeypatch.setattr(index._client, "msearch", msearch)
    engine = QueryEngine(index, ENCODER)
    assert len(engine.ask("sales and amount of region 3", k=3, n=1, alpha=alpha)) == 3
    assert len(sent) == requests
