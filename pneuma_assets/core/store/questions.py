"""Questions about this deployment's own tables, and how well they were answered from time to time.

A question is forgotten with what it was made of: its words are those of names, cells and documents.
A measurement holds none of them, only which question had its table at which place.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from sqlalchemy import Row, delete, func, insert, select, update

from pneuma_assets.core.store import schema
from pneuma_assets.core.store.database import StorePart, get_json, put_json
from pneuma_assets.core.store.tables import SEARCHABLE, THERE
from pneuma_assets.core.tables import content_hash

MOST_KEPT = 500
"""Measurements; of more the oldest are forgotten."""

_TRIED = "mined questions tried"
"""The key of what a measurement was last tried for."""

_ARRIVED = "mined questions arrivals"
"""The key of the measurement at which each table was there first."""

_TAG = 16
"""Letters of the hash by which a table is known there."""

_MINED = [column for column in schema.mined_questions.c if column.name != "number"]
_MEASUREMENTS = select(schema.measurements).order_by(schema.measurements.c.number)
_NEWEST = select(func.max(schema.measurements.c.number)).scalar_subquery()


@dataclass(frozen=True, slots=True)
class MinedQuestion:
    """A question that one table answers.

    Attributes:
        question_id: Names it in measurements, and says nothing about it.
        kind: What it was made of: `name`, `columns`, `value` or `context`.
        table_id: The table.
        question: The text.
        made: How, and what a table must have to answer it.
        version: The state of the table that it was made of.
    """

    question_id: str
    kind: str
    table_id: str
    question: str
    made: Mapping[str, Any] = field(default_factory=dict)
    version: str | None = None


@dataclass(frozen=True, slots=True)
class Measurement:
    """How the questions were answered once.

    Attributes:
        number: Counts measurements, from 1.
        measured_at: When, by the store's clock.
        key: Names the models and options that were in force.
        figures: Means over the questions.
        places: By question the place of its table, from 1; None if not found.
        accepted: Whether people began to compare with this one, not with those before it.
        newer: By question, for each table before the right one that was not there at the first
            measurement, the number of the first at which it was.
    """

    number: int
    measured_at: float
    key: str
    figures: Mapping[str, float]
    places: Mapping[str, int | None]
    accepted: bool = False
    newer: Mapping[str, Sequence[int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Tried:
    """For which models and options measuring was last tried, and why it failed; else empty."""

    key: str = ""
    cause: str = ""


class Questions(StorePart):
    """The part of the store that keeps questions about its tables, and their history."""

    def all(self) -> list[MinedQuestion]:
        """Return all questions, in the order in which they were made."""
        found = self._db.read(select(*_MINED).order_by(schema.mined_questions.c.number))
        return [MinedQuestion(**{**row._mapping, "made": json.loads(row.made)}) for row in found]

    def replace(self, questions: Sequence[MinedQuestion], seen: Mapping[str, float]) -> None:
        """Make these the questions, as one act; the history stays.

        Those about tables that were indexed again or forgotten since `seen` was asked, before they
        were read, are left out: a rule may have hidden what they were made of.
        """
        with self._db.write() as connection:
            connection.execute(delete(schema.mined_questions))
            still = self.still(seen)
            same = (one for one in questions if one.table_id in still)
            rows = [
                {**asdict(one), "made": json.dumps(one.made, ensure_ascii=False), "number": number}
                for number, one in enumerate(same)
            ]
            schema.insert_rows(connection, schema.mined_questions, rows)
        self._db.checkpoint()

    def drop(self, question_ids: Collection[str]) -> None:
        """Forget some questions, which their tables do not answer any more."""
        with self._db.write() as connection:
            schema.delete_by(connection, schema.mined_questions.c.question_id, question_ids)

    def versions(self, table_ids: Iterable[str]) -> dict[str, str | None]:
        """Return of tables which state of them is indexed, of those that have not left."""
        asked = select(schema.tables.c.table_id, schema.tables.c.indexed_version).where(THERE)
        found = self._db.read_by(asked, schema.tables.c.table_id, table_ids)
        return {row.table_id: row.indexed_version for row in found}

    def seen(self, table_ids: Iterable[str]) -> dict[str, float]:
        """Return when tables were indexed, of those that are searchable and have not left."""
        asked = select(schema.tables.c.table_id, schema.tables.c.indexed_at).where(SEARCHABLE)
        found = self._db.read_by(asked, schema.tables.c.table_id, table_ids)
        return {row.table_id: row.indexed_at for row in found}

    def still(self, seen: Mapping[str, float]) -> set[str]:
        """Return the tables of which nothing was forgotten or indexed again since `seen`."""
        now = self.seen(list(seen))
        return {table_id for table_id, at in seen.items() if now.get(table_id) == at}

    def measurements(self) -> list[Measurement]:
        """Return all measurements, the oldest first."""
        return [_measurement_of(row) for row in self._db.read(_MEASUREMENTS)]

    def arrivals(self, table_ids: Collection[str]) -> dict[str, int]:
        """Return of tables the number of the first measurement at which they were there; 0: always.

        New ones are there from the next one on, and others are forgotten.
        """
        tags = {table_id: content_hash(table_id)[:_TAG] for table_id in table_ids}
        with self._db.write() as connection:
            number = 1 + int(connection.execute(select(_NEWEST)).scalar() or 0)
            known = get_json(self._db, _ARRIVED)
            first = 0 if known is None else number
            now = {tag: (known or {}).get(tag, first) for tag in tags.values()}
            put_json(self._db, _ARRIVED, now)
        return {table_id: now[tag] for table_id, tag in tags.items()}

    def add(
        self,
        key: str,
        figures: Mapping[str, float],
        places: Mapping[str, int | None],
        newer: Mapping[str, Sequence[int]] | None = None,
    ) -> Measurement:
        """Keep a measurement, made now; of more than `MOST_KEPT` the oldest are forgotten."""
        newer = {one: some for one, some in (newer or {}).items() if some}
        kept = {
            one: [place, *newer[one]] if one in newer else place for one, place in places.items()
        }
        with self._db.write() as connection:
            now = self._db.now()
            number = 1 + int(connection.execute(select(_NEWEST)).scalar() or 0)
            row = {
                "number": number,
                "measured_at": now,
                "key": key,
                "figures": json.dumps(dict(figures)),
                "places": json.dumps(kept),
                "accepted": 0,
            }
            connection.execute(insert(schema.measurements), [row])
            old = schema.measurements.c.number <= number - MOST_KEPT
            connection.execute(delete(schema.measurements).where(old))
        return Measurement(number, now, key, dict(figures), dict(places), newer=newer)

    def accept(self) -> bool:
        """Let later measurements be compared with the newest one alone; False: there is none."""
        newest = update(schema.measurements).where(schema.measurements.c.number == _NEWEST)
        with self._db.write() as connection:
            return connection.execute(newest.values(accepted=1)).rowcount > 0

    def tried(self) -> Tried:
        """Return for what measuring was last tried, and what came of it."""
        return Tried(*(get_json(self._db, _TRIED) or ()))

    def mark_tried(self, key: str, cause: str = "") -> None:
        """Note for what measuring was tried, and why it failed if it did."""
        put_json(self._db, _TRIED, [key, cause])


def _measurement_of(row: Row[Any]) -> Measurement:
    """Return a measurement, whose places are kept with what is newer where anything is."""
    kept = {
        one: place if isinstance(place, list) else [place]
        for one, place in json.loads(row.places).items()
    }
    return Measurement(
        *(row.number, row.measured_at, row.key, json.loads(row.figures)),
        places={one: place for one, (place, *_) in kept.items()},
        accepted=bool(row.accepted),
        newer={one: newer for one, (_, *newer) in kept.items() if newer},
    )
