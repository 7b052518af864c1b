"""KramaBench's tasks, and its rules for what an answer is worth.

Its rules are those of `benchmark/metrics.py` and `evaluate.py` of mitdbg/Kramabench (commits
3d26983c and 2246a0e5, read in a stored copy, and written anew here):

- numbers and texts that are exact: 1 if equal, but for capitals and blanks around them, and a
  percent sign of a number; unless both are integers, numbers may differ by 1e-4 of the larger one;
- numbers that are approximate: 1 / (1 + relative error);
- lists: F1 over their items, in which numbers may differ by 1e-6 of the right one, by 1 % where the
  list is approximate;
- texts that are approximate, and texts in approximate lists: 1 if a model finds that they say the
  same. Their prompt to a model of OpenAI is not taken; who judges here is the second model.

A task may have `accepted_answers`: the best counts. The shipped file of metrics by type that was
read is older than these rules and names no `rae_score`; `evaluate.py` counts it. The paper's tables
may have been counted by earlier rules. Subtasks are not asked.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, TypeAdapter, ValidationError

from pneuma_assets.core.errors import BenchmarkError

AnswerType = Literal[
    "numeric_exact", "numeric_approximate", "string_exact", "string_approximate",
    "list_exact", "list_approximate",
]  # fmt: skip
Same = Callable[[str, str], bool | None]
"""Tells whether two texts say the same; None: whoever judges gave no reply."""
Rows = Sequence[Sequence[Any]]

EXACT, LISTED, APPROXIMATE = 1e-4, 1e-6, 0.01
"""Relative differences that do not count: of an exact number, in an exact list, in another one."""
_MOST_BYTES = 100_000_000


class Task(BaseModel):
    """A task, without its subtasks."""

    id: str
    query: str
    answer: Any
    answer_type: AnswerType
    accepted_answers: list[Any] = []

    @property
    def is_list(self) -> bool:
        """Whether its answer is a list."""
        return self.answer_type.startswith("list")


def read_workload(folder: Path, domain: str) -> list[Task]:
    """Return the tasks of a domain; raises `BenchmarkError` where they cannot be read."""
    path = folder / "workload" / f"{domain}.json"
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise BenchmarkError(f"{path} has more than {_MOST_BYTES:,} bytes")
        return TypeAdapter(list[Task]).validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise BenchmarkError(f"{path} is no workload of KramaBench: {error}") from error


def score_of(rows: Rows, task: Task, same: Same) -> float | None:
    """Return what the rows of a result are worth, from 0 to 1.

    The answer is in a result as people find it there: a list is one of its columns, all else a
    cell of its only row; other cells beside it do not matter. None: no text was found equal, and
    whoever judges gave no reply to some.
    """
    golds = [task.answer, *task.accepted_answers]
    scores = [_score(one, gold, task, same) for one in _answers(rows, task) for gold in golds]
    known = [one for one in scores if one is not None]
    best = max(known, default=0.0)
    return None if len(known) < len(scores) and best < 1 else best


def is_right(score: float, task: Task) -> bool:
    """Tell whether a score counts as right, as the Seeker paper counts whole answers.

    An approximate number is, where it differs by no more than one in an approximate list may.
    """
    return score >= (1 / (1 + APPROXIMATE) if task.answer_type == "numeric_approximate" else 1)


def _answers(rows: Rows, task: Task) -> Iterator[Any]:
    if task.is_list:
        yield from (list(column) for column in zip(*rows, strict=True))
    elif len(rows) == 1:
        yield from rows[0]


def _score(mine: Any, gold: Any, task: Task, same: Same) -> float | None:
    if task.is_list:
        return _f1(mine, gold if isinstance(gold, list) else [gold], task, same)
    if task.answer_type == "string_approximate":
        is_same = _equal(mine, str(gold), 0.0, same)
        return None if is_same is None else float(is_same)
    if task.answer_type == "numeric_approximate":
        one, other = _number(mine), _number(gold)
        return 1 / (1 + abs(one - other) / abs(other)) if one is not None and other else 0.0
    one, other = _number(mine, percent=1), _number(gold, percent=1)
    if one is None or other is None:
        return float(_folded(mine) == _folded(gold))
    is_whole = isinstance(mine, int) and isinstance(gold, int)
    near = abs(one - other) < max(EXACT * max(abs(one), abs(other)), LISTED)
    return float(one == other or (not is_whole and near))


def _f1(mine: Sequence[Any], gold: Sequence[Any], task: Task, same: Same) -> float | None:
    """Return F1, in which an item of mine may stand for several of gold, as theirs counts."""
    is_exact = task.answer_type == "list_exact"
    tolerance, judge = (LISTED, None) if is_exact else (APPROXIMATE, same)
    found, used, unknown = 0, set[int](), False
    for wanted in gold:
        for at, item in enumerate(mine):
            is_same = _equal(item, wanted, tolerance, judge)
            unknown |= is_same is None
            if is_same:
                found += 1
                used.add(at)
                break
    if unknown and found < len(gold):
        return None
    if not found:
        return float(not gold and not mine)
    precision, recall = len(used) / len(mine), found / len(gold)
    return 2 * precision * recall / (precision + recall)


def _equal(mine: Any, gold: Any, tolerance: float, same: Same | None) -> bool | None:
    """Tell whether two are the same number or text; without a judge no other text is the same."""
    if isinstance(gold, int | float) and not isinstance(gold, bool):
        number = _number(mine)
        return number is not None and abs(number - gold) <= tolerance * max(abs(gold), 1e-12)
    is_same = _folded(mine) == _folded(gold)
    return same(str(mine), str(gold)) if same and not is_same else is_same


def _number(value: Any, percent: int = 100) -> float | None:
    """Return a number, also of a text; one with a percent sign is divided by `percent`."""
    text = str(value).strip()
    try:
        return float(text[:-1]) / percent if text.endswith("%") else float(text)
    except ValueError:
        return None


def _folded(value: Any) -> str:
    return str(value).strip().casefold()
