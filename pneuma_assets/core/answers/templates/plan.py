"""A statement in the words of columns, before it is written."""

from dataclasses import dataclass, field

from pneuma_assets.core.answers.templates.fields import Field
from pneuma_assets.core.joins.edges import JoinEdge


@dataclass(frozen=True, slots=True)
class Condition:
    """What has to hold: of any of the columns; `how` is `equals`, `more`, ..., or `holds`."""

    fields: tuple[Field, ...]
    how: str
    values: tuple[str, ...] = ()
    is_year: bool = False
    negated: bool = False


@dataclass(eq=False)
class Plan:
    """A statement in the words of columns.

    Attributes:
        shown: Columns that are listed.
        groups: Columns by which rows are put together.
        how: count, average, sum, min, max; empty where nothing is computed.
        measured: Of which column; None: of rows.
        counted: The place of the table whose rows are counted, where several may be joined.
        where: All of these hold.
        having: How many rows each group has.
        falling: Whether what is computed, or `order`, comes in falling order; None: no order.
        order: The column by which rows are ordered; None: what is computed.
        limit: How many rows; 0: all.
        distinct: Whether each row, or what is counted, is wanted once.
        tables: Places of the tables that are read.
        joins: By which they are joined.
        outer: The place of the table of which all rows are kept, also those that no join finds;
            None: such rows are left out.
        doubt: What is taken off for guesses, as a factor.
    """

    shown: list[Field] = field(default_factory=list)
    groups: list[Field] = field(default_factory=list)
    how: str = ""
    measured: Field | None = None
    counted: int | None = None
    where: list[Condition] = field(default_factory=list)
    having: Condition | None = None
    falling: bool | None = None
    order: Field | None = None
    limit: int = 0
    distinct: bool = False
    tables: list[int] = field(default_factory=list)
    joins: tuple[JoinEdge, ...] = ()
    outer: int | None = None
    doubt: float = 1.0


class NoPlanError(Exception):
    """What was read cannot be said in one of the forms; the message says why (`NoDraft.why`)."""
