"""What the evidence of tables costs: bytes, time to write, and time of a question.

Real tables (FeTaQA, TabFact) with all of their rows, their documents packed as indexing packs
them; vectors are made. A question asks for 50 blocks a side and 50 tables a field, and for the
scores of all tables that any of them proposed.
"""

from argparse import Namespace
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from time import perf_counter, sleep

import numpy as np
from elasticsearch import Elasticsearch

from pneuma_assets.core.config.elasticsearch import ElasticsearchConfig
from pneuma_assets.core.config.indexing import SamplingConfig
from pneuma_assets.core.config.models import EncoderConfig
from pneuma_assets.core.describe.packing import pack_blocks
from pneuma_assets.core.index.base import IndexQuery, SearchIndex, TableContents
from pneuma_assets.core.index.elastic.engine import ElasticsearchIndex
from pneuma_assets.core.models.encoder.encoder import open_encoder
from pneuma_assets.core.search.signals import proposed_tables
from pneuma_assets.core.tables import EmbeddedBlock, TableTerms, Vector
from pneuma_bench.experiments.elasticsearch.asking import PROPOSED
from pneuma_bench.experiments.elasticsearch.server import Meter, counted_requests, drop, settle
from pneuma_bench.experiments.support.corpus import DIMENSION
from pneuma_bench.retrieval import RetrievalSet, read_set, table_documents

SETS = ("fetaqa_dev", "tabfact_val")
QUESTIONS_A_SET = 100
_WARM_UP = 50
_SIZE_KEPT = 11.0
"""Seconds; the server tells sizes that are up to ten seconds old."""
_HEADER = (
    "| tables | rows | evidence | written s, cpu | MB | merged MB "
    "| tables scored | p50 ms | p95 ms | cpu ms, own + server | requests |\n|" + " --- |" * 11
)


def compare_evidence(client: Elasticsearch, name: str, options: Namespace) -> None:
    """Print a line without evidence and one with it, for the same tables and questions."""
    sets = [read_set(options.data, one) for one in SETS]
    whole = _contents(sets)
    texts = [text for one in sets for text in one.questions[:QUESTIONS_A_SET]]
    asked = list(zip(texts, _vectors(len(texts)), strict=True))
    print("", _HEADER, sep="\n", flush=True)
    bare = {i: replace(contents, evidence=TableTerms()) for i, contents in whole.items()}
    for label, tables in (("no", bare), ("yes", whole)):
        queries = [IndexQuery(t, v, t if label == "yes" else None) for t, v in asked]
        config = ElasticsearchConfig(urls=(options.url,), name=f"{name}-{label}")
        with closing(ElasticsearchIndex(config, "made", DIMENSION)) as index:
            _report(client, label, index, tables, queries)
        drop(client, config.name)


def _report(
    client: Elasticsearch,
    label: str,
    index: SearchIndex,
    tables: Mapping[str, TableContents],
    queries: Sequence[IndexQuery],
) -> None:
    written = Meter(client)
    with written.running():
        index.replace_tables(tables)
        settle(client)
    sizes = [_megabytes(index)]
    index.optimise()
    settle(client)
    sizes.append(_megabytes(index))
    for query in queries[:_WARM_UP]:
        _ask(index, query)
    meter, times, scored = Meter(client), [], []
    with meter.running(), counted_requests() as sent:
        for query in queries:
            start = perf_counter()
            scored.append(_ask(index, query))
            times.append((perf_counter() - start) * 1000)
    p50, p95 = np.percentile(times, [50, 95])
    own, server = (part / len(queries) * 1000 for part in (meter.own_cpu, meter.server_cpu))
    rows = sum(len(contents.evidence.rows) for contents in tables.values())
    print(
        f"| {len(tables):,} | {rows:,} | {label} | {written.wall:.1f}, {written.cpu:.1f} "
        f"| {sizes[0]:.1f} | {sizes[1]:.1f} | {np.median(scored):.0f} | {p50:.1f} | {p95:.1f} "
        f"| {own:.1f} + {server:.1f} | {sum('_msearch' in one for one in sent) / len(queries):g} |",
        flush=True,
    )


def _megabytes(index: SearchIndex) -> float:
    sleep(_SIZE_KEPT)
    return index.info().size_bytes / 1e6


def _ask(index: SearchIndex, query: IndexQuery) -> int:
    """Ask as a question does; return how many tables were scored."""
    (side,) = index.search([query], PROPOSED)
    (scores,) = index.table_scores([query], [proposed_tables(side)])
    return len(scores)


def _contents(sets: Sequence[RetrievalSet]) -> dict[str, TableContents]:
    encoder = open_encoder(EncoderConfig())  # says how much fits a block
    documents = [
        document
        for one in sets
        for table, rows in one.tables
        for document in table_documents(table, rows, SamplingConfig())
    ]
    blocks = pack_blocks(documents, encoder)
    of_table: dict[str, list[EmbeddedBlock]] = {}
    for block, vector in zip(blocks, _vectors(len(blocks)), strict=True):
        of_table.setdefault(block.table_id, []).append(EmbeddedBlock(block, vector))
    return {
        table.table_id: TableContents(
            of_table.get(table.table_id, []),
            TableTerms(
                names=tuple(table.table_id.split("/")),
                columns=tuple(column.name for column in table.columns),
                rows=tuple(tuple(None if c is None else str(c) for c in row) for row in rows),
            ),
        )
        for one in sets
        for table, rows in one.tables
    }


def _vectors(count: int) -> Vector:
    drawn = np.random.default_rng(0).standard_normal((count, DIMENSION), dtype=np.float32)
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
