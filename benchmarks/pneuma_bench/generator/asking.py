"""Asks a language model in units of a fixed size, each of them once."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from pneuma_assets.core.grouping import chunks
from pneuma_assets.core.models.base import Generation, LanguageModel
from pneuma_assets.core.progress import report
from pneuma_assets.core.tables import content_hash
from pneuma_bench.generator.ledger import Ledger

UNIT = 32
"""Prompts of a unit. It depends on nothing: neither memory nor cores decide what is asked."""

T = TypeVar("T")

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

    what = (version, "ask", str(max_new_tokens), *stop)
    said = _in_units(model, ledger, prompts, asked, what, lambda one: one[1] is not None)
    return [Generation(index, *one) for index, one in enumerate(said)]


def judge_in_units(
    model: LanguageModel, ledger: Ledger, prompts: Sequence[str], *, version: str
) -> list[float | None]:
    """Return P(yes) a prompt, in order, as `LanguageModel.yes_probability`; kept likewise.

    Raises:
        BenchmarkError: The ledger cannot be used.
        ModelError: As `LanguageModel.yes_probability`.
    """
    what = (version, "judge")
    return _in_units(model, ledger, prompts, model.yes_probability, what, lambda one: one is None)


def _in_units(
    model: LanguageModel,
    ledger: Ledger,
    prompts: Sequence[str],
    ask: Callable[[Sequence[str]], list[T]],
    what: Sequence[str],
    is_refused: Callable[[T], bool],
) -> list[T]:
    different = [*dict.fromkeys(prompts)]
    answers: dict[str, T] = {}
    for unit in chunks(different, UNIT):
        key = content_hash(model.name, *what, "", *unit)
        kept = ledger.known(key)
        if kept is None or len(kept) != len(unit):
            kept = ask(unit)
            ledger.add(key, kept)
        elif not ledger.has_added(key):
            refused = [at for at, one in enumerate(kept) if is_refused(one)]
            if refused:
                again = ask([unit[at] for at in refused])
                for at, one in zip(refused, again, strict=True):
                    kept[at] = one
                ledger.add(key, kept)
        answers.update(zip(unit, kept, strict=True))
        report(f"asking {model.name} ({what[0]})", len(answers), len(different))
    return [answers[prompt] for prompt in prompts]
