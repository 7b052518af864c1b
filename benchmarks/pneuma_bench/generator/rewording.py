"""Has a model word questions, and keeps those that lead back to their queries (section 6.1.2)."""

from collections.abc import Sequence
from dataclasses import dataclass

from pneuma_assets.core.lineage.parse import UnreadableSQLError
from pneuma_assets.core.models.base import Generation, LanguageModel
from pneuma_assets.core.text.safe import one_line
from pneuma_bench.generator.asking import ask_in_units
from pneuma_bench.generator.copying import foreign, missing_numbers
from pneuma_bench.generator.drafting import Draft
from pneuma_bench.generator.ledger import Ledger
from pneuma_bench.generator.matching import exact_match
from pneuma_bench.generator.prompts import (
    STOP,
    VERSION,
    back_prompt,
    read_question,
    rewrite_prompt,
)
from pneuma_bench.generator.questions import Rejected
from pneuma_bench.generator.reading_back import read_back

Outcome = Draft | Rejected
NO_ANSWER = "the model did not answer"


@dataclass(frozen=True, slots=True)
class Asker:
    """The model that words questions, and where its answers are kept."""

    model: LanguageModel
    ledger: Ledger
    max_new_tokens: int = 96

    def ask(self, purpose: str, prompts: Sequence[str]) -> list[Generation]:
        """Return the answers to prompts of one purpose, in order."""
        version = f"{VERSION}, {purpose}"
        return ask_in_units(
            self.model, self.ledger, prompts, self.max_new_tokens, STOP, version=version
        )


def reworded(drafts: Sequence[Draft], asker: Asker) -> list[Outcome]:
    """Return what becomes of drafts that a model words again, in order.

    Its words are kept where they name the query's values and no others, and where the model, asked
    for their SQL, leads back to the query.
    """
    prompts = [rewrite_prompt(one.question) for one in drafts]
    worded = map(_reworded, drafts, asker.ask("rewriting", prompts))
    compared = [_compared(one) if isinstance(one, Draft) else one for one in worded]
    left = [one for one in compared if isinstance(one, Draft)]
    prompts = [back_prompt(one.question, one.query, one.subject) for one in left]
    back = iter([*map(_led_back, left, asker.ask("cycle", prompts))])
    return [next(back) if isinstance(one, Draft) else one for one in compared]


def _reworded(draft: Draft, answer: Generation) -> Outcome:
    if answer.problem is not None:
        return draft.rejected("rewriting", NO_ANSWER, problem=answer.problem)
    question = read_question(answer.text) if answer.whole else ""
    if not question:
        return draft.rejected("rewriting", "no question", answer=one_line(answer.text))
    if question.casefold() == draft.question.casefold():
        return draft.rejected("rewriting", "worded as before")
    return draft.now(question, wording="model", template=draft.question)


def _compared(draft: Draft) -> Outcome:
    if missing := missing_numbers(draft.question, draft.query):
        return draft.rejected("words", "leaves out a value", values=missing)
    if others := foreign(draft.question, draft.query, draft.subject):
        return draft.rejected("words", "names another value", values=others)
    return draft


def _led_back(draft: Draft, answer: Generation) -> Outcome:
    if answer.problem is not None:
        return draft.rejected("cycle", NO_ANSWER, problem=answer.problem)
    said = one_line(answer.text)
    try:
        query = read_back(answer.text, draft.subject)
    except UnreadableSQLError as error:
        return draft.rejected("cycle", "no query of the template", back=said, why=str(error))
    if others := exact_match(draft.query, query):
        return draft.rejected("cycle", f"another {' and '.join(others)}", back=said)
    return draft
