"""Third stage: describe every column (Pneuma, section 4).

What people wrote is taken as it is; a language model, where one is enabled, is asked for the other
columns, and its description is shown where it leads back to its column; names and values speak for
the rest.
"""

import logging
import time
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from pneuma_assets.core.config.models import NarrationConfig
from pneuma_assets.core.describe.columns import (
    DESCRIBING_VERSION,
    WRITTEN,
    Known,
    added_descriptions,
    best_descriptions,
    fact_descriptions,
    is_written,
)
from pneuma_assets.core.describe.narrate import (
    NARRATION_TOKENS,
    NarrationRequest,
    narrate_columns,
    round_trip,
)
from pneuma_assets.core.describe.prompts import PROMPT_VERSIONS, SHOWN_ROWS, Ground
from pneuma_assets.core.describe.texts import NarratedColumns, row_text
from pneuma_assets.core.errors import StateError
from pneuma_assets.core.grouping import chunks
from pneuma_assets.core.models.base import Encoder, LanguageModel
from pneuma_assets.core.pipeline.stage import (
    Figures,
    Made,
    isolate_failures,
    make_documents,
    save_documents,
)
from pneuma_assets.core.progress import report
from pneuma_assets.core.sources.base import Row
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.narrations import Answer, AnswerKey
from pneuma_assets.core.store.queue import Stage, WorkItem
from pneuma_assets.core.tables import Description, DocumentKind, Provenance, Table, TableTerms
from pneuma_assets.core.terms.collect import names_of
from pneuma_assets.core.text.safe import one_line

logger = logging.getLogger(__name__)

CHUNK = 64
"""Tables read from the store, and saved in it, at a time."""

SAVED_AT_ONCE = 32
"""Narrations saved in the store at a time; a killed run asks for at most these again."""

WAIT_S = 1.0
"""How often it is looked whether another run has described what this one needs, too."""


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

    What the paper's prompt once brought holds for the grounded one, too: to ask for all of it
    again is not worth a model's hours. So does what an endpoint brought while it was shown values.
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

    Where a column has no description its name stands in (section 7.3.1 calls it SchemaConcat). So
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
    items = [item for item in store.queue.take(run_id, Stage.SAMPLED) if item.table is not None]
    known: dict[str, Known] = {}
    for chunk in chunks(items, CHUNK):
        recorded = _Recorded(store, [item.ref.table_id for item in chunk])
        for item in chunk:
            if item.table is not None:
                with isolate_failures(store, run_id, item, "narrations"):
                    known[item.ref.table_id] = recorded.known(item.table)
    items = [item for item in items if item.ref.table_id in known]
    tables = [item.table for item in items if item.table is not None]
    keys = [] if model is None else answer_keys(model, config)
    generated = Generated()
    if model is not None:
        if config.notice is not None:
            logger.warning("%s", config.notice)
        generated = generate_descriptions(store, run_id, tables, model, config, known)
    figures = SchemaNarrationsFigures(tables=len(tables), narrated=generated.columns)
    for chunk in chunks(items, CHUNK):
        describing = _Describing(store, run_id, model, config, encoder, keys, generated)
        figures += describing.describe(chunk, known)
    columns = sum(len(table.columns) for table in tables)
    return figures + SchemaNarrationsFigures(columns=columns, kept=columns - generated.columns)


@dataclass(frozen=True, slots=True)
class Generated:
    """How many columns a model was asked for, and why some have no narration."""

    columns: int = 0
    causes: dict[str, dict[int, str]] = field(default_factory=dict)
    """By the answer's subject and the column's position."""


