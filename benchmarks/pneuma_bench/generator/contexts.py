"""Answers to the questions of the datasheet, of one table each: contexts (Pneuma, section 6.2.1).

The paper has a model play the table's creator, who sees columns alone, so its contexts are
invented. Here they are passages of the tables' documents, as they stand.
"""

from dataclasses import dataclass

from pneuma_bench.generator.context_wording import alone, is_citation, leans
from pneuma_bench.generator.cues import CITING, has_cue
from pneuma_bench.generator.datasheet import DATASHEET
from pneuma_bench.generator.pages import Pages
from pneuma_bench.generator.passages import REFERENCES, Passage, sentences_of


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
    """

    pair: Pair
    text: str
    sentence: str = ""


def extracted_context(pages: Pages, pair: Pair) -> Context:
    """Return the passage that is nearest to a question and has a cue of it, as it stands.

    Its text is empty where the table's documents say nothing.
    """
    places = pages.of_table(pair.table_id)
    for place in sorted(places, key=lambda one: (-pages.near[one, pair.number - 1], one)):
        passage = pages.passages[place]
        if sentence := _answering(passage, pair.number):
            return Context(pair, passage.text, sentence)
    return Context(pair, "")


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
