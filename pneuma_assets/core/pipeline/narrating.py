"""Third stage: describe every column (Pneuma, section 4).

What people wrote is taken as it is; a language model, where one is enabled, is asked for the other
columns, and what it says is shown where it leads back to its column; names and values speak for
the rest.
"""

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from pneuma_assets.core.config.models import NarrationConfig
from pneuma_assets.core.documents.maker import NarratedColumns
from pneuma_assets.core.errors import StateError
from pneuma_assets.core.evidence.of_table import names_of
from pneuma_assets.core.models.base import Encoder, LanguageModel
from pneuma_assets.core.narration.describe import (
    DESCRIBING_VERSION,
    WRITTEN,
    Known,
    added_descriptions,
    best_descriptions,
    is_written,
)
from pneuma_assets.core.narration.facts import fact_descriptions
from pneuma_assets.core.narration.narrate import NarrationRequest, narrate_columns
from pneuma_assets.core.narration.prompts import PROMPT_VERSIONS, SHOWN_ROWS, Ground
from pneuma_assets.core.narration.round_trip import those_that_lead_back
from pneuma_assets.core.pipeline.documents import Made, keeping_documents, make_documents
from pneuma_assets.core.pipeline.figures import Figures
from pneuma_assets.core.pipeline.one_table import one_table
from pneuma_assets.core.progress import report
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.records import Stage, WorkItem
from pneuma_assets.core.tables import Description, DocumentKind, Evidence, Provenance, Table

SAVED_AT_ONCE = 32
"""Narrations kept in the store at a time; a killed run asks for at most these again."""

WAIT_S = 1.0
"""How often it is looked whether another run has described what this one needs, too."""

Causes = dict[str, dict[int, str]]
"""Why columns have no narration, by schema hash and position."""

Described = dict[str, dict[int, Description]]
"""What is said of columns, by table id and position."""


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
    """The other columns: described by people, before, or by another table, or no model is used."""
    written: int = 0
    """Columns that people described, in documents, comments or contexts."""
    shown: int = 0
    """Columns of which anything is said, whoever says it."""
    refused: int = 0
    """Texts of the model that are not shown, since they did not lead back to their column."""


def narration_key(model: LanguageModel, config: NarrationConfig) -> str:
    """Name what decides a narration besides schema and column: model, prompt, length."""
    version = PROMPT_VERSIONS[config.prompt]
    return f"{model.name}|prompt {version}|{config.max_new_tokens} tokens"


def _keys(model: LanguageModel, config: NarrationConfig) -> list[str]:
    """Return under what keys there may be narrations, best first.

    What the paper's prompt once brought holds for the grounded one, too: to ask for all of it
    again is not worth a model's hours.
    """
    ways = [config, config.model_copy(update={"prompt": "paper"})]
    return list(dict.fromkeys(narration_key(model, way) for way in ways))


def describing_key(model: LanguageModel | None, config: NarrationConfig) -> str:
    """Name what decides how columns are described, so that another way makes all tables anew."""
    asked = "" if model is None else f"{narration_key(model, config)}|{config.round_trip}"
    return f"{asked}|facts {config.facts}|describing {DESCRIBING_VERSION}"


def narrate_tables(
    store: Store,
    run_id: str,
    model: LanguageModel | None,
    config: NarrationConfig,
    encoder: Encoder | None = None,
) -> SchemaNarrationsFigures:
    """Describe the columns of every claimed table; the model is asked only what is new.

    Where nothing is said of a column its name stands in (section 7.3.1 calls it SchemaConcat). So
    it does for a column that the model does not answer for: a problem of its table, which is
    indexed all the same. Such a column is asked again when its table is next read, be it that it
    changed or that a rebuild was asked for, so it costs nothing while nothing changes.

    Args:
        store: What is known of tables.
        run_id: Whose claimed tables.
        model: Asked for columns that nobody described; None asks nobody.
        config: How columns are described.
        encoder: For the round trip; without one, whatever the model says is shown.
    """
    taken: list[tuple[WorkItem, Table]] = []
    known: dict[str, Known] = {}
    for item in store.work.take(run_id, Stage.SAMPLED):
        if item.table is not None:
            with one_table(store, run_id, item, "narrations"):
                known[item.table.table_id] = _known(store, item.table)
                taken.append((item, item.table))
    tables = [table for _, table in taken]
    asked, refused, causes = 0, 0, Causes()
    if model is not None:
        asked, causes = _ask(store, run_id, tables, model, config, known)
    described: Described = {}
    for item, table in taken:
        read = known[table.table_id]
        with one_table(store, run_id, item, "narrations"):
            models, unfit = _by_model(store, table, read, model, config, encoder)
            best = best_descriptions(read, models, facts=config.facts)
            store.record_table_problem(table.table_id, "narrations", _problem(table, causes, read))
            described[table.table_id] = best
            refused += unfit
    taken = [one for one in taken if one[1].table_id in described]
    keys = [] if model is None else _keys(model, config)
    _keep(store, run_id, keys, taken, described)
    columns = sum(len(table.columns) for table in tables)
    said = [one for some in described.values() for one in some.values()]
    return SchemaNarrationsFigures(
        tables=len(tables),
        columns=columns,
        narrated=asked,
        kept=columns - asked,
        written=sum(one.provenance in WRITTEN for one in said),
        shown=len(said),
        refused=refused,
    )


