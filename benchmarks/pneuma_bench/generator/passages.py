"""Takes the documents of a table apart into passages: a few sentences under their heading.

Documents are Markdown, the text of pages, or what a package's help prints: paragraphs between blank
lines, headings that stand alone, lists, and lines of code, which say nothing of the table.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pneuma_assets.core.text.safe import printable
from pneuma_assets.core.text.sentences import sentence_ends

MOST_READ = 40_000
"""Characters of a document; a passage is looked for in what people read first."""
MOST_PASSAGES = 60
"""Of a table."""
MOST_SENTENCES, MOST_WORDS, FEWEST_WORDS, MOST_CHARACTERS = 3, 60, 5, 600
"""Of a passage."""
SILENT = frozenset({"arguments", "example", "examples", "keywords", "see also", "usage", "value"})
"""Headings under which documents show how to use something, and say nothing of a table."""
_HEADING_WORDS = 6
REFERENCES = frozenset({"bibliography", "citation", "further reading", "literature", "references"})
"""Headings under which papers and books are named."""

_PARAGRAPH = re.compile(r"\n[ \t]*\n")
_CODE = re.compile(
    r"<-|[=<>]=|%>%|\$\w|^\s*(?:#{2,}\s|library\(|data\(|import |from \w+ import |SELECT )"
    r"|\w\([^)]{0,80}\w\s?=[^)]{0,80}\)|^[\w.]+\(.*\)$"
)
_MARKUP = re.compile(r"^(?:#{1,6}\s+|[-*+>]\s+|\d{1,3}[.)]\s+)")
_HELP_PAGE = re.compile(r"^R: ")
"""Before the title of a page of R's help, which says it once more."""
_WORD = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True, slots=True)
class Passage:
    """What a document says in a few sentences.

    Attributes:
        table_id: Of the table that the document is beside.
        heading: What stands over it; empty where nothing does.
        text: Whole sentences, on one line.
    """

    table_id: str
    heading: str
    text: str

    @property
    def shown(self) -> str:
        """Return it as it is compared: the text, its heading before it."""
        return f"{self.heading}: {self.text}" if self.heading else self.text


def passages_of(
    table_id: str, documents: Sequence[str], columns: Sequence[str] = ()
) -> list[Passage]:
    """Return the passages of a table's documents in their order, each text once.

    What is said under a column's name, or begins with it, is said of that column and left out.
    """
    names = {name.casefold() for name in columns}
    found: dict[str, Passage] = {}
    for document in documents:
        for heading, text in _paragraphs(document[:MOST_READ]):
            if (
                heading.casefold() in names | SILENT
                or text.split(maxsplit=1)[0].casefold() in names
            ):
                continue
            for some in _cut(text):
                found.setdefault(some.casefold(), Passage(table_id, heading, some))
    return list(found.values())[:MOST_PASSAGES]


def _paragraphs(document: str) -> Iterator[tuple[str, str]]:
    """Yield each paragraph on one line with the heading over it.

    Where headings have no mark, a line with one is a comment in an example.
    """
    heading, marked = "", False
    for paragraph in _PARAGRAPH.split(document.replace("\r\n", "\n")):
        text, has_mark = _plain(paragraph), paragraph.lstrip().startswith("#")
        in_example = heading.casefold() in SILENT and has_mark and not marked
        if _is_heading(text) and not in_example:
            heading, marked = text.rstrip(":"), has_mark
        elif text:
            yield heading, text


def sentences_of(text: str) -> list[str]:
    """Return the sentences of a text, the last one also where nothing ends it."""
    sentences, start = [], 0
    for end in sentence_ends(text):
        sentences.append(text[start:end].strip())
        start = end
    rest = text[start:].strip()
    return [one for one in [*sentences, rest] if one]


def _plain(paragraph: str) -> str:
    """Return a paragraph on one line, without code and marks of lists."""
    lines = [line.strip() for line in paragraph.splitlines()]
    said = [line for line in lines if not _CODE.search(line)]
    if len(said) < len(lines):
        said = [line for line in said if not line.startswith("#")]
    text = printable(" ".join(_MARKUP.sub("", line) for line in said))
    return _HELP_PAGE.sub("", text)


def _is_heading(text: str) -> bool:
    words = text.split()
    return 0 < len(words) <= _HEADING_WORDS and text[-1] not in ".!?;,)" and "/" not in text


def _cut(text: str) -> Iterator[str]:
    """Yield runs of sentences that are neither too long nor too short to say something."""
    run: list[str] = []
    for sentence in sentences_of(text):
        words = len(" ".join([*run, sentence]).split())
        if run and (len(run) == MOST_SENTENCES or words > MOST_WORDS):
            yield from _said(run)
            run = []
        run.append(sentence)
    yield from _said(run)


def _said(sentences: Sequence[str]) -> Iterator[str]:
    text = " ".join(sentences)
    words = text.split()
    if len(text) > MOST_CHARACTERS:
        return
    if FEWEST_WORDS <= len(words) <= MOST_WORDS and len(_WORD.findall(text)) >= len(words) / 2:
        yield text
