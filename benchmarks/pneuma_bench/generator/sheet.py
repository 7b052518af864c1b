"""A sheet of made questions for people to read, and what they found (Pneuma, section 6.1.2).

The sheet is Markdown: of each question what it is made of, which tables answer it, and a line for
the reader to fill in.
"""

import math
import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pneuma_assets.core.errors import BenchmarkError
from pneuma_assets.core.measure.evaluate import json_lines, refuse
from pneuma_assets.core.text.safe import printable

RIGHT = "Right? (y/n/partly):"
VERDICTS = ("y", "partly", "n")
MOST_TABLES = 10
"""Of a question's answers, so many are named."""

_FILLED = re.compile(rf"^{re.escape(RIGHT)}[ \t]*([^\s].*)?$", re.MULTILINE)
_HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
_TICKS = re.compile(r"`+")
_Z = 1.959964
"""Of a normal distribution, 95 % lie within so many deviations."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """How many questions were given a verdict, and between which shares that of all such lies.

    Attributes:
        verdict: `y`, `partly` or `n`.
        number: How many were given it.
        share: Of all that were given one.
        low: Lower end of Wilson's 95 % interval of the share.
        high: Its upper end.
    """

    verdict: str
    number: int
    share: float
    low: float
    high: float


def read_made(path: Path) -> list[Mapping[str, Any]]:
    """Return the lines of a generated file of questions.

    Raises:
        BenchmarkError: It cannot be read, or a line is no question that was made.
    """
    made: list[Mapping[str, Any]] = []
    for number, record in json_lines(path):
        kinds = {"question": str, "made": dict, "tables": list}
        if not all(isinstance(record.get(name), kind) for name, kind in kinds.items()):
            refuse(path, number, "it is no question that `pneuma-bench generate` made")
        made.append(record)
    return made


def sheet_of(made: Sequence[Mapping[str, Any]], sample: int, seed: int) -> str:
    """Return a sheet of so many questions, drawn by the seed, in the order of the file."""
    drawn = sorted(random.Random(seed).sample(range(len(made)), min(sample, len(made))))  # noqa: S311
    head = (
        f"# {len(drawn)} of {len(made)} made questions\n\n"
        f"Put y, n or partly behind `{RIGHT}`: y if a person could ask this, it asks for what its "
        "query or context says, and the tables answer it.\n"
    )
    return head + "".join(_entry(made[at]) for at in drawn)


def read_sheet(path: Path) -> str:
    """Return a sheet as it is now.

    Raises:
        BenchmarkError: It cannot be read.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        cause = (error.strerror if isinstance(error, OSError) else None) or error
        raise BenchmarkError(f"cannot read {path} ({cause}); give a sheet in UTF-8") from error


def verdicts(sheet: str) -> list[Verdict]:
    """Count what readers wrote on a sheet; questions without a verdict do not count.

    Raises:
        BenchmarkError: The sheet is none, has no verdict, or one that is none of the three.
    """
    filled = [(found, (found[1] or "").strip().casefold()) for found in _FILLED.finditer(sheet)]
    if not filled:
        raise BenchmarkError(
            f"this is no sheet of `pneuma-bench read`: no line begins with '{RIGHT}'"
        )
    given = [_verdict(text, sheet, found.start()) for found, text in filled if text]
    if not given:
        raise BenchmarkError(f"none of {len(filled)} questions has a verdict; write y, n or partly")
    counted = Counter(given)
    return [
        Verdict(one, counted[one], counted[one] / len(given), *wilson(counted[one], len(given)))
        for one in VERDICTS
    ]


def wilson(number: int, of: int) -> tuple[float, float]:
    """Return the 95 % score interval of a share (Wilson 1927), which holds for few, too."""
    share, square = number / of, _Z**2
    middle = (share + square / (2 * of)) / (1 + square / of)
    half = _Z / (1 + square / of) * math.sqrt(share * (1 - share) / of + square / (4 * of**2))
    return max(0.0, middle - half), min(1.0, middle + half)


def _verdict(text: str, sheet: str, at: int) -> str:
    """Return which verdict a text is that stands at a place of a sheet."""
    words = {"y": "y", "yes": "y", "n": "n", "no": "n", "partly": "partly"}
    if text not in words:
        before = sheet[:at]
        questions = _HEADING.findall(before)
        line = f"line {before.count(chr(10)) + 1}"
        place = f"{printable(questions[-1])[:40]}, {line}" if questions else line
        said = printable(text)[:40]
        raise BenchmarkError(f"{place}: '{said}' is no verdict; write y, n or partly")
    return words[text]


def _entry(record: Mapping[str, Any]) -> str:
    tables = [str(one) for one in record["tables"]]
    more = f" and {len(tables) - MOST_TABLES} more" if len(tables) > MOST_TABLES else ""
    of = {name: record["made"].get(name) for name in ("sql", "context", "template")}
    lines = [f"- {name}: {_quoted(text)}" for name, text in of.items() if text]
    named = ", ".join(map(_quoted, tables[:MOST_TABLES]))
    return (
        f"\n## {printable(str(record.get('id', '')))}\n\n{_quoted(record['question'])}\n\n"
        + "\n".join([*lines, f"- tables: {named}{more}"])
        + f"\n\n{RIGHT} \n"
    )


def _quoted(text: object) -> str:
    """Return a text in backticks: cells of strangers are in it, and could pose as a verdict."""
    return f"`{_TICKS.sub(chr(39), printable(str(text)))}`"
