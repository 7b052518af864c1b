"""Evidence in Elasticsearch: its requests, its damages, and indices that have none yet."""

import re
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from pneuma_assets.core.config.index import IndexConfig
from pneuma_assets.core.errors import IndexDamagedError
from pneuma_assets.core.index.base import (
    MAX_VALUES,
    IndexFilter,
    IndexQuery,
    TableContents,
    TableScores,
)
from pneuma_assets.core.index.elastic import queries, search
from pneuma_assets.core.index.elastic.mapping import FORMAT
from pneuma_assets.core.index.registry import open_index
from pneuma_assets.core.search.query import QueryEngine
from pneuma_assets.core.tables import Block, DocumentKind, EmbeddedBlock, TableFacts, TableTerms
from pneuma_assets.core.terms.fields import Field
from tests.support.elasticsearch_index import opener
from tests.support.elasticsearch_server import client_of
from tests.support.index_blocks import embedded, replace_blocks
from tests.support.versioned_tables import DIMENSION, ENCODER, table_version, unit_vector
from tests.support.word_encoder import WordEncoder

pytestmark = [pytest.mark.integration, pytest.mark.slow]

SCORED = {*Field} - {Field.HEADERS}

RIVERS = TableTerms(
    ("lake", "lake_river_danube_delta"),
    ("river",),
    rows=(("Danube delta",), ("?",), ("Rhine",)),
    cells=("Elbe",),
)


@pytest.fixture
def open_elastic(elasticsearch_url, index_name):
    with opener((elasticsearch_url,), index_name, ENCODER, DIMENSION, replicas=0) as opening:
        yield opening


@pytest.fixture
def client(elasticsearch_url):
    with client_of(elasticsearch_url) as connected:
        yield connected


def asking(text: str) -> IndexQuery:
    return IndexQuery(text, unit_vector(text), text)


@pytest.mark.parametrize("questions", [1, 20])
def test_a_question_takes_one_request_and_its_scores_another(open_elastic, monkeypatch, questions):
    index = open_elastic()
    tables = {f"s/{n}": TableContents(table_version(f"s/{n}", 1), RIVERS) for n in range(9)}
    index.replace_tables(tables)
    perform, sent = index._client.transport.perform_request, []

    def counted(*args: object, **options: object) -> object:
        sent.append(args[1])
        return perform(*args, **options)

    monkeypatch.setattr(index._client.transport, "perform_request", counted)
    queries = [asking("lake river Danube delta")] * questions
    for hits in index.search(queries, 5):
        assert hits.fields.keys() == SCORED
    for scores in index.table_scores(queries, [list(tables)] * questions):
        assert len(scores) == len(tables)
        assert all(one.fields.keys() == SCORED and one.row == 0 for one in scores.values())
        assert all(one.lexical and one.semantic for one in scores.values())
    assert sent == ["/_msearch", "/_msearch"]


def test_a_search_sends_as_many_requests_as_the_documentation_says(
    elasticsearch_url, index_name, monkeypatch
):
    page = Path(__file__).parents[2] / "docs" / "elasticsearch.md"
    (bounds,) = re.findall(r"A search sends (\d+) to (\d+) requests", page.read_text("utf-8"))
    texts = {f"lake/f{n % 3}/{n}": f"river {n % 7} of lake {n % 5}, word{n}" for n in range(40)}
    blocks = [Block(table_id, DocumentKind.CONTEXT, text) for table_id, text in texts.items()]
    at = (elasticsearch_url,), index_name, WordEncoder.name, WordEncoder.dimension
    with opener(*at, replicas=0) as opening:
        index, sent = opening(), []
        replace_blocks(index, embedded(blocks))
        perform = index._client.transport.perform_request

        def counted(*args: object, **options: object) -> object:
            sent.append(args[1])
            return perform(*args, **options)

        engine = QueryEngine(index, WordEncoder())
        engine.ask("the first one, which looks at the index")
        monkeypatch.setattr(index._client.transport, "perform_request", counted)
        for question in ("river", "river 3 of lake 4", "word7 of the lakes", "quuxly"):
            sent.clear()
            assert engine.ask(question)
            assert int(bounds[0]) <= len(sent) <= int(bounds[1]), question


def test_a_question_as_long_as_a_page_is_answered(open_elastic):
    index = open_elastic(shards=2)
    index.replace_tables({"s/t": TableContents((), RIVERS)})
    query = IndexQuery(None, None, " ".join(f"w{n} Rhine" for n in range(5_000)))
    (hits,) = index.search([query], 5)
    assert hits.fields.keys() == {Field.VALUES, Field.CELLS, Field.ROWS}


