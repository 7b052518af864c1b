"""Asks for a table by a sentence about it, without a model: plain, and close to the sentence.

`This data set contains X` becomes `Which data set contains X?`, `Prices of X` becomes `Which table
holds prices of X?`. Such questions have the words of the documents, as the paper's first kind of
them (BX1, section 6.2.3); a search by words does well on them. For English.
"""

import re
from collections.abc import Set

_NOUN = r"(?:data(?:[ -]?(?:base|file|frame|set|table)s?)?|file|matrix|table|tibble|time series)"
_VERB = (
    "are|came|come|comes|compares?|concerns?|consists?|contains?|covers?|derives?|describes?|"
    "gives?|has|have|holds?|includes?|is|lists?|originates?|presents?|provides?|records?|refers?|"
    "relates?|reports?|represents?|reproduces?|shows?|summari[sz]es?|tracks?|was|were"
)
_SUBJECT = re.compile(
    rf"(?i:the|these|this|those)\s+(?P<what>(?P<kind>[\w-]+\s+)?(?i:{_NOUN}))(?:\s+here)?,?\s+"
    rf"(?P<said>(?:(?:also|mainly|only|originally)\s+)?(?:{_VERB})\b.*)"
)
_A_TABLE = re.compile(
    rf"(?i:an?\s+{_NOUN})\s+(?P<verb>containing|giving|of|on|with)\s+(?P<what>.+)"
)
_VERBS = {"containing": "contains", "giving": "gives", "of": "holds", "on": "is on", "with": "has"}
_DONE = re.compile(
    r"(?:adapted|collected|compiled|derived|downloaded|extracted|obtained|originally published|"
    r"published|taken|used)\b",
    re.IGNORECASE,
)
_FINITE = re.compile(
    r"\b(?:are|became|can|could|did|do|does|gave|had|has|have|indicates?|is|may|might|represents?|"
    r"should|showed|took|was|were|will|would|combines|compares|contains?|consists?|depends|"
    r"describes|differs|gives|includes|occurs|prepared|presented|provides|refers|report(?:s|ed)?|"
    r"requires|shows (?:an?|how|that|the)|(?:carried out|conducted|measured|recorded) (?:an?|the)|"
    r"(?:he|she|they|we|I) [a-z]+|"
    r"(?:analy[sz]e[ds]?|developed|introduced|use[ds]?) (?:an?|models|the|these|this))\b"
)
_LEANING = re.compile(
    r"(?:also|although|and|because|but|finally|for (?:example|instance)|furthermore|he|hence|her|"
    r"here|his|however|in (?:addition|fact|particular)|it|its|likewise|moreover|otherwise|see|she|"
    r"similarly|so|some|such|that|their|then|there|therefore|these|they|this|those|thus|"
    r"to (?:th(?:at|is)|the extent)|we)\b",
    re.IGNORECASE,
)
_LEANING_ON = re.compile(
    rf"(?i:the|these|this|those)\s+(?:[\w-]+\s+)?(?i:{_NOUN})\s+also\b|[a-z]+ing\b"
)
"""What only says more, or goes on with a list: `The data set also has X`, `treating X as known`."""
_CITED = re.compile(
    r"\bpp?\.\s?\d|\b\d+\s?\(\d+\)|\d\s?[-–]+\s?\d+\.?$|\bdoi\b|\bJ(?:ournal|\.)|\bPress\b"  # noqa: RUF001
    r"|\bR package version\b|\bWiley\b|\bSpringer\b|\b(?:ed|eds|et al)\."
    r"|^[A-Z][\w'-]+,? (?:[A-Z]{1,2}\b|[A-Z]\.)"
)
_QUOTED = re.compile(r"[\"“][^\"“”]*[\"”]")
_END = re.compile(r"[\s.!;,]+$")


def leans(sentence: str) -> bool:
    """Tell whether a sentence begins with what only the one before it explains."""
    if _LEANING_ON.match(sentence):
        return True
    if sentence[:1] in "([,;:-" or _LEANING.match(sentence):
        return _SUBJECT.match(sentence) is None
    return False


def alone(sentence: str) -> str:
    """Return a sentence without the colon of a list of columns that follows it."""
    return sentence.rstrip(" :") if _A_TABLE.match(sentence) else sentence


def is_citation(sentence: str) -> bool:
    """Tell whether a sentence names a paper or a book rather than saying something."""
    return _CITED.search(sentence) is not None and _SUBJECT.match(sentence) is None


def requested(sentence: str, common: Set[str], names: Set[str] = frozenset()) -> str:
    """Return a question that asks for the table of which this is said.

    Args:
        sentence: Of its documents.
        common: Words that are mostly written small, so that they are no names.
        names: Of the table, folded; its documents often call the data by them.
    """
    said = _END.sub("", sentence)
    if is_citation(sentence):
        return f"Which table goes back to {said}?"
    subject = _SUBJECT.fullmatch(said)
    if subject:
        kind = subject["kind"] or ""
        is_name = not kind.islower() or kind.strip() in names
        what = subject["what"].removeprefix(kind) if is_name else subject["what"]
        return f"Which {what} {subject['said']}?"
    a_table = _A_TABLE.fullmatch(said)
    if a_table:
        what = a_table["what"].replace("the following ", "")
        return f"Which table {_VERBS[a_table['verb'].lower()]} {what}?"
    begun = _begun(said, common)
    if _DONE.match(begun):
        return f"Which table was {begun[0].lower()}{begun[1:]}?"
    if _FINITE.search(_QUOTED.sub("", begun)):
        return f"Which table's description says that {begun}?"
    return f"Which table holds {begun}?"


def _begun(sentence: str, common: Set[str]) -> str:
    """Return a sentence as it stands within another one."""
    first = re.match(r"[^\W\d_]+", sentence)
    word = "" if first is None else first.group()
    small = word == "A" or (word.lower() in common and word[1:].islower())
    return sentence[:1].lower() + sentence[1:] if small else sentence
