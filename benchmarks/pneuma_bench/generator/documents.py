"""What is written beside the tables of a set: passages, and which of them say the same.

Documents are Markdown, the text of pages, or what a package's help prints: paragraphs between blank
lines, headings that stand alone, lists, and lines of code, which say nothing of the table. The
paper asks a model about every table's context of the same datasheet question; here another table
answers if a passage of its documents says the same by its words (Pneuma, section 6.2.3).
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pneuma_assets.core.grouping import chunks
from pneuma_assets.core.models.base import Encoder
from pneuma_assets.core.progress import report
from pneuma_assets.core.tables import Vector
from pneuma_assets.core.text.analysis import ENGLISH
from pneuma_assets.core.text.safe import printable
from pneuma_assets.core.text.sentences import sentence_ends
from pneuma_bench.generator.datasheet import DATASHEET
from pneuma_bench.sets import RetrievalSet

_MOST_READ = 40_000
"""Characters of a document; a passage is looked for in what people read first."""
_MOST_PASSAGES = 60
"""Of a table."""
_MOST_SENTENCES, _MOST_WORDS, _FEWEST_WORDS, _MOST_CHARACTERS = 3, 60, 5, 600
"""Of a passage."""
_SILENT = frozenset({"arguments", "example", "examples", "keywords", "see also", "usage", "value"})
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
    """Whole sentences of a table's document, on one line, and the heading over them, if any."""

    table_id: str
    heading: str
    text: str

    @property
    def shown(self) -> str:
        """It as it is compared: the text, its heading before it."""
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
        for heading, text in _paragraphs(document[:_MOST_READ]):
            first = text.split(maxsplit=1)[0].casefold()
            if heading.casefold() not in names | _SILENT and first not in names:
                for some in _cut(text):
                    found.setdefault(some.casefold(), Passage(table_id, heading, some))
    return list(found.values())[:_MOST_PASSAGES]


def _paragraphs(document: str) -> Iterator[tuple[str, str]]:
    """Yield each paragraph on one line with the heading over it.

    Where headings have no mark, a line with one is a comment in an example.
    """
    heading, marked = "", False
    for paragraph in _PARAGRAPH.split(document.replace("\r\n", "\n")):
        text, has_mark = _plain(paragraph), paragraph.lstrip().startswith("#")
        in_example = heading.casefold() in _SILENT and has_mark and not marked
        if _is_heading(text) and not in_example:
            heading, marked = text.rstrip(":"), has_mark
        elif text:
            yield heading, text


def sentences_of(text: str) -> list[str]:
    """Return the sentences of a text, the last one also where nothing ends it."""
    sentences, start = [], 0
    for end in (*sentence_ends(text), len(text)):
        sentences.append(text[start:end].strip())
        start = end
    return [one for one in sentences if one]


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
    runs: list[list[str]] = [[]]
    for sentence in sentences_of(text):
        words = len(" ".join([*runs[-1], sentence]).split())
        if runs[-1] and (len(runs[-1]) == _MOST_SENTENCES or words > _MOST_WORDS):
            runs.append([])
        runs[-1].append(sentence)
    for run in map(" ".join, runs):
        words = len(run.split())
        fits = len(run) <= _MOST_CHARACTERS and _FEWEST_WORDS <= words <= _MOST_WORDS
        if fits and len(_WORD.findall(run)) >= words / 2:
            yield run


_AT_ONCE = 256
_ROUND = 4
"""Decimals of a nearness: beyond them, what stands beside a text in its batch decides."""
_CAPITALISED = re.compile(r"\b[A-Z][a-z]+\b")
_SMALL_WORD = re.compile(r"\b[a-z]{2,}\b")


class Pages:
    """The passages of all documents, and questions and passages as the encoder sees them.

    Nearness is the cosine to the nearest part of a question, less what that part has on average
    with all passages, less what the text has on average with all questions: parts such as "who
    created the dataset?" are near to whatever names a data set, and a general text to all parts.
    What is above 0 is nearer than that.

    Attributes:
        passages: All, by table in the order of the set.
        of_table: The places of each table's passages.
        common: Words that they mostly write small.
        near: How near each passage is to each of the 51 questions.
    """

    def __init__(self, dataset: RetrievalSet, encoder: Encoder) -> None:
        self._encoder = encoder
        self.passages: list[Passage] = []
        self.of_table: dict[str, Sequence[int]] = {}
        for table, _ in dataset.tables:
            columns = [column.name for column in table.columns]
            said = dataset.contexts.get(table.table_id, ())
            start = len(self.passages)
            self.passages += passages_of(table.table_id, said, columns)
            self.of_table[table.table_id] = range(start, len(self.passages))
        texts = " ".join(passage.text for passage in self.passages)
        names = Counter(map(str.lower, _CAPITALISED.findall(texts)))
        small = Counter(_SMALL_WORD.findall(texts))
        self.common = frozenset(word for word, times in small.items() if times >= names[word])
        parts = [(at, part) for at, one in enumerate(DATASHEET) for part in one.parts]
        self._question_of_part = np.array([at for at, _ in parts])
        self._parts = encoder.encode_queries([part for _, part in parts])
        vectors = self._embedded([passage.shown for passage in self.passages])
        self._usual = np.zeros(len(parts), np.float32)
        if self.passages:
            self._usual = (vectors @ self._parts.T).mean(axis=0)
        self.near = self._nearness(vectors)

    def nearness(self, texts: Sequence[str]) -> Vector:
        """Return how near each text is to each of the 51 questions, shape (texts, 51)."""
        return self._nearness(self._embedded(texts))

    def _embedded(self, texts: Sequence[str]) -> Vector:
        found, done = [np.empty((0, self._encoder.dimension), np.float32)], 0
        for some in chunks(texts, _AT_ONCE):
            found.append(self._encoder.encode_documents(some))
            done += len(some)
            report("reading documents", done, len(texts))
        return np.concatenate(found)

    def _nearness(self, vectors: Vector) -> Vector:
        parts = vectors @ self._parts.T - self._usual
        whole = np.stack(
            [parts[:, self._question_of_part == at].max(axis=1) for at in range(len(DATASHEET))],
            axis=1,
        )
        less: Vector = np.round(whole - whole.mean(axis=1, keepdims=True), _ROUND)
        return less


_CONTAINED = 0.8
"""Of a sentence's words, weighed by how rare they are, the share from which on another table's
passage says the same."""


class Saying:
    """Which passages say what a sentence says, by their words."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._passages = passages
        self._having: dict[str, list[int]] = defaultdict(list)
        for place, passage in enumerate(passages):
            for term in {*ENGLISH.terms(passage.text)}:
                self._having[term].append(place)

    def others(self, sentence: str, table_id: str) -> list[str]:
        """Return the other tables of which a passage says as much as a sentence of this one.

        A passage without one of the sentence's numbers says nothing of it.
        """
        weights = {
            term: math.log(1 + len(self._passages) / (1 + len(self._having.get(term, ()))))
            for term in sorted({*ENGLISH.question_terms(sentence)})
        }
        total = math.fsum(weights.values())
        found: dict[int, list[float]] = defaultdict(list)
        numbers: Counter[int] = Counter()
        for term, weight in weights.items():
            for place in self._having.get(term, ()):
                found[place].append(weight)
                numbers[place] += term.isdigit()
        needed = sum(term.isdigit() for term in weights)
        saying = {
            self._passages[place].table_id
            for place, some in found.items()
            if numbers[place] == needed and total
            and round(math.fsum(some) / total, 6) >= _CONTAINED
        }  # fmt: skip
        return sorted(saying - {table_id})