def _known(store: Store, table: Table) -> Known:
    """Return what was read of a table's columns, what people added by hand, and what rows show."""
    contexts = [(one.name, one.text) for one in store.user_contexts(table.table_id)]
    added = added_descriptions(table, contexts)
    rows = store.evidence.of_tables([table.table_id]).get(table.table_id, Evidence()).rows
    facts = fact_descriptions(table, rows, all_rows=len(rows) >= table.row_count)
    known = {at: dict(said) for at, said in store.descriptions.of_table(table.table_id).items()}
    for provenance, described in ((Provenance.PERSON, added), (Provenance.PROFILE, facts)):
        for position, description in described.items():
            known.setdefault(position, {})[provenance] = description
    return known


def _by_model(
    store: Store,
    table: Table,
    known: Known,
    model: LanguageModel | None,
    config: NarrationConfig,
    encoder: Encoder | None,
) -> tuple[Mapping[int, Description], int]:
    """Return what the model said of columns that people did not describe, as far as it is fit.

    With it comes how many texts were not fit.
    """
    if model is None:
        return {}, 0
    said = {
        position: text
        for position, text in _said(store, _keys(model, config), table).items()
        if text and not is_written(known, position)
    }
    if encoder is None or not config.round_trip:
        return {p: Description(text, Provenance.MODEL, model.name) for p, text in said.items()}, 0
    facts = {p: some[Provenance.PROFILE] for p, some in known.items() if Provenance.PROFILE in some}
    fit = those_that_lead_back(encoder, table, said, facts, model.name)
    return fit, len(said) - len(fit)


def _keep(
    store: Store,
    run_id: str,
    keys: Sequence[str],
    taken: Sequence[tuple[WorkItem, Table]],
    described: Described,
) -> None:
    made: list[Made[NarratedColumns]] = []
    for item, table in taken:
        texts = {position: one.text for position, one in described[table.table_id].items()}
        with one_table(store, run_id, item, "documents"):
            names = names_of(table.table_id)[1:]
            made.append(make_documents(NarratedColumns(table, texts, names)))
    with keeping_documents(store, run_id, made) as held:
        done = [one.material.table for one in made if one.material.table.table_id in held]
        store.narrations.assign(
            keys[0] if keys else "",
            [(table, described[table.table_id], _said(store, keys, table)) for table in done],
        )
        store.work.advance(run_id, Stage.NARRATED, [table.table_id for table in done])


def _ask(
    store: Store,
    run_id: str,
    tables: Sequence[Table],
    model: LanguageModel,
    config: NarrationConfig,
    known: Mapping[str, Known],
) -> tuple[int, Causes]:
    """Ask for what is not known and keep the answers; return how many were asked, and failed.

    Tables with one schema ask once, also those of several runs: what another run is asking is
    waited for, unless that run ends.
    """
    keys = _keys(model, config)
    key = keys[0]
    asked, causes, waited = 0, Causes(), False
    for table in tables:
        for one in keys:
            store.narrations.carry_over(one, table)
    schema_of = {table.table_id: table.schema_hash for table in tables}
    schemas = {table.schema_hash: table for table in tables}
    wanted = _undescribed(tables, known)
    while schemas := {s: t for s, t in schemas.items() if _open(store, keys, t, wanted[s])}:
        mine = store.narrations.reserve(key, schemas.keys(), run_id)
        if not mine:
            if not waited:
                report("waiting for narrations of another run", 0, 0)
            waited = True
            time.sleep(WAIT_S)
            continue
        try:
            # Known by now may be what the run that had reserved it has described since.
            chosen = [schemas.pop(s) for s in sorted(mine)]
            requests = list(_requests(store, keys, chosen, wanted, config))
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


def _problem(table: Table, causes: Causes, known: Known) -> str | None:
    """Name the columns that the model did not answer for, and the first one's cause."""
    all_failed = causes.get(table.schema_hash, {})
    failed = {at: cause for at, cause in all_failed.items() if not is_written(known, at)}
    if not failed:
        return None
    first = min(failed)
    return (
        f"{len(failed)} of {len(table.columns)} columns are not described (such as "
        f"{table.columns[first].name!r}: {failed[first]}); their names stand in, and "
        "'pneuma-assets index --rebuild' asks again"
    )


def _undescribed(tables: Sequence[Table], known: Mapping[str, Known]) -> dict[str, set[int]]:
    """Return the columns of each schema that in some table of that schema nobody described."""
    found: dict[str, set[int]] = {}
    for table in tables:
        read = known[table.table_id]
        places = {at for at in range(len(table.columns)) if not is_written(read, at)}
        found.setdefault(table.schema_hash, set()).update(places)
    return found


def _requests(
    store: Store,
    keys: Sequence[str],
    tables: Sequence[Table],
    wanted: Mapping[str, Collection[int]],
    config: NarrationConfig,
) -> Iterator[NarrationRequest]:
    """Yield one request a column that is wanted and has no narration."""
    for table in tables:
        names = tuple(column.name for column in table.columns)
        ground = _ground(store, table) if config.prompt == "grounded" else None
        for position in _open(store, keys, table, wanted[table.schema_hash]):
            yield NarrationRequest(table.table_id, names, position, ground)


def _ground(store: Store, table: Table) -> Ground:
    documents = store.documents.of_table(table.table_id)
    rows = [one.text for one in documents if one.kind == DocumentKind.ROWS]
    types = tuple(column.type for column in table.columns)
    return Ground(table.table_id.partition("/")[2], types, tuple(rows[:SHOWN_ROWS]))


def _said(store: Store, keys: Sequence[str], table: Table) -> dict[int, str]:
    """Return what the model said of a table's columns, by position; the first key's goes first."""
    said: dict[int, str] = {}
    for key in reversed(keys):
        said |= store.narrations.known(key, table)
    return said


def _open(store: Store, keys: Sequence[str], table: Table, wanted: Collection[int]) -> list[int]:
    known = _said(store, keys, table)
    return [position for position in sorted(wanted) if position not in known]
