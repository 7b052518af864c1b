"""The questions that a data set's creators should answer, as "Datasheets for Datasets" asks them.

Gebru, Morgenstern, Vecchione, Vaughan, Wallach, Daumé III, Crawford: "Datasheets for Datasets",
Communications of the ACM 64(12), 2021. `datasheet.tsv` quotes its 51 questions word for word, as
the authors of Pneuma asked a model to answer them of every table (section 6.2.1); before each
stand its section and what a text says that answers it, as a regular expression.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_IN_BRACKETS = re.compile(r"\s*\([^()]*\)")
_CONDITIONAL = re.compile(r"(If (so|not|the|there|it|consent)|Please)\b")


@dataclass(frozen=True, slots=True)
class DatasheetQuestion:
    """One of the 51: its number, from 1, its section, its words, and how answers are told."""

    number: int
    section: str
    text: str
    cue: re.Pattern[str]

    @property
    def parts(self) -> tuple[str, ...]:
        """What it asks, without examples and without what only follows from an answer.

        A part asks "who funded it?"; "if so, please provide a description" asks for nothing else.
        """
        plain = _IN_BRACKETS.sub("", self.text)
        asked = [one.strip() for one in re.findall(r"[^.?]*\?", plain)]
        return tuple(one for one in asked if not _CONDITIONAL.match(one)) or (plain,)


def _read() -> Iterator[DatasheetQuestion]:
    lines = Path(__file__).with_suffix(".tsv").read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, start=1):
        section, cue, text = line.split("\t")
        yield DatasheetQuestion(number, section, text, re.compile(cue, re.IGNORECASE))


DATASHEET = tuple(_read())
CITING = frozenset({35})
"""Numbers of the questions that the name of a paper or a book answers."""
