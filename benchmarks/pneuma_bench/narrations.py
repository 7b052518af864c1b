"""What is said of the columns of a folder, described as indexing does, and whether it is true."""

import random
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pneuma_assets.core.config.indexing import LimitsConfig
from pneuma_assets.core.config.models import NarrationConfig
from pneuma_assets.core.describe.columns import WRITTEN, Known, best_descriptions, read_descriptions
from pneuma_assets.core.describe.narrate import NarrationRequest, narrate_columns, round_trip
from pneuma_assets.core.describe.prompts import Ground
from pneuma_assets.core.errors import BenchmarkError, TableReadError
from pneuma_assets.core.measure.narrations import Gold, Said, figures_of, read_gold
from pneuma_assets.core.models.base import Encoder, LanguageModel
from pneuma_assets.core.pipeline.describe import prompt_context
from pneuma_assets.core.progress import report
from pneuma_assets.core.sources.base import Row, Source, gather
from pneuma_assets.core.sources.isolation.source import IsolatedSource
from pneuma_assets.core.sources.kinds.folder import FolderSourceConfig
from pneuma_assets.core.tables import Column, Description, Provenance, Table, TableRef

SEED = 0

_SOURCE = "lake"


@dataclass(frozen=True, slots=True)
class Described:
    """One table, which columns of it have a gold, and what the product says of these."""

    table: Table
    gold: Mapping[int, str]
    shown: Mapping[int, Description]
    has_data: bool

    def said(self) -> list[Said]:
        """Return the columns that have a gold, as they are counted."""
        names = self.table.columns
        return [Said(names[at].name, text, self.shown.get(at)) for at, text in self.gold.items()]


def drawn(path: Path, limit: int | None = None) -> Gold:
    """Read a file as `read_gold` does; of tables drawn by chance, about so many columns.

    Args:
        path: The file.
        limit: Stop after the table with which so many columns are reached.

    Raises:
        BenchmarkError: As `read_gold`.
    """
    found = read_gold(path)
    if limit is None:
        return found
    tables = [*found]
    random.Random(SEED).shuffle(tables)  # noqa: S311 (a draw that can be repeated)
    chosen: dict[str, Mapping[str, str]] = {}
    for table in tables:
        if sum(map(len, chosen.values())) >= limit:
            break
        chosen[table] = found[table]
    return chosen


def describe_lake(
    gold: Gold,
    lake: Path | None,
    *,
    documents: bool,
    model: LanguageModel | None,
    config: NarrationConfig,
    encoder: Encoder,
) -> list[Described]:
    """Describe the columns that have a gold as indexing does.

    Args:
        gold: What people wrote; it is only asked which columns are meant.
        lake: The folder of the tables; of one that is not there only the names are known.
        documents: Whether documents beside a table and comments may be read.
        model: Asked for what nobody described; None asks nobody.
        config: How columns are described.
        encoder: For the round trip.

    Raises:
        SourceError: The folder cannot be listed.
    """
    read = _read(gold, lake, documents=documents)
    models = _ask(read, model, config, encoder) if model is not None else {}
    return [
        Described(
            one.table,
            one.gold,
            best_descriptions(one.known, models.get(one.table.table_id, {}), facts=config.facts),
            one.has_data,
        )
        for one in read
    ]


def measure(
    gold: Gold,
    lake: Path | None,
    encoder: Encoder,
    model: LanguageModel | None,
    config: NarrationConfig,
    *,
    documents: bool,
) -> dict[str, Any]:
    """Describe the columns and count how often the description leads to the gold."""
    started = time.perf_counter()
    described = describe_lake(
        gold, lake, documents=documents, model=model, config=config, encoder=encoder
    )
    seconds = time.perf_counter() - started
    return {
        **figures_of([one.said() for one in described], encoder),
        "tables": len(described),
        "tables_without_data": sum(not one.has_data for one in described),
        "documents": documents,
        "model": None if model is None else model.name,
        "prompt": None if model is None else config.asked,
        "round_trip": None if model is None else config.round_trip,
        "seconds": round(seconds, 2),
    }


