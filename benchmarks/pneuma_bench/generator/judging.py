"""Which contexts and questions are fit to be kept, and why others are not (Pneuma, section 6.2.1).

The paper asks for complete and relevant contexts, and checks neither: among its published ones are
"[insert name or team]" and "There are no other comments."
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from pneuma_bench.generator.contexts import Context
from pneuma_bench.generator.datasheet import DATASHEET
from pneuma_bench.generator.pages import Pages
from pneuma_bench.generator.passages import sentences_of

LONGEST_CONTEXT, FEWEST_WORDS, MOST_WORDS = 120, 4, 60
"""Words of a context; of a question."""
COPIED = 6
"""Words in a row that a question in other words may not share with its context."""
_SIGNS = 0.04
"""Of a text, the share of signs of code from which on it is no prose."""

_NOT_STATED = re.compile(
    r"^\W*(?:not stated|none\b|n/?a\b|unknown|unfortunately|as an ai)"
    r"|^\W*i(?:'m| am)? (?:sorry|unable|can)"
    r"|\bno (?:other |further |additional )?(?:comments?|information)\b"
    r"|\b(?:not|n't) (?:been |explicitly |directly )?(?:mention|specif|stat|provide|say|given)",
    re.IGNORECASE,
)
_PLACEHOLDER = re.compile(
    r"\[(?:insert|your|name|team|date|link|organi[sz]ation|source|author|url)\b[^\]]*\]|\bXYZ\b"
    r"|\b(?:by|from) X\b|\bexample\.(?:com|org|net)\b|\bJ(?:ohn|ane) Doe\b|\blorem ipsum\b",
    re.IGNORECASE,
)
_CODE = re.compile(r"[\[\]{}=<>\\|_#$^~]")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_NAME = re.compile(r"(?<=[\w,;:)] )[A-Z][\w'-]+")
_WORD = re.compile(r"\w+")


class ContextJudge:
    """Judges contexts that a model wrote, or that were taken from documents.

    Args:
        pages: The documents, and how near texts are to the questions.
        grounds: Where contexts are to be true to documents: what these and the columns say, by
            table. None where a model invents them.
        written: Whether a model wrote them.
    """

    def __init__(
        self, pages: Pages, grounds: Mapping[str, str] | None = None, *, written: bool = False
    ) -> None:
        self._pages, self._grounds, self._written = pages, grounds, written

    def reasons(self, contexts: Sequence[Context]) -> list[str]:
        """Return why each context is not fit; empty where it is."""
        reasons = [self._by_words(one) for one in contexts]
        left = [at for at, reason in enumerate(reasons) if not reason]
        sentences = [sentences_of(contexts[at].text) for at in left]
        vectors = self._pages.embedded([one for some in sentences for one in some])
        texts = self._pages.embedded([contexts[at].text for at in left])
        start = 0
        for place, at in enumerate(left):
            end = start + len(sentences[place])
            reasons[at] = self._by_meaning(contexts[at], texts[place], vectors[start:end])
            start = end
        return reasons

    def _by_words(self, context: Context) -> str:
        text = context.text
        told = context.sentence or text
        ground = None if self._grounds is None else self._grounds[context.pair.table_id]
        checks = (
            ("no answer", context.problem is not None),
            ("not stated", not text or (self._written and _NOT_STATED.search(text))),
            ("placeholder", _PLACEHOLDER.search(text)),
            ("cut off", not context.whole or not is_closed(told)),
            ("no prose", len(_CODE.findall(told)) > _SIGNS * len(told)),
            ("too long", len(text.split()) > LONGEST_CONTEXT),
            ("not grounded", ground is not None and not is_grounded(text, ground)),
        )
        return next((reason for reason, failed in checks if failed), "")

    def _by_meaning(self, context: Context, text: np.ndarray, sentences: np.ndarray) -> str:
        """Return whether a part of the question is left out, or another question is answered.

        Completeness: each part is nearer to some sentence than parts are on average. Relevance: the
        nearest question is this one, or one of its section; of a passage, which says several things
        at once, only that it is nearer than questions are on average.
        """
        number = context.pair.number
        near = self._pages.nearness(text[None])[0]
        if not self._written:
            return "" if near[number - 1] >= 0 else "off the question"
        parts = self._pages.parts_nearness(sentences).max(axis=0)
        own = self._pages.parts_of(number)
        others = np.delete(parts, own).mean()
        if np.round(parts[own].min() - others, 4) < 0:
            return "incomplete"
        nearest = DATASHEET[int(near.argmax())]
        if near[number - 1] < near.max() and nearest.section != DATASHEET[number - 1].section:
            return "off the question"
        return ""


def why_no_question(question: str, names: Sequence[str], context: str = "") -> str:
    """Return why a question is not fit; empty where it is.

    Args:
        question: Its words.
        names: That would give the table away.
        context: What it must not copy; empty where it may.
    """
    words = len(question.split())
    said = _apart(question)
    checks = (
        ("too short", words < FEWEST_WORDS),
        ("too long", words > MOST_WORDS),
        ("placeholder", _PLACEHOLDER.search(question)),
        ("cut off", not is_closed(question.rstrip("?"))),
        ("names the table", any(_apart(one).strip() and _apart(one) in said for one in names)),
        ("copies the context", context and _shares_run(question, context)),
    )
    return next((reason for reason, failed in checks if failed), "")


def is_closed(text: str) -> bool:
    """Tell whether all that a text opens is closed, so that it can stand alone."""
    count = Counter(text)
    pairs = (("(", ")"), ("[", "]"), ("“", "”"))
    return (
        bool(text)
        and text[-1] not in ":,;…"
        and not text.endswith("...")
        and count['"'] % 2 == 0
        and all(count[one] == count[other] for one, other in pairs)
    )


def is_grounded(text: str, ground: str) -> bool:
    """Tell whether every number and every name of a text stands in what it is made from."""
    known = {*_NUMBER.findall(ground)}
    words = {word.casefold() for word in _WORD.findall(ground)}
    names = (word for name in _NAME.findall(text) for word in _WORD.findall(name))
    return known.issuperset(_NUMBER.findall(text)) and all(
        name.casefold() in words or name.casefold().removesuffix("s") in words for name in names
    )


def _apart(text: str) -> str:
    """Return the words of a text between blanks; a name may be of several, as `state.x77` is."""
    return f" {' '.join(_WORD.findall(text.casefold()))} "


def _shares_run(text: str, other: str) -> bool:
    words, others = ([word.casefold() for word in _WORD.findall(one)] for one in (text, other))
    runs = {tuple(others[at : at + COPIED]) for at in range(len(others) - COPIED + 1)}
    return any(tuple(words[at : at + COPIED]) in runs for at in range(len(words) - COPIED + 1))
