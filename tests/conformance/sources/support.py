"""What the parts of the source conformance suite share."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from typing import Protocol, TypeVar

import pyarrow as pa
import pytest

from pneuma_assets.core.config.small_sections import LimitsConfig
from pneuma_assets.core.config.sources import SourceConfig
from pneuma_assets.core.sources.base import SampledRow, Source
from pneuma_assets.core.sources.isolation.source import IsolatedSource
from pneuma_assets.core.tables import TableRef

Cell = str | int | float | None
Columns = Mapping[str, Sequence[Cell]]
"""A table as a test writes it: its columns in order, all of one length."""
Kind = TypeVar("Kind")
ARROW = {str: pa.string(), int: pa.int64(), float: pa.float64()}


class Lake(Protocol):
    """Where one kind of source finds its tables, for a test to fill; empty at first."""

    config: SourceConfig
    """Of a source called `s`, its paths resolved."""

    environ: Mapping[str, str]

    def write(self, name: str, columns: Columns) -> None:
        """Make a table of this name, or another in its place."""

    def write_beside(self, name: str) -> None:
        """Add what would have the table's id, had it come first; another table where none can."""

    def describe(self, name: str, text: str) -> None:
        """Let people have written this about a table."""

    def damage(self, name: str) -> None:
        """Make a table, or leave something in its place, that is listed and cannot be read."""

    def delete(self, name: str) -> None:
        """Take a table away."""

    def vanish(self) -> None:
        """Take the whole place away, with every table in it."""


class Conformance:
    """Base of every part. A kind's subclass defines `lake`, and where it differs from files."""

    types: Mapping[type, str] = {str: "VARCHAR", int: "BIGINT", float: "DOUBLE"}
    """What it calls the types of columns."""
    has_empty_tables = True
    """Whether a table without rows has columns."""
    longest_name = 200
    """Characters of a table's name."""
    memory_is_its_own = True
    """Whether nothing else that is busy during a test lies in this process."""

    def admits(self, name: str) -> bool:
        """Whether the place, as the tests have it, takes such names of tables and columns."""
        return True

    @pytest.fixture
    def open_source(self, lake: Lake) -> Iterator[Callable[[], Source]]:
        """Opens the source anew, in this process."""
        with ExitStack() as opened:
            yield lambda: opened.enter_context(closing(lake.config.open(lake.environ)))

    @pytest.fixture
    def source(self, open_source: Callable[[], Source]) -> Source:
        return open_source()


def people(count: int, first: int = 0) -> dict[str, list[Cell]]:
    """Return rows that tell what they are: `p7`, 7."""
    numbers = range(first, first + count)
    return {"name": [f"p{number}" for number in numbers], "age": [*numbers]}


def kinds_of(columns: Columns, kinds: Mapping[type, Kind]) -> list[Kind]:
    """Return the kind of each column; one without a value is text, but for an `age`."""
    without = {"age": int}
    found = [
        next((type(cell) for cell in column if cell is not None), without.get(name, str))
        for name, column in columns.items()
    ]
    return [kinds[one] for one in found]


def arrow_table(columns: Columns) -> pa.Table:
    """Return a table whose columns have types though they have no value."""
    schema = pa.schema(list(zip(columns, kinds_of(columns, ARROW), strict=True)))
    return pa.table(dict(columns), schema)


def cells(rows: Sequence[SampledRow] | None) -> list[tuple[Cell, ...]]:
    assert rows is not None, "nothing was drawn"
    return [tuple(row.cells) for row in rows]


def rows_of(columns: Columns) -> list[tuple[Cell, ...]]:
    """Return the rows of a table, cells as text."""
    texts = [
        [None if cell is None else str(cell) for cell in column] for column in columns.values()
    ]
    return list(zip(*texts, strict=True))


def only(source: Source) -> TableRef:
    (ref,) = source.list_tables().tables
    return ref


def named(source: Source, name: str) -> TableRef:
    (ref,) = [r for r in source.list_tables().tables if r.table_id.rpartition("/")[2] == name]
    return ref


class Isolated(Conformance):
    """Comes first among the bases of the kind that is also read by a process of its own."""

    @pytest.fixture
    def open_source(self, lake: Lake) -> Iterator[Callable[[], Source]]:
        """Opens the source anew, read by a process of its own, as in a deployment."""
        with ExitStack() as opened:
            yield lambda: opened.enter_context(
                closing(IsolatedSource(lake.config, lake.environ, LimitsConfig()))
            )
