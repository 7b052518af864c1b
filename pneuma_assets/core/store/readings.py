"""What a row that was found in a file may be: which table's, and with which values.

A row may be stored shorter than its table is wide: SQLite reads the columns' defaults, of which its
checksum is made.
"""

import sqlite3
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from sqlalchemy import create_engine

from pneuma_assets.core.store.carving import Row, Value
from pneuma_assets.core.store.row_sums import row_sum, tables_of
from pneuma_assets.core.store.schema import METADATA, Said, table_narrations
from pneuma_assets.core.store.sqlite_database import PRECIOUS, raw_of
from pneuma_assets.core.tables import Provenance


@dataclass(frozen=True, slots=True)
class Shape:
    """How the rows of a table are stored."""

    stored: tuple[int, ...]
    """The place of each stored value among the columns: a key's parts are stored first."""
    reals: frozenset[int]
    fewest: int
    """Values that every row has; columns after them were added, or may have been."""
    defaults: tuple[Value, ...]
    """What stands in every column of a row that lacks it."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A row as one table would have it, in the order of its columns and as wide as today's."""

    name: str
    row: Row
    stored: int
    """How many of its values are stored."""

    def is_written(self, sums: Collection[Row]) -> bool:
        """Tell whether there is a checksum of it, made when the table had some width."""
        widths = range(self.stored, len(self.row) + 1)
        return any((self.name, row_sum(self.name, *self.row[:width])) in sums for width in widths)

    def is_legible(self) -> bool:
        """Tell whether a person could make out, from what can be read, what people had written."""
        columns = METADATA.tables[self.name].columns
        kinds = [str if isinstance(one.type, Said) else float for one in columns]
        return self.name in PRECIOUS and kinds == [type(value) for value in self.row]

    def brought_up_to_date(self) -> Row:
        """Return the row as an upgrade leaves it, which fills one of the columns it adds (0006)."""
        if self.name != table_narrations.name:
            return self.row
        values = dict(zip(table_narrations.c.keys(), self.row, strict=True))
        lacks_answer = self.stored <= list(values).index("answer")
        if lacks_answer and values["provenance"] == Provenance.MODEL:
            values["answer"] = values["text"]
        return tuple(values.values())


def readings_of(stored: Row, shapes: Mapping[str, Shape]) -> Iterator[Reading]:
    """Yield what a stored row may be, one for each table whose rows may be as wide."""
    width = len(stored)
    for name, shape in shapes.items():
        if not shape.fewest <= width <= len(shape.stored):
            continue
        row = list(shape.defaults)
        places = (place for place in shape.stored if place < width)
        for place, value in zip(places, stored, strict=True):
            # SQLite stores whole numbers of a REAL column as integers.
            row[place] = float(value) if place in shape.reals and type(value) is int else value
        yield Reading(name, tuple(row), width)


def shapes_of_today() -> dict[str, Shape]:
    """Return how the rows of every table are stored, as SQLite tells it of an empty state."""
    engine = create_engine("sqlite://")
    with engine.begin() as made:
        METADATA.create_all(made)
        connection = raw_of(made)
        return {name: _shape(connection, name) for name in tables_of(connection)}


def _shape(connection: sqlite3.Connection, name: str) -> Shape:
    columns = connection.execute(f"PRAGMA table_info({name})").fetchall()
    stored = list(range(len(columns)))
    for _, index, _, origin, _ in connection.execute(f"PRAGMA index_list({name})").fetchall():
        if origin == "pk":
            places = [row[1] for row in connection.execute(f"PRAGMA index_xinfo({index})")]
            stored = stored if -1 in places else places  # -1: the table has row ids
    needed = [place for place, _, _, needs, default, _ in columns if needs and default is None]
    defaults = ", ".join(default or "NULL" for _, _, _, _, default, _ in columns)
    return Shape(
        tuple(stored),
        frozenset(place for place, _, kind, *_ in columns if kind == "REAL"),
        needed[-1] + 1,
        tuple(connection.execute(f"SELECT {defaults}").fetchone()),
    )
