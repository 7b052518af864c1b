"""How often this code's own path, from tables to ranked answers, finds the wanted table."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pneuma_assets.core.bench.metrics import (
    Metric,
    hit_at,
    mean,
    ndcg_at,
    recall_at,
    reciprocal_rank,
)
from pneuma_assets.core.config.indexing import SamplingConfig
from pneuma_assets.core.documents.maker import DrawnRows, NarratedColumns
from pneuma_assets.core.documents.packing import pack_blocks
from pneuma_assets.core.documents.registry import documents_of
from pneuma_assets.core.index.base import SearchIndex, TableContents
from pneuma_assets.core.models.base import Encoder
from pneuma_assets.core.search.query import QueryEngine
from pneuma_assets.core.sources.base import Row
from pneuma_assets.core.sources.positions import sample_positions
from pneuma_assets.core.tables import Block, Column, Document, EmbeddedBlock, Table

_QUESTIONS_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class RetrievalSet:
    """Tables with their rows, and questions with the tables that answer each of them."""

    name: str
    tables: Sequence[tuple[Table, Sequence[Row]]]
    questions: Sequence[str]
    relevant: Sequence[Collection[str]]

    def first(self, questions: int) -> "RetrievalSet":
        """Return the set with its first questions only, and all of its tables."""
        return RetrievalSet(
            self.name, self.tables, self.questions[:questions], self.relevant[:questions]
        )


def read_set(folder: Path, name: str) -> RetrievalSet:
    """Read `name.tables.jsonl` and `name.queries.jsonl`.

    A table is `{"id", "columns": [str], "rows": [[str]]}`, a question
    `{"question", "tables": [id]}`.
    """
    tables = [_table(name, record) for record in _records(folder / f"{name}.tables.jsonl")]
    asked = list(_records(folder / f"{name}.queries.jsonl"))
    return RetrievalSet(
        name,
        tables,
        [record["question"] for record in asked],
        [frozenset(f"{name}/{table}" for table in record["tables"]) for record in asked],
    )


def table_documents(table: Table, rows: Sequence[Row], sampling: SamplingConfig) -> list[Document]:
    """Represent a table as indexing does with narration off: column names and sampled rows."""
    positions = sample_positions(len(rows), sampling.rows, sampling.seed)
    drawn = DrawnRows(table, [rows[position] for position in positions])
    made = [documents_of(NarratedColumns(table, {})), documents_of(drawn)]
    return [document for kinds in made for documents in kinds.values() for document in documents]


def index_set(
    index: SearchIndex, encoder: Encoder, dataset: RetrievalSet, sampling: SamplingConfig
) -> list[Block]:
    """Represent, pack, embed and index every table of a set; return the blocks."""
    documents = [
        document
        for table, rows in dataset.tables
        for document in table_documents(table, rows, sampling)
    ]
    blocks = pack_blocks(documents, encoder)
    vectors = encoder.encode_documents([block.text for block in blocks])
    tables: dict[str, list[EmbeddedBlock]] = {table.table_id: [] for table, _ in dataset.tables}
    for block, vector in zip(blocks, vectors, strict=True):
        tables[block.table_id].append(EmbeddedBlock(block, vector))
    index.replace_tables({i: TableContents(embedded) for i, embedded in tables.items()})
    return blocks


def evaluate(engine: QueryEngine, dataset: RetrievalSet, **options: Any) -> dict[str, float]:
    """Ask every question with these options of `ask_many`; return the mean of each metric."""
    rankings: list[list[str]] = []
    for start in range(0, len(dataset.questions), _QUESTIONS_AT_ONCE):
        answers = engine.ask_many(dataset.questions[start : start + _QUESTIONS_AT_ONCE], **options)
        rankings.extend([result.table_id for result in answer] for answer in answers)
    metrics: dict[str, Metric] = {
        "R@1": partial(recall_at, 1),
        "R@10": partial(recall_at, 10),
        "hit@5": partial(hit_at, 5),
        "MRR": reciprocal_rank,
        "nDCG@10": partial(ndcg_at, 10),
    }
    return {name: mean(metric, rankings, dataset.relevant) for name, metric in metrics.items()}


def _table(source: str, record: Mapping[str, Any]) -> tuple[Table, list[Row]]:
    columns = tuple(Column(name, "VARCHAR") for name in record["columns"])
    width = len(columns)
    rows = [tuple(row[:width]) + (None,) * (width - len(row)) for row in record["rows"]]
    table_id = f"{source}/{record['id']}"
    return Table(table_id, columns, len(rows), f"{source}#{record['id']}"), rows


def _records(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)
