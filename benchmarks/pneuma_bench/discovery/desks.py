"""What is measured: the parts of a deployment's desk, `core/service/workspace.py`."""

from collections.abc import Sequence
from typing import Protocol

from pneuma_assets.core.answers.results import CellAnswer
from pneuma_assets.core.index.base import NO_FILTER, IndexFilter
from pneuma_assets.core.search.groups import GroupResult
from pneuma_assets.core.search.results import TableResult


class FindsTables(Protocol):
    """Finds tables, best first."""

    def ask_many(
        self, questions: Sequence[str], *, k: int | None = None
    ) -> Sequence[Sequence[TableResult]]:
        """Return the tables that may answer each question."""


class FindsGroups(Protocol):
    """Finds sets of tables, best first."""

    def find_groups(self, question: str, *, k: int | None = None) -> Sequence[GroupResult]:
        """Return the sets of tables that may answer the question together."""


class Desk(FindsTables, FindsGroups, Protocol):
    """Finds both."""


class AnswersCells(FindsTables, Protocol):
    """Answers in cells."""

    def answer(
        self,
        question: str,
        *,
        k: int | None = None,
        model: bool | None = None,
        where: IndexFilter = NO_FILTER,
    ) -> CellAnswer:
        """Return the cells that answer the question, with their SQL."""
