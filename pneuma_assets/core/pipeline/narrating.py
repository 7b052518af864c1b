"""Third stage: describe every column (Pneuma, section 4).

What people wrote is taken as it is; a language model, where one is enabled, is asked for the other
columns, and what it says is shown where it leads back to its column; names and values speak for
the rest.
"""

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from pneuma_assets.core.config.models import NarrationConfig
from pneuma_assets.core.documents.maker import NarratedColumns
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
from pneuma_assets.core.narration.round_trip import those_that_lead_back
from pneuma_assets.core.pipeline.answer_keys import answer_keys, narration_key, said_by_model
from pneuma_assets.core.pipeline.asking import Asked, ask_model
from pneuma_assets.core.pipeline.documents import Made, keeping_documents, make_documents
from pneuma_assets.core.pipeline.figures import Figures
from pneuma_assets.core.pipeline.one_table import one_table
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.narrations import AnswerKey
from pneuma_assets.core.store.queue import Stage, WorkItem
from pneuma_assets.core.tables import Description, Provenance, Table, TableTerms
from pneuma_assets.core.terms.collect import names_of

logger = logging.getLogger(__name__)

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
    """Columns that the model was asked for, those that share an answer once."""
    kept: int = 0
    """The other columns: described by people, before, or by another table, or no model is used."""
    written: int = 0
    """Columns that people described, in documents, comments or contexts."""
    shown: int = 0
    """Columns of which anything is said, whoever says it."""
    refused: int = 0
    """Texts of the model that are not shown, since they did not lead back to their column."""


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
    for item in store.queue.take(run_id, Stage.SAMPLED):
        if item.table is not None:
            with one_table(store, run_id, item, "narrations"):
                known[item.table.table_id] = _known(store, item.table)
                taken.append((item, item.table))
    tables = [table for _, table in taken]
    keys = [] if model is None else answer_keys(model, config)
    asked = Asked()
    if model is not None:
        if config.notice is not None:
            logger.warning("%s", config.notice)
        asked = ask_model(store, run_id, tables, model, config, known)
    described, refused = Described(), 0
    for item, table in taken:
        read = known[table.table_id]
        with one_table(store, run_id, item, "narrations"):
            models, unfit = _by_model(store, table, read, model, config, encoder)
            best = best_descriptions(read, models, facts=config.facts)
            failed = asked.causes.get(keys[0].subject(table), {}) if keys else {}
            store.problems.record_of_table(
                table.table_id, "narrations", _problem(table, failed, read)
            )
            described[table.table_id] = best
            refused += unfit
    taken = [one for one in taken if one[1].table_id in described]
    _keep(store, run_id, keys, taken, described)
    columns = sum(len(table.columns) for table in tables)
    said = [one for some in described.values() for one in some.values()]
    return SchemaNarrationsFigures(
        tables=len(tables),
        columns=columns,
        narrated=asked.columns,
        kept=columns - asked.columns,
        written=sum(one.provenance in WRITTEN for one in said),
        shown=len(said),
        refused=refused,
    )


def _known(store: Store, table: Table) -> Known:
    """Return what was read of a table's columns, what people added by hand, and what rows show.

    With it comes what people corrected, by the columns' names.
    """
    added = _added(store, table)
    rows = store.profiles.terms([table.table_id]).get(table.table_id, TableTerms()).rows
    facts = fact_descriptions(table, rows, all_rows=len(rows) >= table.row_count)
    known = {at: dict(said) for at, said in store.descriptions.of_table(table.table_id).items()}
    for provenance, described in ((Provenance.PERSON, added), (Provenance.PROFILE, facts)):
        for position, description in described.items():
            known.setdefault(position, {})[provenance] = description
    for position, said_outside in _outside(store, table).items():
        known.setdefault(position, {}).setdefault(Provenance.DOCUMENT, said_outside)
    for correction in store.descriptions.corrections(table.table_id):
        for position, column in enumerate(table.columns):
            if correction.is_of(column.name):
                said = known.setdefault(position, {})
                said[Provenance.CORRECTION] = correction.description
    return known


def _outside(store: Store, table: Table) -> dict[int, Description]:
    """Return what dbt, other assets and the like say of columns, whatever a name's capitals."""
    named = Counter(column.name.lower() for column in table.columns)
    found: dict[int, Description] = {}
    for origin, said in store.edges.fields(table.table_id).get(table.table_id, {}).items():
        folded = {name.lower(): text for name, text in said.columns.items()}
        source = f"asset {', '.join(said.assets)}" if said.assets else origin
        for position, column in enumerate(table.columns):
            alone = folded.get(column.name.lower()) if named[column.name.lower()] == 1 else None
            text = said.columns.get(column.name) or alone
            if text:
                found.setdefault(position, Description(text, Provenance.DOCUMENT, source, 1.0))
    return found


def _added(store: Store, table: Table) -> dict[int, Description]:
    """Return what people's contexts say of columns, be it by a name that a column had before."""
    contexts = [(one.name, one.text) for one in store.documents.user_contexts(table.table_id)]
    added = added_descriptions(table, contexts)
    former = store.profiles.former_names(table.table_id) if contexts else {}
    for number in range(max(map(len, former.values()), default=0)):
        then = [former.get(c.name, ())[number : number + 1] or (c.name,) for c in table.columns]
        named = zip(table.columns, then, strict=True)
        before = replace(table, columns=tuple(replace(c, name=name) for c, (name,) in named))
        for position, said in added_descriptions(before, contexts).items():
            added.setdefault(position, said)
    return added


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
    answers = said_by_model(store, answer_keys(model, config), table)
    said = {
        position: answer.text
        for position, answer in answers.items()
        if answer.text and not is_written(known, position)
    }
    fit = {p: Description(text, Provenance.MODEL, model.name) for p, text in said.items()}
    if encoder is not None and config.round_trip:
        facts = {p: s[Provenance.PROFILE] for p, s in known.items() if Provenance.PROFILE in s}
        fit = those_that_lead_back(encoder, table, said, facts, model.name)
    dated = {p: replace(one, said_at=answers[p].said_at) for p, one in fit.items()}
    return dated, len(said) - len(fit)


def _keep(
    store: Store,
    run_id: str,
    keys: Sequence[AnswerKey],
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
            keys[0] if keys else None,
            [
                (table, described[table.table_id], said_by_model(store, keys, table))
                for table in done
            ],
        )
        store.queue.advance(run_id, Stage.NARRATED, [table.table_id for table in done])


def _problem(table: Table, causes: Mapping[int, str], known: Known) -> str | None:
    """Name the columns that the model did not answer for, and the first one's cause."""
    failed = {at: cause for at, cause in causes.items() if not is_written(known, at)}
    if not failed:
        return None
    first = min(failed)
    return (
        f"{len(failed)} of {len(table.columns)} columns are not described (such as "
        f"{table.columns[first].name!r}: {failed[first]}); their names stand in, and "
        "'pneuma-assets index --rebuild' asks again"
    )
