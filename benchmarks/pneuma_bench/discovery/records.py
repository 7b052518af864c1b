"""Questions with the tables and the cells that answer them, and the files they are kept in."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pneuma_assets.core.errors import QueryError
from pneuma_assets.core.measure.evaluate import refuse
from pneuma_assets.core.search.results import checked_question
from pneuma_assets.core.text.safe import well_formed
from pneuma_bench.files import whole
from pneuma_bench.reading import question_records


@dataclass(frozen=True, slots=True)
class AnswerCells:
    """Rows that answer a question.

    Attributes:
        tables: Ids of the tables that they are from: one that answers by itself, or several.
        rows: Their cells, values of JSON.
    """

    tables: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True, slots=True)
class DiscoveryQuestion:
    """A question whose answers are known to the cell (Octopus, section 6).

    Attributes:
        question: In plain language.
        tables: Ids of its tables: each answers by itself, or all of them together.
        kind: What sort of question it is; empty where that is not known.
        cells: Of each answer its cells; none where only the tables are known.
        more: What else its file says of it, kept as it is.
    """

    question: str
    tables: tuple[str, ...]
    kind: str = ""
    cells: tuple[AnswerCells, ...] = ()
    more: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return it as a line of a file, which `pneuma-bench run` takes, too."""
        return {
            "question": self.question,
            "tables": list(self.tables),
            **({"kind": self.kind} if self.kind else {}),
            **self.more,
            **({"cells": [_cells_out(one) for one in self.cells]} if self.cells else {}),
        }


def read_discovery(path: Path) -> list[DiscoveryQuestion]:
    """Read a file of questions, an object a line: `question`, `tables`, and if known `cells`.

    `cells` is a list of objects with `tables` and `rows`; numbers in rows come as texts, spelled as
    in the file. A question without tables is one that no table answers.

    Raises:
        BenchmarkError: The file cannot be read, or a line is not what it must be.
    """
    return [_question(path, number, record) for number, record in question_records(path)]


def write_discovery(path: Path, questions: Iterable[DiscoveryQuestion]) -> None:
    """Write questions as a file that `read_discovery` reads.

    Raises:
        BenchmarkError: The file cannot be written.
    """
    with whole(path) as stream:
        for one in questions:
            line = json.dumps(one.to_dict(), ensure_ascii=False)
            stream.write(line.encode("utf-8", "replace") + b"\n")


def _question(path: Path, number: int, record: Mapping[str, Any]) -> DiscoveryQuestion:
    text, kind = record.get("question"), record.get("kind") or ""
    if not isinstance(text, str) or not isinstance(kind, str):
        refuse(path, number, "'question' must be a text, and so must 'kind' where it is given")
    try:
        question = checked_question(well_formed(text))
    except QueryError as error:
        refuse(path, number, str(error))
    given = record.get("cells") or []
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        refuse(path, number, "'cells' must be a list of objects with 'tables' and 'rows'")
    more = {key: value for key, value in record.items() if key not in _OWN}
    return DiscoveryQuestion(
        question,
        _ids(path, number, record),
        well_formed(kind),
        tuple(_cells_in(path, number, one) for one in given),
        more,
    )


_OWN = frozenset({"question", "tables", "kind", "cells"})


def _ids(path: Path, number: int, record: Mapping[str, Any]) -> tuple[str, ...]:
    ids = record.get("tables") or []
    if not isinstance(ids, list) or not all(isinstance(one, str) for one in ids):
        refuse(path, number, "'tables' must be a list of ids")
    return tuple(dict.fromkeys(map(well_formed, ids)))


def _cells_in(path: Path, number: int, given: Mapping[str, Any]) -> AnswerCells:
    rows = given.get("rows")
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        refuse(path, number, "'rows' of 'cells' must be a list of lists of cells")
    return AnswerCells(_ids(path, number, given), _rows(rows))


def _rows(rows: Sequence[Sequence[Any]]) -> tuple[tuple[Any, ...], ...]:
    return tuple(tuple(map(_cell, row)) for row in rows)


def _cell(value: Any) -> Any:
    return well_formed(value) if isinstance(value, str) else value


def _cells_out(cells: AnswerCells) -> dict[str, Any]:
    return {"tables": list(cells.tables), "rows": [list(row) for row in cells.rows]}
