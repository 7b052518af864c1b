"""Narrations kept between runs, so that nothing is asked twice.

The key is (model and prompt version, subject, position). A table whose schema changed keeps its own
narration, and those of columns that it still has, under whatever name (`renaming`). An answer stays
under the key that it was given under: what rows and values brought is never that of other tables.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Row, delete, select, update

from pneuma_assets.core.store import schema
from pneuma_assets.core.store.database import StorePart
from pneuma_assets.core.tables import THE_TABLE, Description, Provenance, Table

KEPT_SHARE = 0.5
"""Where fewer columns stayed, both of those that were there and of those that are, it is another
table under the same name, and all columns are described anew."""

_said = schema.table_narrations.c
_OF_TABLE, _OF_COLUMN = "table", "column"
_DESCRIBED = select(schema.table_narrations).where(_said.text != "", _said.about == _OF_COLUMN)
_SUMMARISED = select(schema.table_narrations).where(_said.text != "", _said.about == _OF_TABLE)
_NOTHING = Description("", Provenance.MODEL, "")


@dataclass(frozen=True, slots=True)
class AnswerKey:
    """Whose answers (model and prompt), and whether of one table or of all with a schema."""

    model: str
    of_table: bool = False

    def subject(self, table: Table) -> "Subject":
        """Return what an answer about this table, or a column of it, belongs to."""
        return Subject(schema.storable(table.table_id) if self.of_table else "", table.schema_hash)


class Subject(NamedTuple):
    """What an answer belongs to: a table with its schema, or all tables with one (no table id)."""

    table_id: str
    schema_hash: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model said of a column or table, empty where it had nothing to say.

    Attributes:
        text: It.
        model: That of the key that it was given under, and stays under.
        said_at: When.
    """

    text: str
    model: str
    said_at: float | None = None


