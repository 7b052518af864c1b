"""Asks a language model in units of a fixed size, each of them once, and keeps its answers."""

import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from pneuma_assets.core.grouping import chunks
from pneuma_assets.core.models.base import Generation, LanguageModel
from pneuma_assets.core.progress import report
from pneuma_assets.core.tables import content_hash
from pneuma_bench.files import KeptFile

_Said = tuple[str, str | None, bool]
"""Text, problem and `whole` of a `Generation`."""


class Ledger(KeptFile):
    """The answers to units of prompts, by the unit's key, in a file; they are there after a kill.

    A unit is kept whole or not at all: where a model rounds, an answer may depend on what else
    was in its batch, and half of a unit that was asked again would be another's half.

    Raises:
        BenchmarkError: The file cannot be used.
    """

    def __init__(self, path: Path) -> None:
        self.added: set[str] = set()
        super().__init__(
            path, "CREATE TABLE IF NOT EXISTS units (key TEXT PRIMARY KEY, answers TEXT NOT NULL)"
        )

    def known(self, key: str) -> list[_Said] | None:
        """Return a unit's answers as they were added; None where it was not asked."""
        try:
            row = self._file.execute("SELECT answers FROM units WHERE key = ?", (key,)).fetchone()
            return None if row is None else list(json.loads(row[0]))
        except (sqlite3.Error, ValueError, TypeError) as error:
            raise self._failed(error) from error

    def add(self, key: str, answers: Sequence[_Said]) -> None:
        """Keep a unit's answers; `added` has the keys of those that were since this was opened."""
        try:
            with self._file:
                row = key, json.dumps([*answers])
                self._file.execute("INSERT OR REPLACE INTO units VALUES (?, ?)", row)
            self.added.add(key)
        except sqlite3.Error as error:
            raise self._failed(error) from error


UNIT = 32
"""Prompts of a unit. It depends on nothing: neither memory nor cores decide what is asked."""


def ask_in_units(
    model: LanguageModel,
    ledger: Ledger,
    prompts: Sequence[str],
    max_new_tokens: int,
    stop: Sequence[str] = (),
    *,
    version: str,
) -> list[Generation]:
    """Return one greedy answer a prompt, in order; equal prompts are asked once.

    The same prompts in the same order are the same units, so a run that was killed asks again
    only for the unit it was at. What was refused, or did not fit in memory, is asked again by the
    next run, and by none twice.

    Args:
        model: Who answers.
        ledger: Where answers are kept; what is there is not asked.
        prompts: What is asked; those that begin alike should stand beside each other.
        max_new_tokens: Most tokens of an answer.
        stop: What ends an answer, as in `LanguageModel.generate`.
        version: Names the wording of the prompts and what they are for, in logs and keys.

    Raises:
        BenchmarkError: The ledger cannot be used.
        ModelError: As `LanguageModel.generate`.
    """
    different = [*dict.fromkeys(prompts)]
    answers: dict[str, _Said] = {}
    for unit in chunks(different, UNIT):
        key = content_hash(model.name, version, "ask", str(max_new_tokens), *stop, "", *unit)
        kept = ledger.known(key) or []
        if len(kept) != len(unit):
            kept = [("", "it was not asked", True)] * len(unit)
        again = [at for at, (_, problem, _) in enumerate(kept) if problem is not None]
        if again and key not in ledger.added:
            for at in again:
                kept[at] = ("", "the model gave no answer", True)
            for one in model.generate([unit[at] for at in again], max_new_tokens, stop):
                kept[again[one.index]] = (one.text, one.problem, one.whole)
            ledger.add(key, kept)
        answers.update(zip(unit, kept, strict=True))
        report(f"asking {model.name} ({version})", len(answers), len(different))
    return [Generation(at, *answers[prompt]) for at, prompt in enumerate(prompts)]
