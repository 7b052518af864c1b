"""Third stage: describe every column (Pneuma, section 4).

What people wrote is taken as it is; a language model is asked for the other columns, and shown
where its description leads back to its column; names and values speak for the rest.
"""

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

from pneuma_assets.core.config.models import NarrationConfig
from pneuma_assets.core.describe.columns import (
    DESCRIBING_VERSION,
    WRITTEN,
    Known,
    added_descriptions,
    best_descriptions,
    fact_descriptions,
    is_written,
    searched_text,
)
from pneuma_assets.core.describe.kinds import documents_of
from pneuma_assets.core.describe.narrate import (
    NARRATION_TOKENS,
    NarrationRequest,
    narrate_columns,
    round_trip,
)
from pneuma_assets.core.describe.prompts import PROMPT_VERSIONS, SHOWN_ROWS, Ground
from pneuma_assets.core.describe.texts import NarratedColumns, row_text
from pneuma_assets.core.errors import ModelError
from pneuma_assets.core.grouping import chunks
from pneuma_assets.core.lineage.external import TableFields
from pneuma_assets.core.models.base import Encoder, LanguageModel
from pneuma_assets.core.models.usage import counting
from pneuma_assets.core.pipeline.stage import Figures, isolate_failures, save_documents
from pneuma_assets.core.sources.base import Row
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.documents import UserContext
from pneuma_assets.core.store.narrations import Answer, AnswerKey, Subject
from pneuma_assets.core.store.queue import Stage, WorkItem
from pneuma_assets.core.tables import (
    Description,
    Document,
    DocumentKind,
    Provenance,
    Table,
    TableTerms,
)
from pneuma_assets.core.terms.collect import names_of
from pneuma_assets.core.text.safe import one_line

logger = logging.getLogger(__name__)

CHUNK = 64
"""Tables read from the store, and saved in it, at a time."""