@dataclass(frozen=True, slots=True)
class _Describing:
    """Chooses the best description of each column of some tables, and saves them."""

    store: Store
    run_id: str
    model: LanguageModel | None
    config: NarrationConfig
    encoder: Encoder | None
    keys: Sequence[AnswerKey]
    generated: Generated

    def describe(
        self, items: Sequence[WorkItem], known: Mapping[str, Known]
    ) -> SchemaNarrationsFigures:
        """Describe and save these tables; `known` is what was read of them, by table id."""
        made: list[Made[NarratedColumns]] = []
        shown: dict[str, Mapping[int, Description]] = {}
        answers: dict[str, Mapping[int, Answer]] = {}
        problems: dict[str, str | None] = {}
        refused = 0
        for item in items:
            if item.table is None:
                continue
            table, table_id = item.table, item.ref.table_id
            with isolate_failures(self.store, self.run_id, item, "narrations"):
                said = said_by_model(self.store, self.keys, table)
                fit, unfit = self._fit(table, said, known[table_id])
                best = best_descriptions(known[table_id], fit)
                texts = {position: one.text for position, one in best.items()}
                names = names_of(table_id)[1:]
                made.append(make_documents(NarratedColumns(table, texts, names)))
                shown[table_id], answers[table_id] = best, said
                problems[table_id] = self._problem(table, known[table_id])
                refused += unfit
        with save_documents(self.store, self.run_id, made) as held:
            done = [one.material.table for one in made if one.material.table_id in held]
            self.store.narrations.assign(
                self.keys[0] if self.keys else None,
                [(table, shown[table.table_id], answers[table.table_id]) for table in done],
            )
            for table_id, problem in problems.items():
                self.store.problems.record_of_table(table_id, "narrations", problem)
            self.store.queue.advance(self.run_id, Stage.NARRATED, [t.table_id for t in done])
        said_of = [one for some in shown.values() for one in some.values()]
        written = sum(one.provenance in WRITTEN for one in said_of)
        return SchemaNarrationsFigures(written=written, shown=len(said_of), refused=refused)

    def _fit(
        self, table: Table, answers: Mapping[int, Answer], known: Known
    ) -> tuple[Mapping[int, Description], int]:
        """Return the model's descriptions that may be shown, and how many others there are."""
        if self.model is None:
            return {}, 0
        name = self.model.name
        said = {p: a.text for p, a in answers.items() if a.text and not is_written(known, p)}
        fit = {p: Description(text, Provenance.MODEL, name) for p, text in said.items()}
        if self.encoder is not None:
            facts = {p: s[Provenance.PROFILE] for p, s in known.items() if Provenance.PROFILE in s}
            fit = round_trip(self.encoder, table, said, facts, name)
        dated = {p: replace(one, said_at=answers[p].said_at) for p, one in fit.items()}
        return dated, len(said) - len(fit)

    def _problem(self, table: Table, known: Known) -> str | None:
        """Name the columns that the model did not answer for, and the first one's cause."""
        if not self.keys:
            return None
        causes = self.generated.causes.get(self.keys[0].subject(table), {})
        failed = {at: cause for at, cause in causes.items() if not is_written(known, at)}
        if not failed:
            return None
        first = min(failed)
        return (
            f"{len(failed)} of {len(table.columns)} columns are not described (such as "
            f"{table.columns[first].name!r}: {failed[first]}); their names stand in, and "
            "'pneuma-assets index --rebuild' asks again"
        )


class _Recorded:
    """What the store has of the columns of some tables, read at once."""

    def __init__(self, store: Store, table_ids: Sequence[str]) -> None:
        self._rows = store.profiles.terms(table_ids)
        self._read = {i: store.descriptions.of_table(i) for i in table_ids}
        self._contexts = {i: store.documents.user_contexts(i) for i in table_ids}
        self._former = {
            i: store.profiles.former_names(i) for i, some in self._contexts.items() if some
        }
        self._external = {i: store.edges.fields(i).get(i, {}) for i in table_ids}
        self._corrections = {i: store.descriptions.corrections(i) for i in table_ids}

    def known(self, table: Table) -> Known:
        """Return what was read of a table's columns, what people added, and what rows show."""
        table_id = table.table_id
        rows = self._rows.get(table_id, TableTerms()).rows
        facts = fact_descriptions(table, rows, all_rows=len(rows) >= table.row_count)
        known = {at: dict(said) for at, said in self._read.get(table_id, {}).items()}
        for provenance, described in (
            (Provenance.PERSON, self._added(table)),
            (Provenance.PROFILE, facts),
        ):
            for position, description in described.items():
                known.setdefault(position, {})[provenance] = description
        for position, description in self._from_outside(table).items():
            known.setdefault(position, {}).setdefault(Provenance.DOCUMENT, description)
        for correction in self._corrections.get(table_id, ()):
            for position, column in enumerate(table.columns):
                if correction.is_of(column.name):
                    said = known.setdefault(position, {})
                    said[Provenance.CORRECTION] = correction.description
        return known

    def _from_outside(self, table: Table) -> dict[int, Description]:
        """Return what dbt, other assets and the like say of columns, whatever a name's capitals."""
        named = Counter(column.name.lower() for column in table.columns)
        found: dict[int, Description] = {}
        for origin, said in self._external.get(table.table_id, {}).items():
            folded = {name.lower(): text for name, text in said.columns.items()}
            source = f"asset {', '.join(said.assets)}" if said.assets else origin
            for position, column in enumerate(table.columns):
                name = column.name.lower()
                alone = folded.get(name) if named[name] == 1 else None
                if text := said.columns.get(column.name) or alone:
                    found.setdefault(position, Description(text, Provenance.DOCUMENT, source, 1.0))
        return found

    def _added(self, table: Table) -> dict[int, Description]:
        """Return what people's contexts say of columns, be it by a name that they had before."""
        contexts = [(one.name, one.text) for one in self._contexts.get(table.table_id, ())]
        added = added_descriptions(table, contexts)
        former = self._former.get(table.table_id, {})
        for number in range(max(map(len, former.values()), default=0)):
            columns = [
                replace(c, name=name)
                for c in table.columns
                for name in former.get(c.name, ())[number : number + 1] or (c.name,)
            ]
            before = added_descriptions(replace(table, columns=tuple(columns)), contexts)
            added = before | added
        return added


def said_by_model(store: Store, keys: Sequence[AnswerKey], table: Table) -> dict[int, Answer]:
    """Return what a model said of a table's columns, by position; the first key's goes first."""
    said: dict[int, Answer] = {}
    for key in reversed(keys):
        said |= store.narrations.answers(key, table)
    return said


