"""What a model answered, kept, so that a generation that was killed goes on with the same."""

import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pneuma_bench.kept_file import KeptFile


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
