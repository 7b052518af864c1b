"""Third stage: describe every table and its columns (Pneuma, section 4).

What people wrote is taken as it is; a language model is asked for the rest, where one is named;
names and values speak for the columns of which it says nothing.
"""

import logging
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import chain
from math import ceil
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
from pneuma_assets.core.describe.narrate import NarrationRequest, narrate_tables, requests_of
from pneuma_assets.core.describe.prompts import PROMPT_VERSIONS, Ground
from pneuma_assets.core.describe.texts import NarratedColumns
from pneuma_assets.core.errors import ModelError
from pneuma_assets.core.grouping import chunks
from pneuma_assets.core.lineage.external import TableFields
from pneuma_assets.core.models.base import LanguageModel
from pneuma_assets.core.models.endpoint import prices_of
from pneuma_assets.core.models.usage import Usage, counting
from pneuma_assets.core.pipeline.stage import Figures, isolate_failures, save_documents
from pneuma_assets.core.progress import report
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.descriptions import Correction, table_description
from pneuma_assets.core.store.documents import UserContext
from pneuma_assets.core.store.narrations import Answer, AnswerKey, Subject
from pneuma_assets.core.store.queue import Stage, WorkItem
from pneuma_assets.core.tables import (
    THE_TABLE,
    Description,
    Document,
    DocumentKind,
    Provenance,
    Table,
    TableTerms,
)
from pneuma_assets.core.terms.collect import names_of

logger = logging.getLogger(__name__)

CHUNK = 64
"""Tables read from the store, and saved in it, at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaNarrationsFigures(Figures):
    """What describing the claimed tables and their columns did."""

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
    summarised: int = 0
    """Tables of which the model says what they are."""
    unanswered: int = 0
    """Prompts that the model did not answer, or not in full, be it empty or of another form."""
    left: int = 0
    """Tables of which the budget left something to later runs."""
    expected_tokens: int = 0
    """Tokens of all prompts and answers, estimated before the first of them."""
    expected_cents: int = 0
    """What these cost, in hundredths of the prices' currency, where there are prices."""
    requests: int = 0
    """Requests to the model, repeated ones included."""
    tokens_read: int = 0
    """Tokens of these."""
    tokens_written: int = 0
    """Tokens of its answers."""


class NoAnswer(NamedTuple):
    """Why a model says nothing of a table or column, and whether a later run asks by itself."""

    cause: str
    asked_again: bool = True


Causes = dict[Subject, dict[int, NoAnswer]]
"""By subject, and position of a column or `THE_TABLE`."""


def narration_key(model: LanguageModel, prompt: str) -> str:
    """Name what decides a narration besides what it is of: model and prompt."""
    return f"{model.name}|prompt {PROMPT_VERSIONS[prompt]}"


def describing_key(model: LanguageModel | None, config: NarrationConfig) -> str:
    """Name what decides how tables are described; all are indexed again when it changes."""
    asked = "" if model is None else narration_key(model, config.prompt)
    return f"{asked}|describing {DESCRIBING_VERSION}"


def answer_key(model: LanguageModel, prompt: str) -> AnswerKey:
    """Name what decides a narration, and whether it belongs to a table or to all of a schema."""
    return AnswerKey(narration_key(model, prompt), of_table=prompt == "values")


def answer_keys(model: LanguageModel, config: NarrationConfig) -> list[AnswerKey]:
    """Return under what keys there may be narrations, best first.

    What another prompt once brought holds, too: to ask for it again is not worth a model's hours.
    """
    prompts = dict.fromkeys([config.prompt, *PROMPT_VERSIONS])
    return [answer_key(model, one) for one in prompts]


