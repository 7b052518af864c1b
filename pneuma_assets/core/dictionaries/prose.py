"""What sentences say of columns: "`dep_ts` is the scheduled departure in UTC".

Read is a sentence that begins with names, in backticks or with an underscore, and says what they
are or hold. What is said of files, programs and missing values, and what was found out, is not.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from pneuma_assets.core.dictionaries.lines import TEXT_CHARACTERS, Cells
from pneuma_assets.core.text.safe import one_line
from pneuma_assets.core.text.sentences import sentence_ends

_NAME = r"(?:``[^`]{1,80}``|`[^`]{1,80}`|(?=[^\W_]+_\w)\w{3,120}+)"
_COLUMN = r"(?:column|field|variable|attribute)s?"
_SENTENCE = re.compile(
    rf"(?:(?:the|each|every) )?(?:{_COLUMN} )?"
    rf"(?P<names>{_NAME}(?:(?:, and |, | and ){_NAME}){{0,20}})(?: {_COLUMN})? "
    r"(?:(?:is|are|means?|stands? for) (?=(?:the|an?|whether|if|how|when|where|what|which|who|in"
    r"|one of|measured|given|expressed|recorded|reported|counted|always|never|\d)\b|[\"'(])"
    r"|(?=(?:holds?|contains?|gives?|stores?|records?|counts?|measures?|denotes?|represents?"
    r"|identifies|refers? to)\b))(?P<text>.+?)\.?",
    re.IGNORECASE,
)
_NO_MEANING = re.compile(
    r"(?:the|an?) (?:(?!of\b)[\w-]+ ){0,2}(?:data ?set|data frame|series|table|view|file|folder"
    r"|package|library|script|program|function|command|option|argument|parameter|keyword)s?\b"
    r"(?! \w*(?:name|id|path|size|type))"
    r"|the (?:best|main|most|only|right|same|strongest|wrong|worst)\b"
    r"|.*\b(?:deprecated|dropped|duplicates?|instead|missing|no longer|nulls?|obsolete|outliers?"
    r"|removed|renamed|required|optional|todo)\b",
    re.IGNORECASE,
)


def sentences_about(paragraph: str) -> Iterator[Cells]:
    """Yield the names that sentences of a paragraph begin with, and what is said of them."""
    text = " ".join(paragraph.split())
    for start, end in pairwise([0, *sentence_ends(text), len(text)]):
        found = _SENTENCE.fullmatch(text[start:end].strip()[:TEXT_CHARACTERS])
        if found and not _NO_MEANING.match(found["text"]):
            yield found["names"].replace("`", ""), one_line(found["text"], TEXT_CHARACTERS)
