"""A list found in a document, with what around it says whether it is about columns."""

from collections.abc import Sequence
from dataclasses import dataclass

from pneuma_assets.core.evidence.fields import name_parts
from pneuma_assets.core.sources.base import Cells

MOST_ROWS = 20_000
"""Of one list, and of all lists of a document."""

_ABOUT_COLUMNS = frozenset({
    "attributes", "codebook", "column", "columns", "dictionary", "features", "fields", "format",
    "schema", "variable", "variables",
})  # fmt: skip
"""Words of the headings that people put above lists of columns; "Format" is that of R packages."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A list: a name and a text in each row, or all cells of a table without a telling header."""

    rows: Sequence[Cells]
    header: Cells = ()
    """The first row of a table whose header does not say which cells name columns."""
    headings: tuple[str, ...] = ()
    """Those above it, the outermost first."""
    telling: bool = False
    """Whether its own header, or the key of a JSON document, says that columns are described."""

    @property
    def about_columns(self) -> bool:
        """Whether its header, or the heading right above it, says that it describes columns."""
        return self.telling or (bool(self.headings) and is_about_columns(self.headings[-1]))


def is_about_columns(heading: str) -> bool:
    """Tell whether a heading says that columns are described below it."""
    return not _ABOUT_COLUMNS.isdisjoint(name_parts(heading))