def describe_tables(
    store: Store, run_id: str, model: LanguageModel | None, config: NarrationConfig
) -> SchemaNarrationsFigures:
    """Describe every claimed table and its columns; the model is asked only what is new.

    Where a column has no description its name stands in (section 7.3.1 calls it SchemaConcat).
    What the model does not answer is a problem of its table, which a later run reads again to ask
    for it, unless the model refuses the very prompt.
    """
    items = [item for item in store.queue.take(run_id, Stage.SAMPLED) if item.table is not None]
    known: dict[str, Known] = {}
    for chunk in chunks(items, CHUNK):
        known |= known_descriptions(store, run_id, chunk)
    items = [item for item in items if item.ref.table_id in known]
    tables = [item.table for item in items if item.table is not None]
    figures, causes = SchemaNarrationsFigures(), Causes()
    if model is not None:
        if config.notice is not None:
            logger.warning("%s", config.notice)
        with counting() as used:
            figures, causes = generate_descriptions(store, tables, model, config, known, used)
        figures += SchemaNarrationsFigures(
            requests=used.calls, tokens_read=used.read, tokens_written=used.written
        )
    columns = sum(len(table.columns) for table in tables)
    figures += SchemaNarrationsFigures(
        tables=len(tables), columns=columns, kept=columns - figures.narrated
    )
    for chunk in chunks(items, CHUNK):
        figures += _describe(store, run_id, chunk, known, model, config, causes)
    return figures


def _describe(
    store: Store,
    run_id: str,
    items: Sequence[WorkItem],
    known: Mapping[str, Known],
    model: LanguageModel | None,
    config: NarrationConfig,
    causes: Causes,
) -> SchemaNarrationsFigures:
    """Choose the best description of each of some tables and their columns, and save them."""
    keys = [] if model is None else answer_keys(model, config)
    tables = {item.ref.table_id: item.table for item in items if item.table is not None}
    answers = store.narrations.answers(keys, list(tables.values()))
    shown: dict[str, dict[int, Description]] = {}
    made: dict[str, Mapping[DocumentKind, Sequence[Document]]] = {}
    summaries: dict[str, Description] = {}
    for item in items:
        i, table = item.ref.table_id, tables[item.ref.table_id]
        with isolate_failures(store, run_id, item, "narrations"):
            said = {} if model is None else _said_by(model.name, answers[i])
            if THE_TABLE in said and Provenance.CORRECTION not in known[i].get(THE_TABLE, {}):
                summaries[i] = said[THE_TABLE]  # searched also where people say what the table is
            best = best_descriptions(known[i], said)
            best.pop(THE_TABLE, None)
            texts = {position: searched_text(one) for position, one in best.items()}
            summary = summaries[i].text if i in summaries else ""
            made[i] = documents_of(NarratedColumns(table, texts, names_of(i)[1:], summary))
            shown[i] = best
    failed = {i: causes.get(keys[0].subject(tables[i]), {}) for i in made if keys}
    problems = {i: _problem(tables[i], known[i], failed.get(i, {})) for i in made}
    with save_documents(store, run_id, made) as held:
        done = [i for i in made if i in held]
        of_tables = {i: {THE_TABLE: one} for i, one in summaries.items()}
        store.narrations.assign(
            [
                (tables[i], _corrected(known[i]) | shown[i] | of_tables.get(i, {}), answers[i])
                for i in done
            ],
            asked=model is not None,
        )
        store.problems.record_of_tables("narrations", {i: problems[i] for i in done})
        store.queue.advance(run_id, Stage.NARRATED, done)
        left = (i for i in done if any(one.asked_again for one in failed.get(i, {}).values()))
        store.queue.complete_later(run_id, [i for i in left if problems[i] is not None])
    said_of = [one for some in shown.values() for one in some.values()]
    written = sum(one.provenance in WRITTEN for one in said_of)
    return SchemaNarrationsFigures(
        written=written, shown=len(said_of), summarised=len(summaries.keys() & made.keys())
    )


def _corrected(known: Known) -> dict[int, Description]:
    """Return people's corrections of columns; a rejection, too, is kept until the next run."""
    mine = Provenance.CORRECTION
    return {at: said[mine] for at, said in known.items() if mine in said and at != THE_TABLE}


def _said_by(model: str, answers: Mapping[int, Answer]) -> dict[int, Description]:
    return {
        at: Description(answer.text, Provenance.MODEL, model, said_at=answer.said_at)
        for at, answer in answers.items()
        if answer.text
    }


def _problem(table: Table, known: Known, causes: Mapping[int, NoAnswer]) -> str | None:
    """Say what the model did not describe, and why in the words of the first cause."""
    failed = {at: cause for at, cause in causes.items() if not is_written(known, at)}
    if not failed:
        return None
    columns = len(failed.keys() - {THE_TABLE})
    what = ["the table"] * (THE_TABLE in failed)
    what += [f"{columns:,} of {len(table.columns):,} columns"] * (columns > 0)
    again = "'pneuma-assets index --rebuild' asks again"
    if any(one.asked_again for one in failed.values()):
        again = "a later run asks again; 'pneuma-assets index' asks at once"
    return (
        f"the model does not describe {' and '.join(what)}: {failed[min(failed)].cause}; names and "
        f"values stand in, and {again}"
    )