@dataclass(frozen=True, slots=True)
class _Read:
    table: Table
    gold: Mapping[int, str]
    rows: Sequence[Row]
    known: Known
    has_data: bool


def _read(gold: Gold, lake: Path | None, *, documents: bool) -> list[_Read]:
    if lake is None:
        return [_without_data(name, golds) for name, golds in gold.items()]
    config = FolderSourceConfig(name=_SOURCE, path=lake.resolve())
    with closing(IsolatedSource(config, {}, LimitsConfig())) as source:
        refs = {ref.table_id.partition("/")[2]: ref for ref in source.list_tables().tables}
        read = []
        for done, (name, golds) in enumerate(gold.items(), 1):
            ref = refs.get(name)
            one = _read_table(source, ref, golds, documents=documents) if ref else None
            read.append(one or _without_data(name, golds))
            report("reading tables", done, len(gold))
    return read


def _read_table(
    source: Source, ref: TableRef, golds: Mapping[str, str], *, documents: bool
) -> _Read | None:
    try:
        table = source.profile(ref)
        rows = gather(source, ref, SEED).terms.rows
        glossaries = source.contexts(ref).glossaries if documents else ()
    except TableReadError:
        return None
    places = {column.name: at for at, column in enumerate(table.columns)}
    wanted = {places[name]: text for name, text in golds.items() if name in places}
    known: dict[int, dict[Provenance, Description]] = {}
    for at, one in read_descriptions(table, glossaries, rows):
        if documents or one.provenance not in WRITTEN:
            known.setdefault(at, {})[one.provenance] = one
    return _Read(table, wanted, rows, known, has_data=True) if len(wanted) == len(golds) else None


def _without_data(name: str, golds: Mapping[str, str]) -> _Read:
    table = Table(f"{_SOURCE}/{name}", tuple(Column(c, "") for c in golds), 0, name)
    known = {at: {one.provenance: one} for at, one in read_descriptions(table, (), ())}
    return _Read(table, dict(enumerate(golds.values())), (), known, has_data=False)


def _ask(
    read: Sequence[_Read], model: LanguageModel, config: NarrationConfig, encoder: Encoder
) -> dict[str, Mapping[int, Description]]:
    said: dict[str, dict[int, str]] = {one.table.table_id: {} for one in read}
    requests = [
        NarrationRequest(one.table.table_id, _names(one.table), at, _ground(one, config))
        for one in read
        for at in one.gold
        if not any(provenance in one.known.get(at, {}) for provenance in WRITTEN)
    ]
    for narration in narrate_columns(model, requests):
        if narration.problem:
            raise BenchmarkError(
                f"{model.name} did not describe column {narration.position + 1} of "
                f"{narration.table_id}: {narration.problem}; mend that, then measure again"
            )
        said[narration.table_id][narration.position] = narration.text
    return {
        one.table.table_id: _fit(one, said[one.table.table_id], model, config, encoder)
        for one in read
    }


def _fit(
    one: _Read,
    said: Mapping[int, str],
    model: LanguageModel,
    config: NarrationConfig,
    encoder: Encoder,
) -> Mapping[int, Description]:
    if not config.round_trip:
        return {
            at: Description(text, Provenance.MODEL, model.name) for at, text in said.items() if text
        }
    facts = {
        at: some[Provenance.PROFILE] for at, some in one.known.items() if Provenance.PROFILE in some
    }
    return round_trip(encoder, one.table, said, facts, model.name)


def _names(table: Table) -> tuple[str, ...]:
    return tuple(column.name for column in table.columns)


def _ground(one: _Read, config: NarrationConfig) -> Ground | None:
    return None if config.asked == "paper" else prompt_context(one.table, one.rows)