def generate_descriptions(
    store: Store,
    run_id: str,
    tables: Sequence[Table],
    model: LanguageModel,
    config: NarrationConfig,
    known: Mapping[str, Known],
) -> Generated:
    """Ask a model for these tables' columns that have no description, and save its answers.

    Tables that share a subject ask once, also those of several runs: what another run is asking is
    waited for, unless that run ends.

    Args:
        store: Where answers are saved.
        run_id: Who asks.
        tables: All that this run works on.
        model: What is asked.
        config: How.
        known: The descriptions of each table's columns, by its id; what people wrote is not asked.

    Raises:
        ModelError: The model is missing or fails; what it said before is saved.
        StateError: This run was taken for dead.
    """
    keys = answer_keys(model, config)
    for table in tables:
        for one in keys:
            store.narrations.carry_over(one, table)
    generated, waited = Generated(), False
    left = {keys[0].subject(table): table for table in tables}
    wanted = _undescribed(keys[0], tables, known)
    while True:
        open_ = {s: _unanswered(store, keys, table, wanted[s]) for s, table in left.items()}
        left = {subject: table for subject, table in left.items() if open_[subject]}
        if not left:
            return generated
        mine = store.narrations.reserve(keys[0], left.keys(), run_id)
        if not mine:
            if not waited:
                report("waiting for narrations of another run", 0, 0)
            waited = True
            time.sleep(WAIT_S)
            continue
        try:
            requests = []
            for subject in sorted(mine):
                table = left.pop(subject)
                # Known by now may be what the run that had reserved it has described since.
                positions = _unanswered(store, keys, table, wanted[subject])
                requests += _requests(store, config, table, positions)
            generated = Generated(generated.columns + len(requests), generated.causes)
            if requests:  # else the model is not even loaded
                subjects = {t.table_id: keys[0].subject(t) for t in tables}
                _ask(store, run_id, model, config, requests, subjects, generated.causes)
        finally:
            store.narrations.release(run_id)  # two runs must not wait for each other


def _undescribed(
    key: AnswerKey, tables: Sequence[Table], known: Mapping[str, Known]
) -> dict[str, set[int]]:
    """Return the columns of each subject that nobody described in some table of it."""
    found: dict[str, set[int]] = {}
    for table in tables:
        read = known[table.table_id]
        places = {at for at in range(len(table.columns)) if not is_written(read, at)}
        found.setdefault(key.subject(table), set()).update(places)
    return found


def _unanswered(
    store: Store, keys: Sequence[AnswerKey], table: Table, wanted: Collection[int]
) -> list[int]:
    return sorted({*wanted} - said_by_model(store, keys, table).keys())


def _requests(
    store: Store, config: NarrationConfig, table: Table, positions: Sequence[int]
) -> list[NarrationRequest]:
    if not positions:
        return []
    names = tuple(column.name for column in table.columns)
    context = stored_prompt_context(store, table) if config.prompt == "grounded" else None
    return [NarrationRequest(table.table_id, names, position, context) for position in positions]


def _ask(
    store: Store,
    run_id: str,
    model: LanguageModel,
    config: NarrationConfig,
    requests: Sequence[NarrationRequest],
    subjects: Mapping[str, str],
    causes: dict[str, dict[int, str]],
) -> None:
    """Save answers as they come; `causes` gains why others did not come."""
    key, answers = answer_key(model, config.prompt), list[tuple[str, int, str]]()
    try:
        for said in narrate_columns(model, requests):
            subject = subjects[said.table_id]
            if said.problem is not None:
                causes.setdefault(subject, {})[said.position] = said.problem
                continue
            answers.append((subject, said.position, said.text))
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


def prompt_context(table: Table, rows: Sequence[Row]) -> Ground:
    """Return what a grounded prompt shows of a table besides its columns' names.

    Args:
        table: Its profile.
        rows: Of it, cells as text; the first are shown.
    """
    names = [one_line(column.name) for column in table.columns]
    cells = tuple(row for row in rows[:SHOWN_ROWS] if len(row) == len(names))
    return _context(table, [row_text(names, row) for row in cells], cells)


def stored_prompt_context(store: Store, table: Table) -> Ground:
    """Return likewise what is shown of a table that a run works on.

    Where no rows were gathered (`sampling.values`), it shows the sampled ones' texts, without
    examples of single values: where a cell ends cannot be told from a text.
    """
    gathered = store.profiles.terms([table.table_id]).get(table.table_id, TableTerms()).rows
    if gathered:
        return prompt_context(table, gathered)
    texts = store.documents.of_kind(DocumentKind.ROWS, [table.table_id])
    return _context(table, texts.get(table.table_id, []))


def _context(table: Table, rows: Sequence[str], cells: tuple[Row, ...] = ()) -> Ground:
    types = tuple(column.type for column in table.columns)
    return Ground(table.table_id.partition("/")[2], types, tuple(rows[:SHOWN_ROWS]), cells)