def test_crowded_tables_hide_no_tables_nearest_block(open_elastic, monkeypatch):
    """One search ranks so many blocks, and those of one table may be the nearest of all."""
    index = open_elastic(quantization="none")
    near, wanted = unit_vector("near"), unit_vector("far")
    crowd = [EmbeddedBlock(Block("s/crowd", DocumentKind.ROWS, f"{n}"), near) for n in range(12)]
    others = {
        f"s/{n}": [EmbeddedBlock(Block(f"s/{n}", DocumentKind.ROWS, f"{n}"), wanted)]
        for n in range(6)
    }
    tables = {"s/crowd": crowd, **others, "s/none": []}
    index.replace_tables({i: TableContents(blocks) for i, blocks in tables.items()})
    for module in (queries, search):
        monkeypatch.setattr(module, "MAX_CANDIDATES", 10)
    query = IndexQuery(None, near)
    (scores,) = index.table_scores([query], [list(tables)])
    assert scores.keys() == tables.keys()
    assert scores.pop("s/none") == TableScores()
    assert scores["s/crowd"].semantic.score == pytest.approx(1.0, abs=1e-5)
    for table_id in others:
        cosine = float(np.dot(near, wanted))
        assert scores[table_id].semantic.score == pytest.approx(cosine, abs=1e-5)


@pytest.mark.parametrize("lost", ["evidence-1", "row2-1"])
def test_a_lost_document_is_noticed(open_elastic, client, index_name, lost):
    index = open_elastic()
    index.replace_tables({"s/t": TableContents((), RIVERS)})
    assert dict(index.contents())["s/t"].evidence == RIVERS
    client.delete(index=f"{index_name}-000001", id=lost, refresh=True)
    with pytest.raises(IndexDamagedError, match=r"'s/t' has \d .*evidence.*--rebuild"):
        list(index.contents())


@pytest.mark.parametrize("readers", [None, ("ana",)])
def test_all_tables_of_a_value_are_told_however_many_a_page_holds(
    open_elastic, monkeypatch, readers
):
    index = open_elastic(shards=2)
    elbe = TableTerms(cells=("Elbe",))
    tables = {
        f"s/{n}": TableContents((), RIVERS if n % 2 else elbe, TableFacts(("ana",)))
        for n in range(23)
    }
    index.replace_tables({**tables, "s/none": TableContents((), elbe, TableFacts(()))})
    monkeypatch.setattr(search, "MAX_CANDIDATES", 5)
    monkeypatch.setattr(search, "MAX_CLAUSES", 2)
    odd = tuple(sorted(f"s/{n}" for n in range(1, 23, 2)))
    of_all = tuple(sorted([*tables, "s/none"] if readers is None else tables))
    values = ["rhine", "Danube Delta", "Main", "ELBE"]
    assert index.holding(values, IndexFilter(readers=readers)) == {
        "rhine": odd,
        "Danube Delta": odd,
        "Main": (),
        "ELBE": of_all,
    }


def test_values_take_one_request_and_nothing_to_look_up_none(open_elastic, monkeypatch):
    index = open_elastic()
    index.replace_tables({"s/t": TableContents((), RIVERS)})
    perform, sent = index._client.transport.perform_request, []

    def counted(*args: object, **options: object) -> object:
        sent.append(args[1])
        return perform(*args, **options)

    monkeypatch.setattr(index._client.transport, "perform_request", counted)
    values = [f"v{n}" for n in range(MAX_VALUES - 1)]
    assert index.holding([*values, "Elbe"])["Elbe"] == ("s/t",)
    assert sent == ["/_msearch"]
    assert index.holding(["", "?!"]) == {"": (), "?!": ()}
    assert index.holding(["Elbe"], IndexFilter(kinds=(DocumentKind.NAMES,))) == {"Elbe": ()}
    assert sent == ["/_msearch"]


def test_an_index_of_another_format_is_refused(client, elasticsearch_url, index_name, tmp_path):
    settings = {"urls": [elasticsearch_url], "name": index_name, "replicas": 0}
    config = IndexConfig.model_validate({"engine": "elasticsearch", "elasticsearch": settings})
    open_index(config, tmp_path, ENCODER, DIMENSION, building=True).close()
    (index,) = client.indices.get(index=index_name)
    described = client.indices.get_mapping(index=index)[index]["mappings"]["_meta"]
    client.indices.put_mapping(index=index, meta={**described, "format": 99})
    with (
        pytest.raises(IndexDamagedError, match=rf"\(format 99, this is {FORMAT}\).*--rebuild"),
        closing(open_index(config, tmp_path, ENCODER, DIMENSION)) as opened,
    ):
        opened.list_tables()
