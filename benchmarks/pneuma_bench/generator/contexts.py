"""Passages of documents that answer the datasheet's questions: contexts (Pneuma, section 6.2.1).

The paper has a model play the table's creator, who sees columns alone, so its contexts are
invented. Here they are passages of the tables' documents, as they stand. The paper asks for
complete and relevant contexts, and checks neither: among its published ones are
"[insert name or team]" and "There are no other comments."

`This data set contains X` becomes `Which data set contains X?`, `Prices of X` becomes `Which table
holds prices of X?`: questions have the words of the documents, as the paper's first kind of them
(BX1, section 6.2.3); a search by words does well on them. For English.
"""

import re
from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass

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