def known_descriptions(
    store: Store, run_id: str, items: Sequence[WorkItem]
) -> dict[str, dict[int, dict[Provenance, Description]]]:
    """Return what was read of tables' columns, what people added, and what rows show, by table.

    At `THE_TABLE` stands what people say of the table as a whole.
    """
    ids = [item.ref.table_id for item in items]
    read = store.descriptions.of_tables(ids)
    terms = store.profiles.terms(ids)
    contexts = store.documents.user_contexts(ids)
    former = store.profiles.former_names(i for i in ids if contexts[i])
    outside = store.edges.fields(ids)
    corrections = store.descriptions.corrections(ids)
    written = store.documents.beginnings(ids)
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
            own = [one for one in corrections if one.table_id == i and one.column is None]
            known[THE_TABLE] = _of_table(table, written.get(i, ()), own)
            found[i] = known
    return found


def _of_table(
    table: Table, written: Sequence[Description], own: Sequence[Correction]
) -> dict[Provenance, Description]:
    said = table_description(table.comment, written, own, lambda: table.columns)
    people = [] if said is None else [said]
    return {one.provenance: one for one in (*people, *(one.description for one in own))}


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
    used: Usage,
) -> tuple[SchemaNarrationsFigures, Causes]:
    """Ask a model for what nobody described (`known`) and of which it never said anything.

    Tables that share a subject ask once. What the model said before it failed is saved. `used` is
    what it was asked meanwhile, which ends at the budget.

    Returns:
        What was asked, and why some of that has no answer.
    """
    keys = answer_keys(model, config)
    for chunk in chunks(tables, CHUNK):
        for one in keys:
            store.narrations.carry_over(one, chunk)
    subjects = {table.table_id: keys[0].subject(table) for table in tables}
    spent = NoAnswer(f"this run has used its {config.budget:,} tokens (narration.budget)")
    large = NoAnswer(f"one request takes more than {config.budget:,} tokens (narration.budget)")
    requests: list[NarrationRequest] = []
    causes, expected, of_tables, planned = Causes(), Usage(), set[str](), 0
    for asked in chunks(_wanted(store, keys, tables, known), CHUNK):
        shown = [table for table, _ in asked] if config.prompt == "values" else []
        grounds = _grounds(store, shown, known)
        parts = (requests_of(one, lacking, grounds.get(one.table_id)) for one, lacking in asked)
        for request in chain.from_iterable(parts):
            read, written = request.tokens
            expected.calls, expected.read = expected.calls + 1, expected.read + read
            expected.written += written
            of_tables.add(request.table_id)
            if planned + read + written <= config.budget:
                planned += read + written
                requests.append(request)
            else:
                why = large if read + written > config.budget else spent
                _note(causes, subjects[request.table_id], request.asked, why)
    cents = ceil(100 * prices_of(config.model).cost(expected.read, expected.written))
    figures = SchemaNarrationsFigures(
        expected_tokens=expected.read + expected.written, expected_cents=cents
    )
    if expected.calls:
        costs = f", which cost about {cents / 100:,.2f}" if cents else ""
        report(
            f"{len(of_tables):,} tables to describe in {expected.calls:,} requests: about "
            f"{expected.read:,} tokens to read and {expected.written:,} to write{costs}", 0, 0
        )  # fmt: skip
    if requests:  # without any, the model is not even loaded
        figures += _ask(store, model, config, requests, subjects, causes, used, spent)
    left = sum(not {spent, large}.isdisjoint(one.values()) for one in causes.values())
    return figures + SchemaNarrationsFigures(left=left), causes


def _note(causes: Causes, subject: Subject, asked: Iterable[int], why: NoAnswer) -> None:
    causes.setdefault(subject, {}).update(dict.fromkeys(asked, why))