SAVED_AT_ONCE = 32
"""Narrations saved in the store at a time; a killed run asks for at most these again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaNarrationsFigures(Figures):
    """What describing the columns of the claimed tables did."""

    stage: ClassVar[str] = "schema_narrations"

    tables: int = 0
    """Tables that the run works on."""
    columns: int = 0
    """Columns of these."""
    narrated: int = 0
    """Columns that the model was asked for, those that share an answer once."""
    kept: int = 0
    """The other columns: described by people, before, or by another table, or no model is used."""
    written: int = 0
    """Columns that people described, in documents, comments or contexts."""
    shown: int = 0
    """Columns of which anything is said, whoever says it."""
    refused: int = 0
    """Texts of the model that are not shown, since they did not lead back to their column."""
    requests: int = 0
    """Requests to the model, repeated ones included."""
    tokens_read: int = 0
    """Tokens of these."""
    tokens_written: int = 0
    """Tokens of its answers."""


class NoAnswer(NamedTuple):
    """Why a model says nothing of a column, and whether it is away, so that a later run asks it."""

    cause: str
    is_away: bool = False


Causes = dict[Subject, dict[int, NoAnswer]]
"""By subject and position of a column."""


def narration_key(model: LanguageModel, prompt: str) -> str:
    """Name what decides a narration besides table and column: model, prompt, length."""
    version = PROMPT_VERSIONS[prompt]
    return f"{model.name}|prompt {version}|{NARRATION_TOKENS} tokens"


def describing_key(model: LanguageModel | None, config: NarrationConfig) -> str:
    """Name what decides how columns are described; all tables are indexed again when it changes."""
    asked = "" if model is None else narration_key(model, config.prompt)
    return f"{asked}|describing {DESCRIBING_VERSION}"


def answer_key(model: LanguageModel, prompt: str) -> AnswerKey:
    """Name what decides a narration, and whether it belongs to a table or to all of a schema."""
    return AnswerKey(narration_key(model, prompt), of_table=prompt == "grounded")


def answer_keys(model: LanguageModel, config: NarrationConfig) -> list[AnswerKey]:
    """Return under what keys there may be narrations, best first.

    What another prompt once brought holds, too: to ask for it again is not worth a model's hours.
    """
    prompts = dict.fromkeys([config.prompt, *PROMPT_VERSIONS])
    return [answer_key(model, one) for one in prompts]


def describe_tables(
    store: Store,
    run_id: str,
    model: LanguageModel | None,
    config: NarrationConfig,
    encoder: Encoder | None = None,
) -> SchemaNarrationsFigures:
    """Describe the columns of every claimed table; the model is asked only what is new.

    Where a column has no description its name stands in (section 7.3.1 calls it SchemaConcat). One
    that the model does not answer for is a problem of its table, which a later run reads again to
    ask for it if the model was away. Without an `encoder` for the round trip, whatever the model
    says is shown.
    """
    items = [item for item in store.queue.take(run_id, Stage.SAMPLED) if item.table is not None]
    known: dict[str, Known] = {}
    for chunk in chunks(items, CHUNK):
        known |= known_descriptions(store, run_id, chunk)
    items = [item for item in items if item.ref.table_id in known]
    tables = [item.table for item in items if item.table is not None]
    narrated, causes = 0, Causes()
    figures = SchemaNarrationsFigures()
    if model is not None:
        if config.notice is not None:
            logger.warning("%s", config.notice)
        with counting() as used:
            narrated, causes = generate_descriptions(store, tables, model, config, known)
        figures = SchemaNarrationsFigures(
            requests=used.calls, tokens_read=used.read, tokens_written=used.written
        )
    columns = sum(len(table.columns) for table in tables)
    figures += SchemaNarrationsFigures(
        tables=len(tables), columns=columns, narrated=narrated, kept=columns - narrated
    )
    for chunk in chunks(items, CHUNK):
        figures += _describe(store, run_id, chunk, known, model, config, encoder, causes)
    return figures


def _describe(
    store: Store,
    run_id: str,
    items: Sequence[WorkItem],
    known: Mapping[str, Known],
    model: LanguageModel | None,
    config: NarrationConfig,
    encoder: Encoder | None,
    causes: Causes,
) -> SchemaNarrationsFigures:
    """Choose the best description of each column of some tables, and save them."""
    keys = [] if model is None else answer_keys(model, config)
    tables = {item.ref.table_id: item.table for item in items if item.table is not None}
    answers = store.narrations.answers(keys, list(tables.values()))
    shown: dict[str, Mapping[int, Description]] = {}
    made: dict[str, Mapping[DocumentKind, Sequence[Document]]] = {}
    refused = 0
    for item in items:
        i, table = item.ref.table_id, tables[item.ref.table_id]
        with isolate_failures(store, run_id, item, "narrations"):
            fit: Mapping[int, Description] = {}
            if model is not None:
                fit, unfit = _fit(table, answers[i], known[i], model.name, encoder)
                refused += unfit
            best = best_descriptions(known[i], fit)
            texts = {position: searched_text(one) for position, one in best.items()}
            made[i] = documents_of(NarratedColumns(table, texts, names_of(i)[1:]))
            shown[i] = best
    failed = {i: causes.get(keys[0].subject(tables[i]), {}) for i in made if keys}
    problems = {i: _problem(tables[i], known[i], failed.get(i, {})) for i in made}
    with save_documents(store, run_id, made) as held:
        done = [i for i in made if i in held]
        store.narrations.assign(
            keys[0] if keys else None,
            [(tables[i], {**_corrected(known[i]), **shown[i]}, answers[i]) for i in done],
        )
        store.problems.record_of_tables("narrations", {i: problems[i] for i in done})
        store.queue.advance(run_id, Stage.NARRATED, done)
        left = (i for i in done if any(one.is_away for one in failed.get(i, {}).values()))
        store.queue.complete_later(run_id, [i for i in left if problems[i] is not None])
    said = [one for some in shown.values() for one in some.values()]
    written = sum(one.provenance in WRITTEN for one in said)
    return SchemaNarrationsFigures(written=written, shown=len(said), refused=refused)


def _corrected(known: Known) -> dict[int, Description]:
    """Return people's corrections; a rejection, too, is remembered until the next run."""
    mine = Provenance.CORRECTION
    return {at: said[mine] for at, said in known.items() if mine in said}


def _fit(
    table: Table, answers: Mapping[int, Answer], known: Known, model: str, encoder: Encoder | None
) -> tuple[Mapping[int, Description], int]:
    said = {p: a.text for p, a in answers.items() if a.text and not is_written(known, p)}
    fit = {p: Description(text, Provenance.MODEL, model) for p, text in said.items()}
    if encoder is not None:
        facts = {p: s[Provenance.PROFILE] for p, s in known.items() if Provenance.PROFILE in s}
        fit = round_trip(encoder, table, said, facts, model)
    dated = {p: replace(one, said_at=answers[p].said_at) for p, one in fit.items()}
    return dated, len(said) - len(fit)


