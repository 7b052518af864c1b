"""What is known of a table when a statement is written about it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from pneuma_assets.core.answers.refusing import ReadTable
from pneuma_assets.core.relations.join_graph import JoinEdge
from pneuma_assets.core.tables import TableRef, TableTerms
from pneuma_assets.core.terms.fields import cell_term


@dataclass(frozen=True, slots=True)
class AnswerColumn:
    """A column that a statement may read.

    Attributes:
        name: As the profile has it.
        type: As the source spells it.
        said: What is said of it, one line; empty where nothing but its name says anything.
    """

    name: str
    type: str
    said: str = ""


@dataclass(frozen=True, eq=False)
class AnswerTable:
    """A table of which a question may be answered.

    Attributes:
        table_id: As results have it.
        ref: Where its rows are read.
        read: What a statement calls it, and the columns that it may read.
        columns: Those, in the table's order.
        rows: How many it has.
        evidence: What the index keeps of its rows and cells: of a large table not all of them.
        matched: Of the columns that the question names how well, from 0 to 1.
    """

    table_id: str
    ref: TableRef
    read: ReadTable
    columns: tuple[AnswerColumn, ...]
    rows: int
    evidence: TableTerms
    matched: Mapping[str, float] = field(default_factory=dict)

    @property
    def is_whole(self) -> bool:
        """Whether the index keeps all of its rows, so that a value that is not there is none."""
        return 0 < self.rows <= len(self.evidence.rows)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.evidence.columns)}

    @cached_property
    def _kept(self) -> dict[str, tuple[dict[str, str], frozenset[str]]]:
        return {}

    def spellings(self, column: str) -> frozenset[str]:
        """Return a column's different values as the rows kept spell them."""
        return self._of(column)[1]

    def values(self, column: str) -> dict[str, str]:
        """Return a column's different values by their `cell_term`, as the rows kept spell them.

        Where several spellings have one term, the first of them; a value without a term is absent.
        Of a column that is not in the evidence, none.
        """
        return self._of(column)[0]

    def _of(self, column: str) -> tuple[dict[str, str], frozenset[str]]:
        found = self._kept.get(column)
        if found is None:
            place = self._places.get(column)
            rows = self.evidence.rows if place is not None else ()
            cells = (row[place] for row in rows if place is not None and place < len(row))
            spelled = list(dict.fromkeys(cell for cell in cells if cell))
            terms: dict[str, str] = {}
            for cell in spelled:
                term = cell_term(cell)
                if term is not None:
                    terms.setdefault(term, cell)
            found = self._kept[column] = terms, frozenset(spelled)
        return found

    def holding(self, terms: Iterable[str]) -> dict[str, list[str]]:
        """Return of each term that is a whole cell of rows kept the columns that have it."""
        wanted = set(terms)
        found: dict[str, list[str]] = {}
        for column in self.columns:
            for term in wanted.intersection(self.values(column.name)):
                found.setdefault(term, []).append(column.name)
        return found


@dataclass(frozen=True, slots=True)
class AnswerSet:
    """Tables that may answer together, or one that may by itself; the tables are in rank order."""

    tables: tuple[AnswerTable, ...]
    joins: tuple[JoinEdge, ...] = ()
