"""Has a model word questions, and keeps those that lead back to their queries (section 6.1.2)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from pneuma_assets.core.lineage.parse import UnreadableSQLError
from pneuma_assets.core.models.base import Generation, LanguageModel
from pneuma_assets.core.text.safe import one_line
from pneuma_bench.chance import chance_of
from pneuma_bench.generator.asking import ask_in_units
from pneuma_bench.generator.copying import copied, foreign, missing_numbers
from pneuma_bench.generator.drafting import Draft
from pneuma_bench.generator.ledger import Ledger
from pneuma_bench.generator.matching import exact_match
from pneuma_bench.generator.prompts import (
    STOP,
    VERSION,
    back_prompt,
    question_prompt,
    read_question,
    rewrite_prompt,
)
from pneuma_bench.generator.questions import Rejected
from pneuma_bench.generator.reading_back import read_back

Outcome = Draft | Rejected
Step = Callable[[Sequence[Draft]], Sequence[Outcome]]

NO_ANSWER = "the model did not answer"
REWRITING = 0.5
"""How probably a question that a model worded, and that copies texts, is worded again (the authors'
code). A template's words are always worded again."""


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


class Rewording:
    """Words drafts by a model; what it words is asked about again until it leads back, or ends.

    Args:
        asker: The model.
        seed: Decides which questions are worded again.
        drafts: Whether the model words the first drafts, too, as in the paper; else those are the
            template's, which lead back by construction, and the first cycle is saved.
    """

    def __init__(self, asker: Asker, *, seed: int, drafts: bool) -> None:
        self._asker = asker
        self._seed = seed
        self._drafts = drafts

    def reword(self, drafts: Sequence[Draft]) -> list[Outcome]:
        """Return what becomes of each, in order."""
        if not self._drafts:
            return self._again(drafts)
        ones = _through(
            drafts,
            self._drafted,
            partial(_compared, "words of the draft"),
            partial(self._led_back, "cycle of the draft"),
        )
        going = [at for at, one in enumerate(ones) if isinstance(one, Draft) and self._goes(one)]
        again = dict(zip(going, self._again([ones[at] for at in going]), strict=True))
        return [again.get(at, one) for at, one in enumerate(ones)]

    def _again(self, ones: Sequence[Outcome]) -> list[Outcome]:
        return _through(
            ones, self._rewritten, partial(_compared, "words"), partial(self._led_back, "cycle")
        )

    def _goes(self, draft: Draft) -> bool:
        """Tell whether a question that the model worded is worded again."""
        chance = chance_of(self._seed, "rewriting", draft.subject.table_id, draft.question)
        return bool(_copied(draft)) and chance.random() < REWRITING

    def _drafted(self, drafts: Sequence[Draft]) -> list[Outcome]:
        prompts = [question_prompt(one.query, one.subject) for one in drafts]
        return self._worded("drafting", drafts, prompts)

    def _rewritten(self, drafts: Sequence[Draft]) -> list[Outcome]:
        """Have all of them worded again; what a model worded is told which texts it copied."""
        prompts = [
            rewrite_prompt(
                one.question, one.query, one.subject, _copied(one) if self._drafts else ()
            )
            for one in drafts
        ]
        return self._worded("rewriting", drafts, prompts)

    def _worded(self, stage: str, drafts: Sequence[Draft], prompts: Sequence[str]) -> list[Outcome]:
        answers = self._asker.ask(stage, prompts)
        return [_reworded(stage, *pair) for pair in zip(drafts, answers, strict=True)]

    def _led_back(self, stage: str, drafts: Sequence[Draft]) -> list[Outcome]:
        prompts = [back_prompt(one.question, one.query, one.subject) for one in drafts]
        answers = self._asker.ask(stage, prompts)
        return [_led_back(stage, *pair) for pair in zip(drafts, answers, strict=True)]


def _through(ones: Sequence[Outcome], *steps: Step) -> list[Outcome]:
    """Lead those that are drafts through steps; each step has all that are left at once."""
    for step in steps:
        found = iter(step([one for one in ones if isinstance(one, Draft)]))
        ones = [next(found) if isinstance(one, Draft) else one for one in ones]
    return [*ones]


def _copied(draft: Draft) -> tuple[str, ...]:
    return copied(draft.question, draft.query, draft.subject).texts


def _reworded(stage: str, draft: Draft, answer: Generation) -> Outcome:
    if answer.problem is not None:
        return draft.rejected(stage, NO_ANSWER, problem=answer.problem)
    question = read_question(answer.text) if answer.whole else ""
    if not question:
        return draft.rejected(stage, "no question", answer=one_line(answer.text))
    by_model = draft.made["wording"] == "model"
    if question.casefold() != draft.question.casefold():
        before = {} if by_model else {"template": draft.question}
        return draft.now(question, wording="model", **before)
    return draft if by_model else draft.rejected(stage, "worded as before")


def _compared(stage: str, drafts: Sequence[Draft]) -> list[Outcome]:
    return [_compared_one(stage, one) for one in drafts]


def _compared_one(stage: str, draft: Draft) -> Outcome:
    if missing := missing_numbers(draft.question, draft.query):
        return draft.rejected(stage, "leaves out a value", values=missing)
    if others := foreign(draft.question, draft.query, draft.subject):
        return draft.rejected(stage, "names another value", values=others)
    return draft


def _led_back(stage: str, draft: Draft, answer: Generation) -> Outcome:
    if answer.problem is not None:
        return draft.rejected(stage, NO_ANSWER, problem=answer.problem)
    said = one_line(answer.text)
    try:
        query = read_back(answer.text, draft.subject)
    except UnreadableSQLError as error:
        return draft.rejected(stage, "no query of the template", back=said, why=str(error))
    if others := exact_match(draft.query, query):
        return draft.rejected(stage, f"another {' and '.join(others)}", back=said)
    return draft
