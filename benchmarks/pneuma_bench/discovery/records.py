"""Questions with the tables and the cells that answer them, and the files they are kept in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pneuma_assets.core.evaluation.evaluate import refuse, text_of, texts_of
from pneuma_bench.reading import question_records


@dataclass(frozen=True, slots=True)
class DiscoveryQuestion:
    """A question whose answers are known to the cell (Octopus, section 6).

    Attributes:
        question: In plain language.
        tables: Ids of its tables: each answers by itself, or all of them together.
        kind: What sort of question it is; empty where that is not known.
        cells: Of each answer its `tables` and `rows`; none where only the tables are known.
        more: What else its file says of it, kept as it is.
    """

    question: str
    tables: tuple[str, ...]
    kind: str = ""
    cells: Sequence[Mapping[str, Any]] = ()
    more: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return it as a line of a file, which `pneuma-bench run` takes, too."""
        return {
            "question": self.question,
            "tables": list(self.tables),
            **({"kind": self.kind} if self.kind else {}),
            **self.more,
            **({"cells": self.cells} if self.cells else {}),
        }


def read_discovery(path: Path) -> list[DiscoveryQuestion]:
    """Read a file of questions, an object a line: `question`, `tables`, and if known `cells`.

    Numbers in the rows of cells come as texts, spelled as in the file. A question without tables is
    one that no table answers.

    Raises:
        BenchmarkError: The file cannot be read, or a line is not what it must be.
    """
    return [_question(path, number, record) for number, record in question_records(path)]


def _question(path: Path, number: int, record: Mapping[str, Any]) -> DiscoveryQuestion:
    cells = record.get("cells") or []
    if not isinstance(cells, list) or not all(isinstance(one.get("rows"), list) for one in cells):
        refuse(path, number, "'cells' must be a list of objects with 'tables' and 'rows'")
    return DiscoveryQuestion(
        text_of(path, number, record, "question"),
        tuple(dict.fromkeys(texts_of(path, number, record, "tables", []))),
        text_of(path, number, record, "kind", ""),
        cells,
        {key: value for key, value in record.items() if key not in _OWN},
    )


_OWN = frozenset({"question", "tables", "kind", "cells"})
