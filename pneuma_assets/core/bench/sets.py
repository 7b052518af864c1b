"""Tables and questions with known answers: what retrieval is measured on."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pneuma_assets.core.sources.base import Row
from pneuma_assets.core.sources.names import unescape
from pneuma_assets.core.tables import Table


@dataclass(frozen=True, slots=True)
class RetrievalSet:
    """Tables with their rows, and questions with the tables that answer each of them.

    Attributes:
        name: Of the set; its tables' ids begin with it, and say nothing about them.
        tables: Each table with all of its rows.
        questions: In plain language.
        relevant: Of each question the ids of the tables that it needs; none if no table answers.
        names: What people call a table, by its id: schema or folders, then its own name.
        contexts: What people wrote about a table, by its id.
    """

    name: str
    tables: Sequence[tuple[Table, Sequence[Row]]]
    questions: Sequence[str]
    relevant: Sequence[Collection[str]]
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    contexts: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def first(self, questions: int) -> "RetrievalSet":
        """Return the set with its first questions only, and all of its tables."""
        return replace(
            self, questions=self.questions[:questions], relevant=self.relevant[:questions]
        )

    def spelled(self, table_id: str) -> str:
        """Return a table's id as the set's file has it."""
        return unescape(table_id.removeprefix(f"{self.name}/"))
