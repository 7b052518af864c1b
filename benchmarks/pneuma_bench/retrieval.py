"""This code's own path from the tables of a set to an index, its columns described or not."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pneuma_assets.core.config.models import NarrationConfig
from pneuma_assets.core.config.small_sections import SamplingConfig
from pneuma_assets.core.describe.columns import added_descriptions, fact_descriptions, searched_text
from pneuma_assets.core.describe.kinds import documents_of
from pneuma_assets.core.describe.narrate import NarrationRequest, narrate_tables, requests_of
from pneuma_assets.core.describe.packing import pack_blocks
from pneuma_assets.core.describe.prompts import Ground
from pneuma_assets.core.describe.texts import DrawnRows, NarratedColumns, ReadTable
from pneuma_assets.core.evaluation.evaluate import ask_all, count_figures
from pneuma_assets.core.grouping import chunks
from pneuma_assets.core.index.base import SearchIndex, TableContents
from pneuma_assets.core.models.base import Encoder, LanguageModel
from pneuma_assets.core.pipeline.describe import answer_key
from pneuma_assets.core.pipeline.sample import SEED
from pneuma_assets.core.progress import report
from pneuma_assets.core.search.query import QueryEngine
from pneuma_assets.core.sources.base import Row
from pneuma_assets.core.sources.sampling import sample_positions
from pneuma_assets.core.tables import (
    THE_TABLE,
    Block,
    Document,
    EmbeddedBlock,
    Table,
    TableFacts,
    TableTerms,
    content_hash,
)
from pneuma_assets.core.terms.collect import ROWS_KEPT, collect_rows, table_terms
from pneuma_assets.core.terms.split_names import name_prefixes, spell_out
from pneuma_bench.files import KeptFile
from pneuma_bench.sets import RetrievalSet

NOTHING: Mapping[Any, Any] = MappingProxyType({})

_TABLES_AT_ONCE = 100


def table_documents(
    dataset: RetrievalSet,
    table: Table,
    rows: Sequence[Row],
    sampling: SamplingConfig,
    narrations: Mapping[int, str] = NOTHING,
) -> list[Document]:
    """Represent a table as indexing does: column names, what is said of them, rows, contexts."""
    positions = sample_positions(len(rows), sampling.rows, SEED)
    names = dataset.names.get(table.table_id, ())
    made = (
        NarratedColumns(table, narrations, names, narrations.get(THE_TABLE, "")),
        DrawnRows(table, [rows[position] for position in positions]),
        ReadTable(table, dataset.contexts.get(table.table_id, ())),
    )
    return [one for part in made for some in documents_of(part).values() for one in some]


def table_evidence(
    table: Table,
    rows: Sequence[Row],
    dataset: RetrievalSet,
    sampling: SamplingConfig,
    prefix: str = "",
    described: Mapping[int, str] = NOTHING,
) -> TableTerms:
    """Return what is searched of a table by its words alone; no values where they are left out."""
    found = collect_rows(rows if sampling.values else (), len(table.columns), SEED).terms
    evidence = table_terms(table, found, described.values())
    if table.table_id not in dataset.names:
        evidence = replace(evidence, names=())
    return spell_out(evidence, dataset.contexts.get(table.table_id, ()), prefix)


def index_set(
    index: SearchIndex,
    encoder: Encoder,
    dataset: RetrievalSet,
    sampling: SamplingConfig,
    narrations: Mapping[str, Mapping[int, str]] = NOTHING,
    described: Mapping[str, Mapping[int, str]] = NOTHING,
) -> list[Block]:
    """Represent, pack, embed and index every table of a set; return the blocks.

    `described` is what people or a model wrote of columns.
    """
    prefixes = name_prefixes(dataset.names)
    made: list[Block] = []
    done = 0
    for portion in chunks(dataset.tables, _TABLES_AT_ONCE):
        documents = []
        for table, rows in portion:
            said = narrations.get(table.table_id, NOTHING)
            documents += table_documents(dataset, table, rows, sampling, said)
        blocks = pack_blocks(documents, encoder)
        vectors = encoder.encode_documents([block.text for block in blocks])
        embedded: dict[str, list[EmbeddedBlock]] = {table.table_id: [] for table, _ in portion}
        for block, vector in zip(blocks, vectors, strict=True):
            embedded[block.table_id].append(EmbeddedBlock(block, vector))
        contents = {}
        for table, rows in portion:
            i, prefix = table.table_id, prefixes.get(table.table_id, "")
            said = described.get(i, NOTHING)
            evidence = table_evidence(table, rows, dataset, sampling, prefix, said)
            contents[i] = TableContents(embedded[i], evidence, TableFacts(prefix=prefix))
        index.replace_tables(contents)
        made += blocks
        done += len(portion)
        report("indexing tables", done, len(dataset.tables))
    return made


def evaluate(engine: QueryEngine, dataset: RetrievalSet, **options: Any) -> dict[str, float]:
    """Ask every question with these options of `ask_many`; return every figure by its name."""
    return dict(count_figures(ask_all(engine, dataset.asked, options)).values)


Narrations = Mapping[str, Mapping[int, str]]
"""What is said of columns, and of tables at `THE_TABLE`, by table id and position."""


def describe(
    dataset: RetrievalSet, model: LanguageModel, config: NarrationConfig, folder: Path
) -> Narrations:
    """Return what the model says of every table and column, asked as indexing asks.

    Each is asked for once, and kept in `folder`; one that it gives no answer to, which its name
    stands for, is asked for again the next time. No budget ends that.
    """
    asked = answer_key(model, config.prompt)
    keys: dict[tuple[str, int], str] = {}
    first: dict[str, tuple[Table, Sequence[Row]]] = {}
    for table, rows in dataset.tables:
        of_table = table.table_id if asked.of_table else ""
        first.setdefault(content_hash(of_table, table.schema_hash), (table, rows))
        for at in range(THE_TABLE, len(table.columns)):
            key = content_hash(asked.model, of_table, table.schema_hash, str(at))
            keys[table.table_id, at] = key
    with KeptFile(folder / "narrations.db") as kept:
        known = kept.known([*{*keys.values()}])
        left: list[NarrationRequest] = []
        for table, rows in first.values():
            places = range(THE_TABLE, len(table.columns))
            lacking = [at for at in places if keys[table.table_id, at] not in known]
            ground = Ground(rows=_seen(rows)) if config.prompt == "values" else None
            left += requests_of(table, lacking, ground)
        for one in narrate_tables(model, left):
            i = one.request.table_id
            answer = {keys[i, at]: text.encode() for at, text in one.said.items()}
            kept.add(answer)
            known |= answer
    told: dict[str, dict[int, str]] = {table.table_id: {} for table, _ in dataset.tables}
    for (table_id, at), key in keys.items():
        if key in known:
            told[table_id][at] = known[key].decode()
    return told


def written_of(dataset: RetrievalSet) -> Narrations:
    """Return what lists in documents say of columns, of which no model is asked."""
    told: dict[str, dict[int, str]] = {}
    for table, _ in dataset.tables:
        texts = [("", text) for text in dataset.contexts.get(table.table_id, ())]
        found = added_descriptions(table, texts)
        told[table.table_id] = {position: one.text for position, one in found.items()}
    return told


def facts_of(dataset: RetrievalSet) -> Narrations:
    """Return what names and values show of every column, as indexing has it without a model."""
    told: dict[str, dict[int, str]] = {}
    for table, rows in dataset.tables:
        seen = _seen(rows)
        facts = fact_descriptions(table, seen, all_rows=len(seen) == len(rows))
        told[table.table_id] = {position: searched_text(one) for position, one in facts.items()}
    return told


def _seen(rows: Sequence[Row]) -> Sequence[Row]:
    return [rows[position] for position in sample_positions(len(rows), ROWS_KEPT, 0)]
