"""Third stage: describe every column that nobody described yet (Pneuma, section 4)."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from pneuma_assets.core.config.models import NarrationConfig
from pneuma_assets.core.documents.maker import NarratedColumns
from pneuma_assets.core.errors import StateError
from pneuma_assets.core.models.base import LanguageModel
from pneuma_assets.core.narration.narrate import NarrationRequest, narrate_columns
from pneuma_assets.core.narration.prompts import PROMPT_VERSION
from pneuma_assets.core.pipeline.documents import Made, keeping_documents, make_documents
from pneuma_assets.core.pipeline.figures import Figures
from pneuma_assets.core.pipeline.one_table import one_table
from pneuma_assets.core.progress import report
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.records import Stage, WorkItem
from pneuma_assets.core.tables import Table

SAVED_AT_ONCE = 32
"""Narrations kept in the store at a time; a killed run asks for at most these again."""

WAIT_S = 1.0
"""How often it is looked whether another run has described what this one needs, too."""

Causes = dict[str, dict[int, str]]
"""Why columns have no narration, by schema hash and position."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaNarrationsFigures(Figures):
    """What describing the columns of the claimed tables did."""

    stage: ClassVar[str] = "schema_narrations"

    tables: int = 0
    """Tables that the run works on."""
    columns: int = 0
    """Columns of these."""
    narrated: int = 0
    """Columns that the model was asked for, those that share a schema once."""
    kept: int = 0
    """The other columns: described before, or by another table, or no model is used."""


def narration_key(model: LanguageModel, config: NarrationConfig) -> str:
    """Name what decides a narration besides schema and column: model, prompt, length."""
    return f"{model.name}|prompt {PROMPT_VERSION}|{config.max_new_tokens} tokens"


def narrate_tables(
    store: Store, run_id: str, model: LanguageModel | None, config: NarrationConfig
) -> SchemaNarrationsFigures:
    """Describe the columns of every claimed table; the model is asked only what is new.

    Without a model the column names stand in (section 7.3.1 calls it SchemaConcat). They do so
    too for a column that the model does not answer for: a problem of its table, which is indexed
    all the same. Such a column is asked again when its table is next read, be it that it changed
    or that a rebuild was asked for, so it costs nothing while nothing changes.
    """
    taken = store.work.take(run_id, Stage.SAMPLED)
    items = [item for item in taken if item.table is not None]
    tables = [item.table for item in items if item.table is not None]
    key, asked, causes = "", 0, Causes()
    if model is not None:
        key = narration_key(model, config)
        asked, causes = _ask(store, run_id, tables, model, config)
    narrated = [
        NarratedColumns(table, {} if model is None else store.narrations.known(key, table))
        for table in tables
    ]
    for table in tables:
        store.record_table_problem(table.table_id, "narrations", _problem(table, causes))
    _keep(store, run_id, key, items, narrated)
    columns = sum(len(table.columns) for table in tables)
    return SchemaNarrationsFigures(
        tables=len(tables), columns=columns, narrated=asked, kept=columns - asked
    )


def _keep(
    store: Store,
    run_id: str,
    key: str,
    items: Sequence[WorkItem],
    narrated: Sequence[NarratedColumns],
) -> None:
    made: list[Made[NarratedColumns]] = []
    for item, material in zip(items, narrated, strict=True):
        with one_table(store, run_id, item, "documents"):
            made.append(make_documents(material))
    with keeping_documents(store, run_id, made) as held:
        done = [one.material for one in made if one.material.table.table_id in held]
        store.narrations.assign(key, [(one.table, one.narrations) for one in done])
        store.work.advance(run_id, Stage.NARRATED, [one.table.table_id for one in done])


def _ask(
    store: Store,
    run_id: str,
    tables: Sequence[Table],
    model: LanguageModel,
    config: NarrationConfig,
) -> tuple[int, Causes]:
    """Ask for what is not known and keep the answers; return how many were asked, and failed.

    Tables with one schema ask once, also those of several runs: what another run is asking is
    waited for, unless that run ends.
    """
    key = narration_key(model, config)
    asked, causes, waited = 0, Causes(), False
    for table in tables:
        store.narrations.carry_over(key, table)
    schema_of = {table.table_id: table.schema_hash for table in tables}
    schemas = {table.schema_hash: table for table in tables}
    while schemas := {s: t for s, t in schemas.items() if _open_positions(store, key, t)}:
        mine = store.narrations.reserve(key, schemas.keys(), run_id)
        if not mine:
            if not waited:
                report("waiting for narrations of another run", 0, 0)
            waited = True
            time.sleep(WAIT_S)
            continue
        try:
            # Known by now may be what the run that had reserved it has described since.
            requests = list(_requests(store, key, [schemas.pop(s) for s in sorted(mine)]))
            asked += len(requests)
            if requests:  # else the model is not even loaded
                _ask_all(store, run_id, key, requests, model, config, schema_of, causes)
        finally:
            store.narrations.release(run_id)  # two runs must not wait for each other
    return asked, causes


def _ask_all(
    store: Store,
    run_id: str,
    key: str,
    requests: Sequence[NarrationRequest],
    model: LanguageModel,
    config: NarrationConfig,
    schema_of: Mapping[str, str],
    causes: Causes,
) -> None:
    answers: list[tuple[str, int, str]] = []
    try:
        for narration in narrate_columns(model, requests, config.max_new_tokens):
            schema = schema_of[narration.table_id]
            if narration.problem is not None:
                causes.setdefault(schema, {})[narration.position] = narration.problem
                continue
            answers.append((schema, narration.position, narration.text))
            if len(answers) >= SAVED_AT_ONCE:
                store.narrations.save(key, answers)
                answers.clear()
                if not store.narrations.reserved(key, run_id):
                    raise StateError(
                        "This run was silent for so long that others took up its work; what it "
                        "has done is kept. Run again."
                    )
    finally:
        store.narrations.save(key, answers)


def _problem(table: Table, causes: Causes) -> str | None:
    """Name the columns that the model did not answer for, and the first one's cause."""
    failed = causes.get(table.schema_hash)
    if not failed:
        return None
    first = min(failed)
    return (
        f"{len(failed)} of {len(table.columns)} columns are not described (such as "
        f"{table.columns[first].name!r}: {failed[first]}); their names stand in, and "
        "'pneuma-assets index --rebuild' asks again"
    )


def _requests(store: Store, key: str, tables: Sequence[Table]) -> Iterator[NarrationRequest]:
    """Yield one request a column without a narration."""
    for table in tables:
        names = tuple(column.name for column in table.columns)
        for position in _open_positions(store, key, table):
            yield NarrationRequest(table.table_id, names, position)


def _open_positions(store: Store, key: str, table: Table) -> list[int]:
    known = store.narrations.known(key, table)
    return [position for position in range(len(table.columns)) if position not in known]
