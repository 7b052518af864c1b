"""How often this code's own path, from tables to ranked answers, finds the wanted table."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from pneuma_assets.core.config.small_sections import SamplingConfig
from pneuma_assets.core.describe.kinds import documents_of
from pneuma_assets.core.describe.packing import pack_blocks
from pneuma_assets.core.describe.texts import DrawnRows, NarratedColumns, ReadTable
from pneuma_assets.core.evaluation.evaluate import ask_all, count_figures
from pneuma_assets.core.grouping import chunks
from pneuma_assets.core.index.base import SearchIndex, TableContents
from pneuma_assets.core.models.base import Encoder
from pneuma_assets.core.pipeline.sample import SEED
from pneuma_assets.core.progress import report
from pneuma_assets.core.relations.families import find_families
from pneuma_assets.core.search.query import QueryEngine
from pneuma_assets.core.sources.base import Row
from pneuma_assets.core.sources.sampling import sample_positions
from pneuma_assets.core.tables import Block, Document, EmbeddedBlock, Table, TableFacts, TableTerms
from pneuma_assets.core.terms.collect import terms_from_rows
from pneuma_assets.core.terms.split_names import spell_out
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
        NarratedColumns(table, narrations, names),
        DrawnRows(table, [rows[position] for position in positions]),
        ReadTable(table, dataset.contexts.get(table.table_id, ())),
    )
    return [one for part in made for some in documents_of(part).values() for one in some]


def table_evidence(
    table: Table, rows: Sequence[Row], dataset: RetrievalSet, sampling: SamplingConfig
) -> TableTerms:
    """Return what is searched of a table by its words alone; no values where they are left out."""
    names = dataset.names.get(table.table_id, ())
    columns = [column.name for column in table.columns]
    evidence = terms_from_rows(names, columns, rows if sampling.values else (), SEED)
    return spell_out(evidence, dataset.contexts.get(table.table_id, ()))


def index_set(
    index: SearchIndex,
    encoder: Encoder,
    dataset: RetrievalSet,
    sampling: SamplingConfig,
    narrations: Mapping[str, Mapping[int, str]] = NOTHING,
) -> list[Block]:
    """Represent, pack, embed and index every table of a set; return the blocks.

    Args:
        index: Where to.
        encoder: Embeds the blocks.
        dataset: The tables.
        sampling: Which rows stand for a table.
        narrations: What is said of its columns by position, by table id; names alone where nothing.
    """
    made: list[Block] = []
    done = 0
    named = (table for table, _ in dataset.tables if dataset.names.get(table.table_id))
    families = find_families(
        {one.table_id: {hash(column.name.casefold()) for column in one.columns} for one in named}
    )
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
        index.replace_tables(
            {
                table.table_id: TableContents(
                    embedded[table.table_id],
                    table_evidence(table, rows, dataset, sampling),
                    TableFacts(family=families.get(table.table_id)),
                )
                for table, rows in portion
            }
        )
        made += blocks
        done += len(portion)
        report("indexing tables", done, len(dataset.tables))
    return made


def evaluate(engine: QueryEngine, dataset: RetrievalSet, **options: Any) -> dict[str, float]:
    """Ask every question with these options of `ask_many`; return every figure by its name."""
    return dict(count_figures(ask_all(engine, dataset.asked, options)).values)
