"""A desk whose answers were written down before, as `Workspace` would give them."""

from collections.abc import Mapping, Sequence
from typing import Any

from pneuma_assets.core.answers.results import CellAnswer, Outcome, TableAnswer
from pneuma_assets.core.index.base import NO_FILTER, IndexFilter
from pneuma_assets.core.models.usage import Usage
from pneuma_assets.core.relations.join_graph import JoinEdge
from pneuma_assets.core.relations.rank_groups import GroupResult
from pneuma_assets.core.search.results import ScoreParts, TableResult
from pneuma_assets.core.tables import DocumentKind


class FakeDesk:
    """Answers what it was told to.

    Args:
        found: Of each question its tables, best first: id, score, copies.
        groups: Of each question its sets of tables, best first.
        answers: Of each question its answer; of one table alone, by question and table.
    """

    def __init__(
        self,
        found: Mapping[str, Sequence[tuple[Any, ...]]] = {},
        groups: Mapping[str, Sequence[Sequence[str]]] = {},
        answers: Mapping[Any, CellAnswer] = {},
    ) -> None:
        self._found, self._groups, self._answers = found, groups, answers
        self.asked: list[tuple[Any, ...]] = []

    def ask_many(
        self, questions: Sequence[str], *, k: int | None = None
    ) -> list[list[TableResult]]:
        return [[result(*one) for one in self._found[question]][:k] for question in questions]

    def find_groups(self, question: str, *, k: int | None = None) -> list[GroupResult]:
        none: tuple[JoinEdge, ...] = ()
        return [GroupResult(tuple(one), none, 1.0, {}) for one in self._groups[question]][:k]

    def answer(
        self,
        question: str,
        *,
        k: int | None = None,
        model: bool | None = None,
        where: IndexFilter = NO_FILTER,
    ) -> CellAnswer:
        self.asked.append((question, k, model, where.tables))
        return self._answers[(question, *where.tables) if where.tables else question]


def result(table_id: str, score: float, copies: Sequence[str] = ()) -> TableResult:
    """Return a table that was found."""
    parts = ScoreParts(score, 0.0, None, 0.0, 0.0)
    return TableResult(
        table_id, score, parts, DocumentKind.SCHEMA, "", "", "", copies=tuple(copies)
    )


def rows_of(
    table_id: str, *rows: Sequence[Any], made_by: str = "model m", **more: Any
) -> TableAnswer:
    """Return what a statement about one table gave."""
    return TableAnswer((table_id,), "SELECT 1", "duckdb", ("c",), rows, False, (), made_by, **more)


def answered(question: str, *answers: TableAnswer, usage: Sequence[int] = (0, 0, 0)) -> CellAnswer:
    """Return an answer with these rows; without any, no statement was found."""
    outcome = Outcome.ANSWERED if answers else Outcome.NOT_WRITTEN
    return CellAnswer(question, outcome, answers, usage=Usage(*usage))