def _wanted(
    store: Store, keys: Sequence[AnswerKey], tables: Sequence[Table], known: Mapping[str, Known]
) -> list[tuple[Table, set[int]]]:
    """Return what is to be asked, of one table a subject what any table of that lacks.

    Tables of which other columns are hidden are asked about apart.
    """
    wanted: dict[tuple[Subject, frozenset[str]], tuple[Table, set[int]]] = {}
    for chunk in chunks(tables, CHUNK):
        answers = store.narrations.answers(keys, chunk)
        for table in chunk:
            if lacking := _lacking(table, known[table.table_id], answers[table.table_id]):
                alike = keys[0].subject(table), frozenset(table.hidden_names)
                wanted.setdefault(alike, (table, set()))[1].update(lacking)
    return [*wanted.values()]


def _lacking(table: Table, known: Known, answers: Collection[int]) -> set[int]:
    """Return what a model is to be asked of a table, of which it has given these answers.

    Where it is asked at all, it says what the table is, too, as long as nobody corrected that: the
    summary is searched beside what people wrote.
    """
    places = [THE_TABLE, *(at for at, one in enumerate(table.columns) if not one.hidden)]
    lacking = {at for at in places if at not in answers and not is_written(known, at)}
    corrected = Provenance.CORRECTION in known.get(THE_TABLE, {})
    return lacking | ({THE_TABLE} - {*answers} if lacking and not corrected else set())


def _ask(
    store: Store,
    model: LanguageModel,
    config: NarrationConfig,
    requests: Sequence[NarrationRequest],
    subjects: Mapping[str, Subject],
    causes: Causes,
    used: Usage,
    spent: NoAnswer,
) -> SchemaNarrationsFigures:
    """Save answers as they come; `causes` gains why others did not come.

    What the model thinks before it answers is in no estimate, so it is asked as far as the budget
    is left, and the rest is `spent`. Counts what it was asked before it failed, all where it did
    not.
    """
    key, waiting, unanswered = answer_key(model, config.prompt), {*requests}, 0
    why = spent

    def left() -> int:
        return config.budget - used.read - used.written

    try:
        with closing(narrate_tables(model, requests, left)) as narrations:
            for one in narrations:
                subject = subjects[one.request.table_id]
                waiting.discard(one.request)
                store.narrations.save(key, [(subject, at, said) for at, said in one.said.items()])
                if one.problem:
                    unanswered += 1
                    missing = [at for at in one.request.asked if at not in one.said]
                    _note(causes, subject, missing, NoAnswer(one.problem, not one.refused))
    except ModelError as error:  # names and values describe columns meanwhile
        logger.warning("The model describes no more tables: %s", error)
        why = NoAnswer(str(error))
    for request in waiting:
        _note(causes, subjects[request.table_id], request.asked, why)
    narrated = sum(one.columns for one in requests if one not in waiting)
    return SchemaNarrationsFigures(narrated=narrated, unanswered=unanswered)


def _grounds(
    store: Store, tables: Sequence[Table], known: Mapping[str, Known]
) -> dict[str, Ground]:
    """Return what prompts show of tables besides names and types, by id.

    Where no rows were gathered (`sampling.values`), these are the sampled ones' texts.
    """
    ids = [table.table_id for table in tables]
    gathered = store.profiles.terms(ids)
    texts = store.documents.of_kind(DocumentKind.ROWS, ids)
    written = store.documents.beginnings(ids)
    of_folders = store.documents.of_kind(DocumentKind.FOLDER, ids)
    found: dict[str, Ground] = {}
    for table in tables:
        i, count = table.table_id, len(table.columns)
        profiles = store.statistics.column_profiles(i)
        told = {at: profiles[c.name] for at, c in enumerate(table.columns) if c.name in profiles}
        people = best_descriptions(known[i], {})
        about = [table.comment, *(one.text for one in written.get(i, ())), *of_folders.get(i, ())]
        found[i] = Ground(
            written=[text for text in dict.fromkeys(about) if text.strip()],
            said={at: one.text for at, one in people.items() if one.provenance in WRITTEN},
            rows=[row for row in gathered.get(i, TableTerms()).rows if len(row) == count],
            row_texts=texts.get(i, ()),
            values={at: [cell for cell, _ in one.frequent] for at, one in told.items()},
            ends={
                at: (one.least, one.greatest)
                for at, one in told.items()
                if one.least and one.greatest
            },
        )
    return found
