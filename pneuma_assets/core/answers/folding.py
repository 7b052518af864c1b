"""What of a value's spelling does not count: capitals, accents, and how many blanks there are."""

import unicodedata

import regex

_ACCENTED = regex.compile(
    r"([\p{Latin}\p{Greek}])\p{Mn}+|([аеиоуыэюя])[\u0300\u0301]|(\u0435)\u0308", regex.IGNORECASE
)
"""Letters with marks that people leave out, decomposed: of Cyrillic ё, and a vowel with its stress.

Any other mark makes another letter (й of и, ガ of カ).
"""


def folded(text: str) -> str:
    """Return a text without capitals, accents and blanks that do not count.

    Signs that only look alike stay what they are, such as a raised digit (10⁶).
    """
    plain = _ACCENTED.sub(r"\1\2\3", unicodedata.normalize("NFD", text))
    return " ".join(plain.casefold().split())
