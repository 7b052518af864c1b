"""Which columns leave nothing of their cells in what is gathered of a table's rows.

Every source that gathers does it by a `gather.Gatherer`, so the columns are left out there, before
anything is counted, hashed or kept; no source has to know of it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import pyarrow as pa

from pneuma_assets.core.errors import TableReadError


@dataclass(slots=True)
class Hiding:
    """The hidden columns of the table that is read now.

    Attributes:
        columns: Their positions.
        width: How many columns the table has.
        asked: Whether a `Gatherer` was made that leaves them out.
    """

    columns: frozenset[int] = frozenset()
    width: int | None = None
    asked: bool = False

    def veiled(self, batch: pa.RecordBatch) -> list[pa.Array]:
        """Return the columns of some rows, those that are hidden without a value.

        Raises:
            TableReadError: The table has another number of columns than when it was profiled.
        """
        if self.columns and batch.num_columns != self.width:
            raise TableReadError(
                "The table changed while it was read; the next run reads it again."
            )
        return [
            pa.nulls(len(column), pa.string()) if at in self.columns else column
            for at, column in enumerate(batch.columns)
        ]


_IN_FORCE: ContextVar[Hiding | None] = ContextVar("hiding", default=None)


@contextmanager
def hiding(columns: frozenset[int], width: int) -> Iterator[Hiding]:
    """Leave these columns out of all that is gathered inside the `with` block."""
    in_force = Hiding(columns, width)
    token = _IN_FORCE.set(in_force)
    try:
        yield in_force
    finally:
        _IN_FORCE.reset(token)


def in_force() -> Hiding:
    """Return what to leave out now, and note that it is left out."""
    found = _IN_FORCE.get() or Hiding()
    found.asked = True
    return found
