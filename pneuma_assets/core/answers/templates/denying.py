"""Words that deny, rank or change what they stand by: without them the question is another."""

import re
from collections.abc import Sequence

_WORDS = (
    # Not these.
    "outside beyond besides beside aside apart away far unlike opposed instead rather despite but "
    "minus exclude excludes excluded omit omits omitting ignore ignoring different_from "
    "different_than different_to "
    # Near these.
    "near nearby adjacent bordering neighboring neighbouring surrounding next_to "
    # None, or nothing known.
    "zero none nothing nobody nowhere lack lacks lacked lacking miss misses missed missing absent "
    "absence empty blank null unknown void false hardly barely scarcely rarely seldom never "
    "inactive invalid incomplete disabled "
    "cannot cant wont isnt wasnt werent hasnt havent hadnt couldnt shouldnt wouldnt "
    # Not now, or not done.
    "yet still anymore formerly previously once fail fails failed failing refused ceased stopped "
    "avoid avoids avoided tomorrow recently lately "
    # All of them, some of them, alone.
    "only just exclusively solely merely purely always mostly mainly usually partly partially "
    "possibly nearly almost approximately roughly several multiple numerous few with_all have_all "
    "has_all had_all having_all have_every has_every whose_every "
    # Not the first.
    "second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth next previous "
    "penultimate runner_up "
    # Another number, another row.
    "half halves twice thrice double doubled triple tripled quadruple squared cubed plus divided "
    "multiplied times same similar alike identical"
)
_DENYING = frozenset(_WORDS.split())
_OTHERS = re.compile(r"[0-9]+(?:st|nd|rd|th)|un(?!i|der|til)[a-z]{3,}|non[a-z]*")
"""Words of any kind: `2nd`, `unpaid`, `nonfiction`; neither `unit` nor `under`."""
_NEAR_NOW = frozenset({"last", "past", "this", "coming", "these"})
_PERIODS = frozenset({"day", "week", "month", "quarter", "year", "hour", "minute", "decade"})


def denying(texts: Sequence[str]) -> str:
    """Return the first words that deny, rank, or change what the others say; none if none do.

    Args:
        texts: The words of a question; nothing for those that name a column or are a cell.
    """
    for place, text in enumerate(texts):
        many = text == "many" and texts[place - 1 : place] != ["how"]
        if text in _DENYING or many or _OTHERS.fullmatch(text):
            return text
        following = texts[place + 1 : place + 3]
        if following and f"{text}_{following[0]}" in _DENYING:
            return f"{text} {following[0]}"
        if text in _NEAR_NOW and any(one.removesuffix("s") in _PERIODS for one in following):
            return " ".join([text, *following])  # A time told from today: `the last 30 days`.
    return ""
