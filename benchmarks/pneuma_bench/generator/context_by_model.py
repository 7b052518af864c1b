"""Has a model put contexts as questions, and say which tables answer them (section 6.2.3)."""

import math
import re
from collections.abc import Callable, Mapping, Sequence

from pneuma_assets.core.models.base import Generation, LanguageModel
from pneuma_assets.core.text.analysis import ENGLISH
from pneuma_bench.generator.asking import ask_in_units, judge_in_units
from pneuma_bench.generator.context_annotating import Saying
from pneuma_bench.generator.context_prompts import (
    NO_CONTEXT,
    VERSION,
    label_prompt,
    question_by_examples,
    question_prompt,
    rephrasing_by_examples,
    rephrasing_prompt,
)
from pneuma_bench.generator.context_questions import Worded
from pneuma_bench.generator.contexts import Context, Pair
from pneuma_bench.generator.judging import is_grounded, why_no_question
from pneuma_bench.generator.ledger import Ledger
from pneuma_bench.generator.pages import Pages

Candidates = Callable[[str, Pair], Sequence[tuple[str, str]]]
"""Gives, for a question of a pair, other tables that may answer it, and what is said of them."""
SAME = 0.5
"""Cosine of two questions from which on one may be the other in other words."""
TOLD_APART = 2.0
"""By so many logits a model is surer of a question's own context than of none, if it can tell.

One of half a billion parameters was surer by .3 to .8, and as sure of any other text."""
_ABOUT_TABLES = frozenset(ENGLISH.terms("table tables data dataset set provide find show give"))

_QUESTION = re.compile(r"(?:^|\n)\W*Question(?: 1)?\W*:\W*(\w[^\n]*)", re.IGNORECASE)
_REPHRASED = re.compile(
    r"(?:^|\n)\W*(?:Rephrased Question(?: 1)?|In other words)\W*:\W*(\w[^\n]*)", re.IGNORECASE
)


class ModelWording:
    """Has a model ask by a context, rephrase what it asked, and label other tables.

    Args:
        model: Who words and labels.
        ledger: Where the answers are kept.
        pages: Tell how near questions are.
        tokens: Most of an answer.
        candidates: Give other tables that may answer.
        saying: Tells by their words which tables answer, where the model cannot; None if no
            document says what contexts say.
        paper: Whether the prompts are the paper's; else a model is shown examples.
    """

    def __init__(
        self,
        model: LanguageModel,
        ledger: Ledger,
        pages: Pages,
        tokens: int,
        candidates: Candidates,
        saying: Saying | None,
        *,
        paper: bool,
    ) -> None:
        self._model, self._ledger, self._pages = model, ledger, pages
        self._tokens, self._candidates, self._paper = tokens, candidates, paper
        self._saying = saying

    def worded(self, contexts: Sequence[Context]) -> list[Worded]:
        """Return rephrased questions; what is not fit is not rephrased."""
        prompt = question_prompt if self._paper else question_by_examples
        said = self._said([prompt(one.text) for one in contexts], _QUESTION)
        drafts = [_checked(context, one) for context, one in zip(contexts, said, strict=True)]
        fit = [one for one in drafts if not one.reason]
        rephrase = rephrasing_prompt if self._paper else rephrasing_by_examples
        again = self._said([rephrase(one.question) for one in fit], _REPHRASED)
        rephrased = iter(self._rephrased(*pair) for pair in zip(fit, again, strict=True))
        return [one if one.reason else next(rephrased) for one in drafts]

    def others(self, questions: Sequence[Worded]) -> list[list[str] | None]:
        """Return the tables that the model labels by the question as it was first, as the paper.

        A small model says yes of nearly all. So another table answers if the model is as sure of
        it as half-way between no context and the question's own one (in logits). Where it does not
        tell these two apart, another table answers by its words, as without a model; None where
        documents do not say it.
        """
        labels = [
            (place, table_id, label_prompt(told, one.draft))
            for place, one in enumerate(questions)
            for table_id, told in (
                ("", NO_CONTEXT),
                (one.context.pair.table_id, one.context.text),
                *self._candidates(one.draft, one.context.pair),
            )
        ]
        prompts = [prompt for _, _, prompt in labels]
        sure = judge_in_units(self._model, self._ledger, prompts, version=VERSION)
        by_question: list[dict[str, float]] = [{} for _ in questions]
        for (place, table_id, _), yes in zip(labels, sure, strict=True):
            by_question[place][table_id] = _logit(0.5 if yes is None else yes)
        told = [
            labelled(some, one.context.pair.table_id)
            for some, one in zip(by_question, questions, strict=True)
        ]
        return [
            self._by_words(one.context) if found is None else found
            for found, one in zip(told, questions, strict=True)
        ]

    def _by_words(self, context: Context) -> list[str] | None:
        if self._saying is None:
            return None
        return self._saying.others(context.sentence or context.text, context.pair.table_id)

    def _said(self, prompts: Sequence[str], form: re.Pattern[str]) -> list[str]:
        """Return the questions of answers; empty where one has not the form that was asked for."""
        stop = () if self._paper else ("\n",)
        said = ask_in_units(self._model, self._ledger, prompts, self._tokens, stop, version=VERSION)
        return [_read(form, one, marked=self._paper) for one in said]

    def _rephrased(self, draft: Worded, question: str) -> Worded:
        if not question:
            return Worded(draft.context, "", draft.question, "not rephrased")
        reason = why_no_question(question, (), draft.context.text)
        if not reason:
            near = float(self._pages.asked(question) @ self._pages.asked(draft.question))
            reason = "" if round(near, 4) >= SAME else "asks for something else"
        if not reason and not is_grounded(question, f"{draft.context.text} {draft.question}"):
            reason = "names something else"
        return Worded(draft.context, question, draft.question, reason)


def labelled(sure: Mapping[str, float], own: str) -> list[str] | None:
    """Return the tables of which a model is sure enough; None if it cannot tell.

    Args:
        sure: By table how sure it is, in logits; by "" of no context.
        own: The table that the question was made of.
    """
    if sure[own] - sure[""] < TOLD_APART:
        return None
    enough = (sure[own] + sure[""]) / 2
    return [one for one, yes in sure.items() if one not in ("", own) and yes >= enough]


def _read(form: re.Pattern[str], said: Generation, *, marked: bool) -> str:
    """Return the question of an answer: after its mark, or where none is needed, its first line."""
    text = said.text if said.problem is None else ""
    found = form.search(text)
    line = found.group(1) if found else "" if marked else text.strip().partition("\n")[0]
    is_whole = said.whole or "\n" in text[found.end() if found else 0 :].strip()
    return line.strip(" \"'*") if is_whole else ""


def _checked(context: Context, question: str) -> Worded:
    reason = why_no_question(question, ()) if question else "not as asked"
    if not reason and not _is_of(question, context.text):
        reason = "asks for something else"
    if not reason and not is_grounded(question, context.text):
        reason = "names something else"
    return Worded(context, question, reason=reason)


def _is_of(question: str, context: str) -> bool:
    """Tell whether half of a question's telling words are its context's, as a first draft has."""
    terms = {*ENGLISH.question_terms(question)} - _ABOUT_TABLES
    return bool(terms) and 2 * len(terms & {*ENGLISH.terms(context)}) >= len(terms)


def _logit(share: float) -> float:
    bounded = min(max(share, 1e-6), 1 - 1e-6)
    return math.log(bounded / (1 - bounded))
