"""Which contexts and questions are fit to be kept, and why others are not (Pneuma, section 6.2.1).

The paper asks for complete and relevant contexts, and checks neither: among its published ones are
"[insert name or team]" and "There are no other comments."
"""

import re
from collections import Counter
from collections.abc import Sequence

from pneuma_bench.generator.contexts import Context

LONGEST_CONTEXT, FEWEST_WORDS, MOST_WORDS = 120, 4, 60
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
    checks = (
        ("placeholder", _PLACEHOLDER.search(text)),
        ("cut off", not is_closed(told)),
        ("no prose", len(_CODE.findall(told)) > _SIGNS * len(told)),
        ("too long", len(text.split()) > LONGEST_CONTEXT),
        ("off the question", near < 0),
    )
    return next((reason for reason, failed in checks if failed), "")


def why_no_question(question: str, names: Sequence[str]) -> str:
    """Return why a question is not fit; empty where it is.

    Args:
        question: Its words.
        names: That would give the table away.
    """
    words = len(question.split())
    said = _apart(question)
    checks = (
        ("too short", words < FEWEST_WORDS),
        ("too long", words > MOST_WORDS),
        ("placeholder", _PLACEHOLDER.search(question)),
        ("cut off", not is_closed(question.rstrip("?"))),
        ("names the table", any(_apart(one).strip() and _apart(one) in said for one in names)),
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


def _apart(text: str) -> str:
    """Return the words of a text between blanks; a name may be of several, as `state.x77` is."""
    return f" {' '.join(_WORD.findall(text.casefold()))} "
