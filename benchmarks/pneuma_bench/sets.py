"""Tables and questions with known answers: what retrieval is measured on."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pneuma_assets.core.evaluation.evaluate import Question
from pneuma_assets.core.relations.join_graph import JoinEdge
from pneuma_assets.core.sources.base import Row
from pneuma_assets.core.sources.names import unescape
from pneuma_assets.core.tables import Table


@dataclass(frozen=True, slots=True)
class RetrievalSet:
    """Tables with their rows, and questions with the tables that answer each of them.

    Attributes:
        name: Of the set; empty where the tables are those of an index that there is.
        tables: Each table with all of its rows. Its id is the set's name with its own folders and
            name, as an index has it; where names are hidden, with the id of the set's files.
        questions: In plain language.
        relevant: Of each question the ids of the tables that it needs; none if no table answers.
        names: What people call a table, by its id: schema or folders, then its own name.
        contexts: What people wrote about a table, by its id.
        kinds: What sort of question each is, `""` where that is not known; empty: of none it is.
        described: What people wrote about columns, by table id and position. It is not indexed:
            questions are made with it.
        ids: Of tables as the set's files have them, where these are not the last part of an id.
        joins: What the set itself says can be joined.
    """

    name: str
    tables: Sequence[tuple[Table, Sequence[Row]]]
    questions: Sequence[str]
    relevant: Sequence[Collection[str]]
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    contexts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    kinds: Sequence[str] = ()
    described: Mapping[str, Mapping[int, str]] = field(default_factory=dict)
    ids: Mapping[str, str] = field(default_factory=dict)
    joins: Sequence[JoinEdge] = ()

    @property
    def asked(self) -> list[Question]:
        """The questions with the tables that answer them, as they are asked."""
        kinds = self.kinds or [""] * len(self.questions)
        triples = zip(self.questions, self.relevant, kinds, strict=True)
        return [Question(text, frozenset(relevant), kind) for text, relevant, kind in triples]

    def first(self, questions: int) -> "RetrievalSet":
        """Return the set with its first questions only, and all of its tables."""
        return replace(
            self,
            questions=self.questions[:questions],
            relevant=self.relevant[:questions],
            kinds=self.kinds[:questions],
        )

    def spelled(self, table_id: str) -> str:
        """Return a table's id as the set's files have it."""
        if not self.name:
            return table_id
        return self.ids.get(table_id) or unescape(table_id.rpartition("/")[2])
