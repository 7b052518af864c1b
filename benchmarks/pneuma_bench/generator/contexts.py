"""Answers to the questions of the datasheet, of one table each: contexts (Pneuma, section 6.2.1).

The paper has a model play the table's creator, who sees columns alone, so its contexts are
invented. Where tables have documents, contexts are taken from these: by a model that reads them, or
as they stand.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from pneuma_assets.core.models.base import LanguageModel
from pneuma_bench.generator.asking import ask_in_units
from pneuma_bench.generator.context_prompts import (
    VERSION,
    grounded_prompt,
    played_prompt,
)
from pneuma_bench.generator.context_wording import alone, is_citation, leans
from pneuma_bench.generator.cues import CITING, has_cue
from pneuma_bench.generator.datasheet import DATASHEET
from pneuma_bench.generator.ledger import Ledger
from pneuma_bench.generator.pages import Pages
from pneuma_bench.generator.passages import REFERENCES, Passage, sentences_of
from pneuma_bench.sets import RetrievalSet


@dataclass(frozen=True, slots=True)
class Pair:
    """A table, and one of the 51 questions by its number."""

    table_id: str
    number: int


@dataclass(frozen=True, slots=True)
class Context:
    """What is answered to one question of one table.

    Attributes:
        pair: The question, and the table.
        text: The answer; empty where there is none.
        sentence: The one of it that answers, where it is known.
        whole: False where the answer was cut off.
        problem: Why a model gave none.
    """

    pair: Pair
    text: str
    sentence: str = ""
    whole: bool = True
    problem: str | None = None


class ContextMaker(Protocol):
    """Answers questions of the datasheet."""

    def contexts(self, pairs: Sequence[Pair]) -> list[Context]:
        """Return a context a pair, in order."""
        ...


class ExtractedContexts:
    """The passage of the table's documents that is nearest to the question and has a cue of it."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages

    def contexts(self, pairs: Sequence[Pair]) -> list[Context]:
        """Return passages as they stand; an empty text where the documents say nothing."""
        return [self._context(pair) for pair in pairs]

    def _context(self, pair: Pair) -> Context:
        near = self._pages.near
        places = self._pages.of_table(pair.table_id)
        for place in sorted(places, key=lambda one: (-near[one, pair.number - 1], one)):
            passage = self._pages.passages[place]
            sentence = _answering(passage, pair.number)
            if sentence:
                return Context(pair, passage.text, sentence)
        return Context(pair, "")


class ModelContexts:
    """What a model answers: by the table's documents, or without them, as in the paper.

    Args:
        dataset: The tables.
        model: Who answers.
        ledger: Where the answers are kept.
        tokens: Most of an answer.
        documents: The text that is shown of each table; without one the model invents.
    """

    def __init__(
        self,
        dataset: RetrievalSet,
        model: LanguageModel,
        ledger: Ledger,
        tokens: int,
        documents: dict[str, str] | None,
    ) -> None:
        self._tables = {table.table_id: table for table, _ in dataset.tables}
        self._model, self._ledger, self._tokens = model, ledger, tokens
        self._documents = documents
        self._made: dict[int, dict[str, str]] = defaultdict(dict)

    def contexts(self, pairs: Sequence[Pair]) -> list[Context]:
        """Return what the model writes; pairs of one table should stand together."""
        prompts = [self._prompt(pair) for pair in pairs]
        said = ask_in_units(self._model, self._ledger, prompts, self._tokens, version=VERSION)
        made = [
            Context(pair, " ".join(one.text.split()), whole=one.whole, problem=one.problem)
            for pair, one in zip(pairs, said, strict=True)
        ]
        for one in made:
            self._made[one.pair.number][one.pair.table_id] = one.text
        return made

    def others(self, _question: str, pair: Pair) -> list[tuple[str, str]]:
        """Return what was answered to the same datasheet question of other tables."""
        return [
            (table_id, text)
            for table_id, text in sorted(self._made[pair.number].items())
            if text and table_id != pair.table_id
        ]

    def _prompt(self, pair: Pair) -> str:
        table = self._tables[pair.table_id]
        names = [column.name for column in table.columns]
        question = DATASHEET[pair.number - 1].text
        if self._documents is None:
            return played_prompt(names, table.row_count, question)
        text = self._documents.get(pair.table_id, "")
        return grounded_prompt(names, table.row_count, text, question)


def _answering(passage: Passage, number: int) -> str:
    """Return the first sentence that has a cue of the question and can be told alone.

    What names a paper or a book is told whole.
    """
    question = DATASHEET[number - 1]
    sentences = sentences_of(passage.text)
    if passage.heading.casefold() in REFERENCES or is_citation(sentences[0]):
        return passage.text if number in CITING and has_cue(question, passage.text) else ""
    for sentence in sentences:
        if has_cue(question, sentence) and not is_citation(sentence) and not leans(sentence):
            return alone(sentence)
    return ""
