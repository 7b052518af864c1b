"""Asks a language model in units of a fixed size, each of them once, and keeps its answers."""

import json
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
    was in its batch, and half of a unit that was asked again would be another's half. `added` has
    the keys of those that were added since this was opened.
    """

    def __init__(self, path: Path) -> None:
        self.added: set[str] = set()
        super().__init__(path)

    def answers(self, key: str) -> list[_Said]:
        """Return a unit's answers as they were kept; none where it was not asked."""
        return list(json.loads(self.known([key]).get(key, b"[]")))

    def keep(self, key: str, answers: Sequence[_Said]) -> None:
        """Keep a unit's answers."""
        self.add({key: json.dumps([*answers]).encode()})
        self.added.add(key)


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
        kept = ledger.answers(key)
        if len(kept) != len(unit):
            kept = [("", "it was not asked", True)] * len(unit)
        again = [at for at, (_, problem, _) in enumerate(kept) if problem is not None]
        if again and key not in ledger.added:
            for at in again:
                kept[at] = ("", "the model gave no answer", True)
            for one in model.generate([unit[at] for at in again], max_new_tokens, stop):
                kept[again[one.index]] = (one.text, one.problem, one.whole)
            ledger.keep(key, kept)
        answers.update(zip(unit, kept, strict=True))
        report(f"asking {model.name} ({version})", len(answers), len(different))
    return [Generation(at, *answers[prompt]) for at, prompt in enumerate(prompts)]
