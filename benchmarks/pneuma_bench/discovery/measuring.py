"""Asks a deployment's desk the questions of a discovery benchmark, and counts what it answers."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pneuma_assets.core.errors import BenchmarkError
from pneuma_bench.discovery.cells_found import (
    Ask,
    Asked,
    CellFigures,
    ask_all,
    count_cells,
)
from pneuma_bench.discovery.desks import Desk
from pneuma_bench.discovery.groups_found import GroupFigures, measure_groups
from pneuma_bench.discovery.records import DiscoveryQuestion
from pneuma_bench.discovery.tables_found import Selection, measure_tables

PARTS = ("tables", "groups", "cells")
"""What can be measured."""
_NAMED = 5


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured; a part that was not is empty.

    Attributes:
        questions: How many questions the file has.
        tables: Of each k and tau.
        groups: Of all questions, and of those that need so many tables.
        cells: Of answers in cells.
        asked: These answers.
    """

    questions: int
    tables: Sequence[Selection] = ()
    groups: Sequence[GroupFigures] = ()
    cells: CellFigures | None = None
    asked: Sequence[Asked] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the figures for JSON, of the parts that were measured."""
        figures: dict[str, Any] = {"questions": self.questions}
        figures |= {"tables": [one.to_dict() for one in self.tables]} if self.tables else {}
        figures |= {"groups": [one.to_dict() for one in self.groups]} if self.groups else {}
        return figures | ({"cells": self.cells.to_dict()} if self.cells else {})


def measure(
    desk: Desk, questions: Sequence[DiscoveryQuestion], parts: Collection[str], ask: Ask
) -> Measured:
    """Return the figures of some parts.

    Args:
        desk: Answers.
        questions: What is asked.
        parts: Some of `PARTS`.
        ask: Answers in cells.
    """
    asked = ask_all(ask, questions) if "cells" in parts else []
    return Measured(
        len(questions),
        measure_tables(desk, questions) if "tables" in parts else (),
        measure_groups(desk, questions) if "groups" in parts else (),
        count_cells(asked) if asked else None,
        asked,
    )


def check_known(path: Path, questions: Sequence[DiscoveryQuestion], ids: Collection[str]) -> None:
    """Refuse questions whose tables are not those of the index.

    Raises:
        BenchmarkError: A question names a table that there is not, or there is no question.
    """
    if not questions:
        raise BenchmarkError(f"{path} holds no question; write one JSON object a line")
    unknown = sorted({table for one in questions for table in one.tables} - set(ids))
    if unknown:
        more = f" and {len(unknown) - _NAMED:,} more" if len(unknown) > _NAMED else ""
        named = ", ".join(map(repr, unknown[:_NAMED]))
        raise BenchmarkError(f"{path}: no indexed table has the id {named}{more}")
