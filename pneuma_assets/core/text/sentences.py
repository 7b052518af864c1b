"""Where sentences end, in text as language models write it of columns.

A rule of this project's own, because such text is full of units and abbreviations: the libraries
tried (sentencex 1.0.32, pysbd 0.3.4, syntok 1.4.4) end a sentence at "The approx. weight",
"in lbs. of the ship", or "e.g. The Wall". Here what follows decides first: a small letter never
begins a sentence.
"""

import re
from collections.abc import Iterator

_MARK = re.compile(r"[.!?…]+[\"'”’)\]]*(?=\s|$)|[。！？।]+[\"'”’」）]*")  # noqa: RUF001
_BLANKS = re.compile(r"\s*")
_LAST_WORD = re.compile(r"[^\s(\[\"'/-]+$")
_DOTTED = re.compile(r"[a-z](\.[a-z])*")

_NEVER_LAST = frozenset(
    "aka approx cf dr e.g eg excl i.e ie incl mr mrs prof viz vs".split()  # noqa: SIM905
)
_SELDOM_LAST = frozenset(
    "abbr apr art aug avg ave capt col dec dept dist div est feb fig figs fri gen gov hon"  # noqa: SIM905
    " jan jr lat long max mean min mon mt ms no nos nov nr num oct op pct pop pp qty ref rep resp"
    " sat sen sep sept sr st std sun temp thu tue univ vol wed".split()
)
"""Also words, units or names that may end a sentence: they do before a word that begins one."""

_FIRST = re.compile(r"(A|An|Each|For|If|In|It|Its|That|The|There|These|They|This)\b")


def sentence_ends(text: str) -> Iterator[int]:
    """Yield the places behind the marks that end a sentence, the end of the text included."""
    for mark in _MARK.finditer(text):
        if _ends(text, mark):
            yield mark.end()


def ends_sentence(text: str, at: int) -> bool:
    """Tell whether the mark at this place of the text ends a sentence."""
    mark = _MARK.match(text, at)
    return mark is not None and _ends(text, mark)


def ends_in_abbreviation(text: str) -> bool:
    """Tell whether a text seems to have been cut at an abbreviation ("The approx.")."""
    found = _LAST_WORD.search(text.rstrip("."))
    word = found.group().lower() if found else ""
    return word in _NEVER_LAST or (text.endswith(".") and word in _SELDOM_LAST)


def _ends(text: str, mark: re.Match[str]) -> bool:
    following = _BLANKS.match(text, mark.end())
    after = following.end() if following else mark.end()
    if after == len(text) or mark.group()[0] in "。！？।":  # noqa: RUF001
        return True
    if text[after].islower():
        return False
    if mark.group()[0] != ".":
        return True
    found = _LAST_WORD.search(text, max(0, mark.start() - 20), mark.start())
    word = found.group().lower() if found else ""
    if word in _NEVER_LAST:
        return False
    if word in _SELDOM_LAST or _DOTTED.fullmatch(word):
        return _FIRST.match(text, after) is not None
    return True
