"""Has a model word questions, and keeps those that lead back to their queries (section 6.1.2)."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pneuma_assets.core.grouping import chunks
from pneuma_assets.core.lineage.parse import UnreadableSQLError
from pneuma_assets.core.models.base import Generation, LanguageModel
from pneuma_assets.core.progress import report
from pneuma_assets.core.tables import content_hash
from pneuma_assets.core.text.safe import one_line
from pneuma_bench.files import KeptFile
from pneuma_bench.generator.prompts import (
    STOP,
    VERSION,
    back_prompt,
    read_question,
    rewrite_prompt,
)
from pneuma_bench.generator.queries import SqlQuery, Subject, exact_match, number_of
from pneuma_bench.generator.questions import Draft, Rejected
from pneuma_bench.generator.reading_back import read_back

_FEW_LEVELS = 50
"""Different texts of a column, up to which one capitalised word of them is a name of its own."""
_WORDS = re.compile(r"\w+(?:['\u2019]\w+)*")
_NUMBER = re.compile(
    r"(?<![\w.])(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?(?:e[+-]?\d+)?|\.\d+)(?!\w|\.\d)",
    re.IGNORECASE,
)
"""Without a sign, which a question may put in words."""
_NAME = re.compile(r"(?<=[\w,;)] )[A-Z]\w+")
"""A word with a capital that begins no sentence."""
_SPELLED = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
_TOKENS, _AT_ONCE = 96, 32
"""Of an answer; prompts that are asked before their answers are kept."""


def missing_numbers(question: str, query: SqlQuery) -> list[str]:
    """Return the numbers of a query's conditions and of its limit that a question does not name."""
    said = {*_numbers(question)}
    wanted = [value for one in query.conditions for value in one.values]
    wanted += [query.order.limit] if query.order else []
    return [
        f"{one:.15g}" for one in wanted if isinstance(one, int | float) and abs(one) not in said
    ]


def foreign(question: str, query: SqlQuery, subject: Subject) -> list[str]:
    """Return what a question names that its query does not: numbers, cells of the table, names.

    A cell counts if it has two words or more, or is one capitalised word of a column with few
    different texts; a name, if it is in no cell, too: small models ask "in Rome" after an example
    of their prompt, or "in the United States". What is a part of the query's own values, of its
    columns' names or of what people wrote about these does not count.
    """
    own = _own(query, subject)
    allowed = {*_numbers(own), 1.0}  # "which one"
    numbers = [f"{one:.15g}" for one in _numbers(question) if one not in allowed]
    said, known = _folded(question), _folded(own)
    cells = [
        cell
        for cell in _names(subject, _WORDS.findall(question)[1:])
        if _folded(cell) in said and _folded(cell) not in known
    ]
    names = [
        name
        for name in _NAME.findall(question)
        if name.casefold().removesuffix("s") not in own.casefold()
    ]
    return [*dict.fromkeys([*numbers, *cells, *names])]


def _own(query: SqlQuery, subject: Subject) -> str:
    """Return all texts that a question about the query may have words of."""
    values = [str(value) for one in query.conditions for value in one.values]
    limit = [str(query.order.limit)] if query.order else []
    names = [subject.columns[at].replace("_", " ") for at in query.columns]
    apart = [" ".join(re.findall(r"\d+|\D+", name)) for name in names]
    described = [subject.described.get(at, "") for at in query.columns]
    return " | ".join([*values, *limit, *names, *apart, *described])


def _names(subject: Subject, words: Sequence[str]) -> Iterator[str]:
    """Yield the texts of a table that are names, if any are.

    One of a single word is, if it is among these words as it is spelled.
    """
    for at in range(len(subject.columns)):
        texts = {one for one in subject.values(at) if isinstance(one, str)}
        few = len(texts) <= _FEW_LEVELS
        for text in sorted(texts):
            parts = len(_WORDS.findall(text))
            alone = few and parts and text[0].isupper() and len(text) > 1 and text in words
            if parts > 1 or alone:
                yield text


def _numbers(text: str) -> Iterator[float]:
    found = (number_of(one.replace(",", "")) for one in _NUMBER.findall(text))
    yield from (float(number) for number in found if number is not None)
    words = _WORDS.findall(text.casefold())
    yield from (float(_SPELLED.index(one)) for one in words if one in _SPELLED)


def _folded(text: str) -> str:
    """Return the words of a text between blanks, so that only whole ones are found in it."""
    return f" {' '.join(_WORDS.findall(text.replace('_', ' ').casefold()))} "


Outcome = Draft | Rejected
NO_ANSWER = "the model did not answer"


@dataclass(frozen=True, slots=True)
class Asker:
    """The model that words questions, and where its answers are kept."""

    model: LanguageModel
    kept: KeptFile

    def ask(self, purpose: str, prompts: Sequence[str]) -> list[Generation]:
        """Return one greedy answer a prompt, in order; equal prompts are asked once.

        Answers are kept as soon as some are there, so a run that was killed goes on. What was
        refused, or did not fit in memory, is asked again by the next run.

        Raises:
            BenchmarkError: Answers cannot be kept.
            ModelError: As `LanguageModel.generate`.
        """
        model, made_of = self.model, (self.model.name, VERSION, purpose, str(_TOKENS), STOP)
        keys = {prompt: content_hash(*made_of, "", prompt) for prompt in prompts}
        known = self.kept.known([*keys.values()])
        said = {prompt: json.loads(known[key]) for prompt, key in keys.items() if key in known}
        for some in chunks([prompt for prompt in keys if prompt not in said], _AT_ONCE):
            for one in model.generate(some, _TOKENS):
                text, *more = one.text.split(STOP, 1)
                said[some[one.index]] = text, one.problem, one.whole or bool(more)
            answered = [one for one in some if one in said and said[one][1] is None]
            self.kept.add({keys[one]: json.dumps(said[one]).encode() for one in answered})
            report(f"asking {model.name} ({purpose})", len(said), len(keys))
        none = "", "the model gave no answer", True
        return [Generation(at, *said.get(prompt, none)) for at, prompt in enumerate(prompts)]


def reworded(drafts: Sequence[Draft], asker: Asker) -> list[Outcome]:
    """Return what becomes of drafts that a model words again, in order.

    Its words are kept where they name the query's values and no others, and where the model, asked
    for their SQL, leads back to the query.
    """
    prompts = [rewrite_prompt(one.question) for one in drafts]
    worded = [*map(_reworded, drafts, asker.ask("rewriting", prompts))]
    left = [one for one in worded if isinstance(one, Draft)]
    prompts = [back_prompt(one.question, one.query, one.subject) for one in left]
    back = iter([*map(_led_back, left, asker.ask("cycle", prompts))])
    return [next(back) if isinstance(one, Draft) else one for one in worded]


def _reworded(draft: Draft, answer: Generation) -> Outcome:
    if answer.problem is not None:
        return draft.rejected("rewriting", NO_ANSWER, problem=answer.problem)
    question = read_question(answer.text) if answer.whole else ""
    if not question:
        return draft.rejected("rewriting", "no question", answer=one_line(answer.text))
    if question.casefold() == draft.question.casefold():
        return draft.rejected("rewriting", "worded as before")
    draft = draft.now(question, wording="model", template=draft.question)
    if missing := missing_numbers(question, draft.query):
        return draft.rejected("words", "leaves out a value", values=missing)
    if others := foreign(question, draft.query, draft.subject):
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
