"""What a description says that a column is the key, code or name of."""

import re
from collections.abc import Iterator

from pneuma_assets.core.joins.words import singular

_KEY_WORD = re.compile(r"\b(?:foreign key|ids?|identifiers?|codes?|keys?|names?)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+")
_CHARACTERS, _WORDS = 100, 8
"""Of a description, and behind the word that says it is a key: what comes later is of others."""


def said_entities(said: str) -> Iterator[str]:
    """Yield what stands behind "ID of" and its like, one to three words as one, singular.

    "ID of the publication being cited" speaks of a publication, "number of authors" of none.
    """
    found = _KEY_WORD.search(said[:_CHARACTERS])
    if found is None:
        return
    behind = said[found.end() :][:_CHARACTERS]
    words = [singular(word.lower()) for word in _WORD.findall(behind)]
    for at in range(min(len(words), _WORDS)):
        for length in (3, 2, 1):
            yield "".join(words[at : at + length])