def _problem(table: Table, known: Known, causes: Mapping[int, NoAnswer]) -> str | None:
    """Name the columns that the model did not answer for, and the first one's cause."""
    failed = {at: cause for at, cause in causes.items() if not is_written(known, at)}
    if not failed:
        return None
    first, again = min(failed), "'pneuma-assets index --rebuild' asks again"
    if any(one.is_away for one in failed.values()):
        again = "a later run asks again; 'pneuma-assets index' asks at once"
    return (
        f"{len(failed)} of {len(table.columns)} columns are not described (such as "
        f"{table.columns[first].name!r}: {failed[first].cause}); their names and values stand in, "
        f"and {again}"
    )


def known_descriptions(
    store: Store, run_id: str, items: Sequence[WorkItem]
) -> dict[str, dict[int, dict[Provenance, Description]]]:
    """Return what was read of tables' columns, what people added, and what rows show, by table."""
    ids = [item.ref.table_id for item in items]
    read = store.descriptions.of_tables(ids)
    terms = store.profiles.terms(ids)
    contexts = store.documents.user_contexts(ids)
    former = store.profiles.former_names(i for i in ids if contexts[i])
    outside = store.edges.fields(ids)
    corrections = store.descriptions.corrections(ids)
    found: dict[str, dict[int, dict[Provenance, Description]]] = {}
    for item in items:
        i, table = item.ref.table_id, item.table
        with isolate_failures(store, run_id, item, "narrations"):
            if table is None:
                continue
            known, rows = read[i], terms.get(i, TableTerms()).rows
            added = _added(table, contexts[i], former.get(i, {}))
            facts = fact_descriptions(table, rows, all_rows=len(rows) >= table.row_count)
            for provenance, said in ((Provenance.PERSON, added), (Provenance.PROFILE, facts)):
                for position, description in said.items():
                    known.setdefault(position, {})[provenance] = description
            for position, description in _from_outside(table, outside.get(i, {})).items():
                known.setdefault(position, {}).setdefault(Provenance.DOCUMENT, description)
            for one in (one for one in corrections if one.table_id == i):
                for position, column in enumerate(table.columns):
                    if one.is_of(column.name):
                        known.setdefault(position, {})[Provenance.CORRECTION] = one.description
            found[i] = known
    return found


def _added(
    table: Table, contexts: Sequence[UserContext], former: Mapping[str, Sequence[str]]
) -> dict[int, Description]:
    """Return what people's contexts say of columns, be it by a name that they had before."""
    texts = [(one.name, one.text) for one in contexts]
    added = added_descriptions(table, texts)
    for number in range(max(map(len, former.values()), default=0)):
        columns = [
            replace(c, name=name)
            for c in table.columns
            for name in former.get(c.name, ())[number : number + 1] or (c.name,)
        ]
        added = added_descriptions(replace(table, columns=tuple(columns)), texts) | added
    return added


def _from_outside(table: Table, told: Mapping[str, TableFields]) -> dict[int, Description]:
    """Return what dbt, other assets and the like say of columns, whatever a name's capitals."""
    named = Counter(column.name.lower() for column in table.columns)
    found: dict[int, Description] = {}
    for origin, said in told.items():
        folded = {name.lower(): text for name, text in said.columns.items()}
        source = f"asset {', '.join(said.assets)}" if said.assets else origin
        for position, column in enumerate(table.columns):
            name = column.name.lower()
            alone = folded.get(name) if named[name] == 1 else None
            if text := said.columns.get(column.name) or alone:
                found.setdefault(position, Description(text, Provenance.DOCUMENT, source, 1.0))
    return found


