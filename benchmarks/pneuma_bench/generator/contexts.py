"""Passages of documents that answer the datasheet's questions: contexts (Pneuma, section 6.2.1).

The paper has a model play the table's creator, who sees columns alone, so its contexts are
invented. Here they are passages of the tables' documents, as they stand. The paper asks for
complete and relevant contexts, and checks neither: among its published ones are
"[insert name or team]" and "There are no other comments."
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from pneuma_bench.generator.context_wording import alone, is_citation, leans
from pneuma_bench.generator.datasheet import CITING, DATASHEET
from pneuma_bench.generator.documents import REFERENCES, Pages, Passage, sentences_of


@dataclass(frozen=True, slots=True)
class Context:
    """A passage that answers one of the 51 questions of a table, and the sentence that does."""

    table_id: str
    number: int
    text: str
    sentence: str


def extracted_context(pages: Pages, table_id: str, number: int) -> Context | None:
    """Return the passage that is nearest to a question and has a cue of it, as it stands.

    None where the table's documents say nothing.
    """
    places = pages.of_table.get(table_id, ())
    for place in sorted(places, key=lambda one: (-pages.near[one, number - 1], one)):
        passage = pages.passages[place]
        if sentence := _answering(passage, number):
            return Context(table_id, number, passage.text, sentence)
    return None


def _answering(passage: Passage, number: int) -> str:
    """Return the first sentence that has a cue of the question and can be told alone.

    What names a paper or a book is told whole.
    """
    cue, sentences = DATASHEET[number - 1].cue, sentences_of(passage.text)
    if passage.heading.casefold() in REFERENCES or is_citation(sentences[0]):
        return passage.text if number in CITING and cue.search(passage.text) else ""
    for sentence in sentences:
        if cue.search(sentence) and not is_citation(sentence) and not leans(sentence):
            return alone(sentence)
    return ""


_LONGEST_CONTEXT, _FEWEST_WORDS, _MOST_WORDS = 120, 4, 60
"""Words of a context; of a question."""
_SIGNS = 0.04
"""Of a text, the share of signs of code from which on it is no prose."""
_PLACEHOLDER = re.compile(
    r"\[(?:insert|your|name|team|date|link|organi[sz]ation|source|author|url)\b[^\]]*\]|\bXYZ\b"
    r"|\b(?:by|from) X\b|\bexample\.(?:com|org|net)\b|\bJ(?:ohn|ane) Doe\b|\blorem ipsum\b",
    re.IGNORECASE,
)
_CODE = re.compile(r"[\[\]{}=<>\\|_#$^~]")
_WORD = re.compile(r"\w+")


def why_no_context(context: Context, near: float) -> str:
    """Return why a passage is no fit context; empty where it is.

    Args:
        context: The passage, and the sentence of it that answers.
        near: How near it is to its question, less what it is to questions on average. A passage
            says several things at once, so the nearest question need not be this one.
    """
    text, told = context.text, context.sentence
    checks = {
        "placeholder": _PLACEHOLDER.search(text),
        "cut off": not is_closed(told),
        "no prose": len(_CODE.findall(told)) > _SIGNS * len(told),
        "too long": len(text.split()) > _LONGEST_CONTEXT,
        "off the question": near < 0,
    }
    return next((reason for reason, failed in checks.items() if failed), "")


def why_no_question(question: str, names: Sequence[str]) -> str:
    """Return why a question is not fit; empty where it is.

    Args:
        question: Its words.
        names: That would give the table away.
    """
    words, said = len(question.split()), _apart(question)
    checks = {
        "too short": words < _FEWEST_WORDS,
        "too long": words > _MOST_WORDS,
        "placeholder": _PLACEHOLDER.search(question),
        "cut off": not is_closed(question.rstrip("?")),
        "names the table": any(_apart(one).strip() and _apart(one) in said for one in names),
    }
    return next((reason for reason, failed in checks.items() if failed), "")


def is_closed(text: str) -> bool:
    """Tell whether all that a text opens is closed, so that it can stand alone."""
    count = Counter(text)
    return (
        bool(text)
        and text[-1] not in ":,;…"
        and not text.endswith("...")
        and count['"'] % 2 == 0
        and all(count[one] == count[other] for one, other in ("()", "[]", "“”"))
    )


def _apart(text: str) -> str:
    """Return the words of a text between blanks; a name may be of several, as `state.x77` is."""
    return f" {' '.join(_WORD.findall(text.casefold()))} "
