"""A sheet of made questions for people to read, and what they found (Pneuma, section 6.1.2).

The sheet is Markdown: of each question what it is made of, which tables answer it, and a line for
the reader to fill in.
"""

import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from scipy.stats import binomtest

from pneuma_assets.core.errors import BenchmarkError
from pneuma_assets.core.text.safe import printable

RIGHT = "Right? (y/n/partly):"
_VERDICTS = {"y": "y", "yes": "y", "partly": "partly", "n": "n", "no": "n"}
_MOST_TABLES = 10
"""Of a question's answers, so many are named."""
_FILLED = re.compile(rf"^{re.escape(RIGHT)}[ \t]*([^\s].*)?$", re.MULTILINE)
_HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
_TICKS = re.compile(r"`+")


class Verdict(NamedTuple):
    """How many questions were given a verdict, their share, and its 95 % interval (Wilson 1927)."""

    verdict: str
    number: int
    share: float
    low: float
    high: float


def sheet_of(made: Sequence[Mapping[str, Any]], sample: int, seed: int) -> str:
    """Return a sheet of so many questions, drawn by the seed, in the order of the file."""
    drawn = sorted(random.Random(seed).sample(range(len(made)), min(sample, len(made))))  # noqa: S311
    head = (
        f"# {len(drawn)} of {len(made)} made questions\n\n"
        f"Put y, n or partly behind `{RIGHT}`: y if a person could ask this, it asks for what its "
        "query or context says, and the tables answer it.\n"
    )
    return head + "".join(_entry(made[at]) for at in drawn)


def verdicts(sheet: str) -> list[Verdict]:
    """Count what readers wrote on a sheet; questions without a verdict do not count.

    Raises:
        BenchmarkError: The sheet is none, has no verdict, or one that is none of the three.
    """
    filled = [(found.start(), (found[1] or "").strip()) for found in _FILLED.finditer(sheet)]
    if not filled:
        raise BenchmarkError(
            f"this is no sheet of `pneuma-bench read`: no line begins with '{RIGHT}'"
        )
    counted = Counter(_verdict(text, sheet[:at]) for at, text in filled if text)
    if not counted:
        raise BenchmarkError(f"none of {len(filled)} questions has a verdict; write y, n or partly")
    total, found = counted.total(), []
    for one in dict.fromkeys(_VERDICTS.values()):
        interval = binomtest(counted[one], total).proportion_ci(method="wilson")
        found.append(Verdict(one, counted[one], counted[one] / total, interval.low, interval.high))
    return found


def _verdict(text: str, before: str) -> str:
    """Return which verdict a text is that stands behind this part of a sheet."""
    if text.casefold() not in _VERDICTS:
        questions = [printable(one)[:40] for one in _HEADING.findall(before)[-1:]]
        place = ", ".join([*questions, f"line {before.count(chr(10)) + 1}"])
        said = printable(text)[:40]
        raise BenchmarkError(f"{place}: '{said}' is no verdict; write y, n or partly")
    return _VERDICTS[text.casefold()]


def _entry(record: Mapping[str, Any]) -> str:
    tables = record["tables"]
    more = f" and {len(tables) - _MOST_TABLES} more" if len(tables) > _MOST_TABLES else ""
    of = {name: record["made"].get(name) for name in ("sql", "context", "template")}
    lines = [f"- {name}: {_quoted(text)}" for name, text in of.items() if text]
    named = ", ".join(map(_quoted, tables[:_MOST_TABLES]))
    return (
        f"\n## {printable(str(record.get('id', '')))}\n\n{_quoted(record['question'])}\n\n"
        + "\n".join([*lines, f"- tables: {named}{more}"])
        + f"\n\n{RIGHT} \n"
    )


def _quoted(text: object) -> str:
    """Return a text in backticks: cells of strangers are in it, and could pose as a verdict."""
    return f"`{_TICKS.sub(chr(39), printable(str(text)))}`"