def generate_descriptions(
    store: Store,
    tables: Sequence[Table],
    model: LanguageModel,
    config: NarrationConfig,
    known: Mapping[str, Known],
) -> tuple[int, Causes]:
    """Ask a model for columns that nobody described (`known`) and of which it never said anything.

    Tables that share a subject ask once. What the model said before it failed is saved.

    Returns:
        How many columns it was asked for, and by subject and position why some have no answer.
    """
    keys = answer_keys(model, config)
    for chunk in chunks(tables, CHUNK):
        for one in keys:
            store.narrations.carry_over(one, chunk)
    subjects = {table.table_id: keys[0].subject(table) for table in tables}
    wanted = _undescribed(tables, subjects, known)
    asked: list[tuple[Table, Sequence[int]]] = []
    for some in chunks(list({subjects[one.table_id]: one for one in tables}.items()), CHUNK):
        answers = store.narrations.answers(keys, [table for _, table in some])
        for subject, table in some:
            if lacking := sorted(wanted[subject] - answers[table.table_id].keys()):
                asked.append((table, lacking))
    requests = _requests(store, config, asked)
    causes: Causes = {}
    # Without a request the model is not even loaded.
    asked_for = _ask(store, model, config, requests, subjects, causes) if requests else 0
    return asked_for, causes


def _undescribed(
    tables: Sequence[Table], subjects: Mapping[str, Subject], known: Mapping[str, Known]
) -> dict[Subject, set[int]]:
    found: dict[Subject, set[int]] = {}
    for table in tables:
        read = known[table.table_id]
        places = {at for at in range(len(table.columns)) if not is_written(read, at)}
        found.setdefault(subjects[table.table_id], set()).update(places)
    return found


def _requests(
    store: Store, config: NarrationConfig, asked: Sequence[tuple[Table, Sequence[int]]]
) -> list[NarrationRequest]:
    requests: list[NarrationRequest] = []
    for some in chunks(asked, CHUNK):
        grounds: Mapping[str, Ground] = {}
        if config.prompt == "grounded":
            grounds = _prompt_contexts(store, [table for table, _ in some])
        for table, positions in some:
            names = tuple(column.name for column in table.columns)
            requests += [
                NarrationRequest(table.table_id, names, at, grounds.get(table.table_id))
                for at in positions
            ]
    return requests


def _ask(
    store: Store,
    model: LanguageModel,
    config: NarrationConfig,
    requests: Sequence[NarrationRequest],
    subjects: Mapping[str, Subject],
    causes: Causes,
) -> int:
    """Save answers as they come; `causes` gains why others did not come.

    Returns how many columns the model was asked for before it failed, all where it did not.
    """
    key, answers = answer_key(model, config.prompt), list[tuple[Subject, int, str]]()
    waiting = {(subjects[one.table_id], one.position) for one in requests}
    try:
        for said in narrate_columns(model, requests):
            subject = subjects[said.table_id]
            waiting.discard((subject, said.position))
            if said.problem is not None:
                causes.setdefault(subject, {})[said.position] = NoAnswer(said.problem)
                continue
            answers.append((subject, said.position, said.text))
            if len(answers) >= SAVED_AT_ONCE:
                store.narrations.save(key, answers)
                answers.clear()
    except ModelError as error:  # names and values describe columns meanwhile
        logger.warning("The model describes no more columns: %s", error)
        for subject, position in waiting:
            causes.setdefault(subject, {})[position] = NoAnswer(str(error), is_away=True)
    finally:
        store.narrations.save(key, answers)
    return len(requests) - len(waiting)


def prompt_context(table: Table, rows: Sequence[Row]) -> Ground:
    """Return what a grounded prompt shows of a table besides its columns' names."""
    names = [one_line(column.name) for column in table.columns]
    cells = tuple(row for row in rows[:SHOWN_ROWS] if len(row) == len(names))
    return _context(table, [row_text(names, row) for row in cells], cells)


def _prompt_contexts(store: Store, tables: Sequence[Table]) -> dict[str, Ground]:
    """Return likewise what is shown of tables that a run works on, by id.

    Where no rows were gathered (`sampling.values`), it shows the sampled ones' texts.
    """
    ids = [table.table_id for table in tables]
    gathered = {i: terms.rows for i, terms in store.profiles.terms(ids).items() if terms.rows}
    texts = store.documents.of_kind(DocumentKind.ROWS, (i for i in ids if i not in gathered))
    return {
        i: prompt_context(table, gathered[i])
        if i in gathered
        else _context(table, texts.get(i, []))
        for i, table in zip(ids, tables, strict=True)
    }


def _context(table: Table, rows: Sequence[str], cells: tuple[Row, ...] = ()) -> Ground:
    types = tuple(column.type for column in table.columns)
    return Ground(table.table_id.partition("/")[2], types, tuple(rows[:SHOWN_ROWS]), cells)
