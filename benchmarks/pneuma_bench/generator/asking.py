"""Asks a language model in units of a fixed size, each of them once, and keeps its answers."""

import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pneuma_assets.core.grouping import chunks
from pneuma_assets.core.models.base import Generation, LanguageModel
from pneuma_assets.core.progress import report
from pneuma_assets.core.tables import content_hash
from pneuma_bench.files import KeptFile


class Ledger(KeptFile):
    """The answers to units of prompts, by the unit's key, in a file.

    A unit is kept whole or not at all: where a model rounds, an answer may depend on what else
    was in its batch, and half of a unit that was asked again would be another's half.

    Args:
        path: The file; it is made, with its folder, where there is none.

    Raises:
        BenchmarkError: The file cannot be used.
    """

    def __init__(self, path: Path) -> None:
        self._added: set[str] = set()
        super().__init__(
            path, "CREATE TABLE IF NOT EXISTS units (key TEXT PRIMARY KEY, answers TEXT NOT NULL)"
        )

    def known(self, key: str) -> list[Any] | None:
        """Return a unit's answers as they were added; None where it was not asked."""
        try:
            row = self._file.execute("SELECT answers FROM units WHERE key = ?", (key,)).fetchone()
            return None if row is None else list(json.loads(row[0]))
        except (sqlite3.Error, ValueError, TypeError) as error:
            raise self._failed(error) from error

    def has_added(self, key: str) -> bool:
        """Tell whether a unit's answers were added since this was opened."""
        return key in self._added

    def add(self, key: str, answers: Sequence[Any]) -> None:
        """Keep a unit's answers, which are values of JSON; they are there after a kill."""
        try:
            with self._file:
                self._file.execute(
                    "INSERT OR REPLACE INTO units VALUES (?, ?)", (key, json.dumps([*answers]))
                )
            self._added.add(key)
        except sqlite3.Error as error:
            raise self._failed(error) from error


UNIT = 32
"""Prompts of a unit. It depends on nothing: neither memory nor cores decide what is asked."""

_Said = tuple[str, str | None, bool]
"""Text, problem and `whole` of a `Generation`."""


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
    only for the unit it was at. Prompts that begin alike should stand beside each other. What was
    refused, or did not fit in memory, is asked again by the next run, and by none twice.

    Args:
        model: Who answers.
        ledger: Where answers are kept; what is there is not asked.
        prompts: What is asked.
        max_new_tokens: Most tokens of an answer.
        stop: What ends an answer, as in `LanguageModel.generate`.
        version: Names the wording of the prompts and what they are for, in logs and keys.

    Raises:
        BenchmarkError: The ledger cannot be used.
        ModelError: As `LanguageModel.generate`.
    """

    def asked(unit: Sequence[str]) -> list[_Said]:
        said: list[_Said] = [("", "the model gave no answer", True)] * len(unit)
        for one in model.generate(unit, max_new_tokens, stop):
            said[one.index] = (one.text, one.problem, one.whole)
        return said

    different = [*dict.fromkeys(prompts)]
    answers: dict[str, _Said] = {}
    for unit in chunks(different, UNIT):
        key = content_hash(model.name, version, "ask", str(max_new_tokens), *stop, "", *unit)
        kept = ledger.known(key)
        if kept is None or len(kept) != len(unit):
            kept = asked(unit)
            ledger.add(key, kept)
        elif not ledger.has_added(key):
            refused = [at for at, one in enumerate(kept) if one[1] is not None]
            if refused:
                again = asked([unit[at] for at in refused])
                for at, one in zip(refused, again, strict=True):
                    kept[at] = one
                ledger.add(key, kept)
        answers.update(zip(unit, kept, strict=True))
        report(f"asking {model.name} ({version})", len(answers), len(different))
    return [Generation(at, *answers[prompt]) for at, prompt in enumerate(prompts)]
