"""Draws a query of a table that says something, finds who answers it, and words it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from pneuma_bench.generator.annotating import Annotator
from pneuma_bench.generator.drawing import Chances, draw_query
from pneuma_bench.generator.executing import Workbench
from pneuma_bench.generator.queries import SqlQuery, Subject
from pneuma_bench.generator.questions import Asked, Rejected
from pneuma_bench.generator.wording import worded
from pneuma_bench.keys import chance_of
from pneuma_bench.sets import RetrievalSet

KIND = "content"


@dataclass(frozen=True, slots=True)
class Draft:
    """A question that is on its way through the stages.

    Attributes:
        subject: The table that it is made for.
        query: What it asks.
        tables: Ids of all tables that answer it, as the set's files have them; its own is first.
        question: As it is worded so far.
        made: What each stage found, values of JSON.
    """

    subject: Subject
    query: SqlQuery
    tables: tuple[str, ...]
    question: str
    made: Mapping[str, Any]

    def now(self, question: str, **found: object) -> "Draft":
        """Return it with other words, and what this stage found."""
        return replace(self, question=question, made={**self.made, **found})

    def rejected(self, stage: str, reason: str, **found: object) -> Rejected:
        """Return that it ended at a stage."""
        made = {**self.made, "question": self.question, **found}
        return Rejected(KIND, self.tables[0], stage, reason, made)

    def asked(self) -> Asked:
        """Return it as a question that passed every stage."""
        return Asked(self.question, self.tables, KIND, self.made)


class Drafting:
    """Makes drafts of a set's tables.

    Args:
        dataset: Knows how the set's files spell ids.
        bench: Runs queries.
        annotator: Finds the tables that answer.
        chances: Of a query's parts.
        seed: Decides which queries are drawn.
        answers: Most tables that may answer a question.
        described: Whether columns are called by what people wrote about them.
    """

    def __init__(
        self,
        dataset: RetrievalSet,
        bench: Workbench,
        annotator: Annotator,
        chances: Chances,
        *,
        seed: int,
        answers: int,
        described: bool,
    ) -> None:
        self._dataset = dataset
        self._bench = bench
        self._annotator = annotator
        self._chances = chances
        self._seed = seed
        self._answers = answers
        self._described = described

    def draft(self, subject: Subject, number: int) -> Draft | Rejected | None:
        """Return the table's draft of this number, or why it is none; None: none can be drawn.

        A draft depends on the seed, the table and its number, and on nothing before.
        """
        query = draw_query(subject, chance_of(self._seed, subject.table_id, number), self._chances)
        if query is None:
            return None
        own = self._dataset.spelled(subject.table_id)
        made = {"sql": query.sql(subject.columns), "wording": "template"}
        question = worded(query, subject, described=self._described)
        draft = Draft(subject, query, (own,), question, made)
        if reason := self._bench.why_not(subject, query):
            return draft.rejected("execution", reason)
        tables = self._annotator.tables_that_answer(query, subject)
        if len(tables) > self._answers:
            reason = "answered by too many tables"
            return draft.rejected("annotation", reason, answers=len(tables))
        return replace(draft, tables=tuple(map(self._dataset.spelled, tables)))