class NarrationCache(StorePart):
    """The part of the store that remembers what the model said of tables and columns."""

    def answers(
        self, keys: Sequence[AnswerKey], tables: Sequence[Table]
    ) -> dict[str, dict[int, Answer]]:
        """Return what was said of these tables, under the first keys first, by id and position."""
        found: dict[str, dict[int, Answer]] = {table.table_id: {} for table in tables}
        n = schema.narrations.c
        for key in reversed(keys):
            by_model = select(schema.narrations).where(n.model == key.model)
            if key.of_table:
                said = self._db.grouped(by_model, n.table_id, [*found])
            else:
                hashes = {table.schema_hash for table in tables}
                said = self._db.grouped(by_model.where(n.table_id == ""), n.schema_hash, hashes)
            for table in tables:
                for row in said[table.table_id if key.of_table else table.schema_hash]:
                    if row.schema_hash == table.schema_hash:
                        answer = Answer(row.text, row.model, row.said_at)
                        found[table.table_id][row.position] = answer
        return found

    def carry_over(self, key: AnswerKey, tables: Sequence[Table]) -> None:
        """Let tables, and the columns they still have, keep what was said under other schemas."""
        ids = [table.table_id for table in tables]
        before = self._db.grouped(select(schema.table_narrations), _said.table_id, ids)
        known, rows = self.answers([key], tables), []
        for table in tables:
            was = {tuple(getattr(row, c) for c in _PLACE): row for row in before[table.table_id]}
            kept = {
                position: was[*place.values()]
                for position, place in _places(table)
                if (*place.values(),) in was
            }
            had = sum(about == _OF_COLUMN for about, *_ in was)
            if len(kept.keys() - {THE_TABLE}) < KEPT_SHARE * min(had, len(table.columns)):
                continue
            rows += [
                _row(key.subject(table), position, Answer(row.answer, row.model, row.answered_at))
                for position, row in kept.items()
                if row.model == key.model
                and row.answer is not None
                and position not in known[table.table_id]
            ]
        with self._db.write() as connection:
            schema.upsert(connection, schema.narrations, rows)

    def save(self, key: AnswerKey, answers: Iterable[tuple[Subject, int, str]]) -> None:
        """Keep answers given just now, each its subject, a column position and the narration."""
        with self._db.write() as connection:
            now = self._db.now()
            said = ((subject, at, Answer(text, key.model, now)) for subject, at, text in answers)
            rows = [_row(*one) for one in said]
            schema.upsert(connection, schema.narrations, rows)

    def assign(
        self,
        narrated: Iterable[tuple[Table, Mapping[int, Description], Mapping[int, Answer]]],
        *,
        asked: bool,
    ) -> None:
        """Keep what is shown of tables and columns, and what the model said of them, by position.

        Where a model is `asked`, columns of which nothing is said are kept, too: which share of a
        schema another one has is counted over all. So are none of too long a name.
        """
        narrated = list(narrated)
        rows = [
            {
                "table_id": table.table_id,
                **place,
                **_shown(shown.get(position, _NOTHING), answers.get(position)),
            }
            for table, shown, answers in narrated
            for position, place in _places(table)
            if (asked or position in shown) and self._db.fits(place["column_name"])
        ]
        with self._db.write() as connection:
            schema.delete_by(
                connection, _said.table_id, [table.table_id for table, _, _ in narrated]
            )
            schema.insert_new(connection, schema.table_narrations, rows)

    def forget_empty(self) -> None:
        """Let all be asked again of which the model had nothing to say."""
        said_nothing = update(schema.table_narrations).where(_said.answer == "")
        with self._db.write() as connection:
            connection.execute(delete(schema.narrations).where(schema.narrations.c.text == ""))
            connection.execute(said_nothing.values(answer=None, answered_at=None))

    def of_tables(self, table_ids: Collection[str]) -> dict[str, dict[str, Description]]:
        """Return what is said of the columns of tables, by table id and name."""
        found = self._db.grouped(_DESCRIBED, _said.table_id, table_ids)
        return {i: {r.column_name: _description_of(r) for r in rows} for i, rows in found.items()}

    def summaries(self, table_ids: Collection[str]) -> dict[str, Description]:
        """Return what a model says of tables as a whole, of those of which it says anything."""
        found = self._db.read_by(_SUMMARISED, _said.table_id, table_ids)
        return {row.table_id: _description_of(row) for row in found}

    def corrected(self, table_id: str) -> set[str]:
        """Return the columns that people had corrected or rejected when the table was described."""
        mine = _said.table_id == table_id, _said.provenance == str(Provenance.CORRECTION)
        return {row.column_name for row in self._db.read(select(_said.column_name).where(*mine))}

    def of_all(self) -> dict[str, dict[str, tuple[str, Description]]]:
        """Return type and description of every described column, by table id and name."""
        found: dict[str, dict[str, tuple[str, Description]]] = {}
        for row in self._db.read(_DESCRIBED):
            one = row.column_type, _description_of(row)
            found.setdefault(row.table_id, {})[row.column_name] = one
        return found


_PLACE = ("about", "column_name", "column_type")


def _places(table: Table) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield where something may be said of a table, by position and as it is kept."""
    yield THE_TABLE, dict(zip(_PLACE, (_OF_TABLE, "", ""), strict=True))
    for position, column in enumerate(table.columns):
        place = _OF_COLUMN, column.name, column.type
        yield position, dict(zip(_PLACE, place, strict=True))


def _description_of(row: Row[Any]) -> Description:
    said = row.text, Provenance(row.provenance), row.said_by, row.confidence, row.said_at
    return Description(*said)


def _shown(one: Description, answer: Answer | None) -> dict[str, object]:
    return {
        "text": one.text,
        "provenance": str(one.provenance),
        "said_by": one.source,
        "confidence": one.confidence,
        "said_at": one.said_at,
        "model": "" if answer is None else answer.model,
        "answer": None if answer is None else answer.text,
        "answered_at": None if answer is None else answer.said_at,
    }


def _row(subject: Subject, position: int, answer: Answer) -> dict[str, object]:
    return {
        "model": answer.model,
        **subject._asdict(),
        "position": position,
        "text": answer.text,
        "said_at": answer.said_at,
    }
