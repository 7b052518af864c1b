"""Makes questions about the tables of an index, each of which one table answers.

Of every table is known what the index keeps of it: no source is read again. Of a table with more
rows than these, a question may ask of some as if they were all; it is a question all the same.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, zip_longest
from random import Random
from secrets import token_hex
from typing import TypeVar

from pneuma_assets.core.errors import BenchmarkError
from pneuma_assets.core.evaluation.table_contents import (
    Known,
    folded,
    in_plain_words,
    known_tables,
    parts_of,
    words_in,
)
from pneuma_assets.core.index.base import SearchIndex
from pneuma_assets.core.progress import report
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.questions import MinedQuestion
from pneuma_assets.core.tables import DocumentKind
from pneuma_assets.core.text.analysis import ENGLISH_STOP_WORDS, QUESTION_STOP_WORDS
from pneuma_assets.core.text.safe import one_line
from pneuma_assets.core.text.sentences import sentence_ends

T = TypeVar("T")

LONGEST = 300
"""Characters of a question."""
TABLES = 4
"""Tables that are asked about for each question that is wanted, where there are so many."""
CANDIDATES = 4
"""Questions of a kind that are made for each that is wanted: others answer some of them, too."""
ATTEMPTS = 5
"""Times a table is asked about in one way."""


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A question that a table answers, and what it needs for that; others may have it, too."""

    kind: str
    table_id: str
    question: str
    needs: frozenset[str]


def mined_questions(
    store: Store, index: SearchIndex, count: int, seed: int = 0
) -> list[MinedQuestion]:
    """Make up to `count` questions about the tables of an index, of four kinds in equal parts.

    Where a kind has fewer, the others have more. Tables are drawn evenly over sources and folders;
    the same index and seed give the same questions, with other ids.

    Raises:
        BenchmarkError: Nothing is indexed, or nothing of it can be asked about.
    """
    table_ids = sorted({*index.list_tables()} & {*store.tables.indexed()})
    drawn = spread(table_ids, Random(seed))[: TABLES * count]  # noqa: S311
    versions = store.questions.versions(drawn)  # before anything is read of them
    asked = [_with_texts(store, known) for known in known_tables(store, index, drawn)]
    made = {kind: _candidates(kind, asked, count, seed) for kind in KINDS}
    alone = _answered_by_one(store, index, table_ids, [*chain.from_iterable(made.values())])
    chosen = [*islice(_in_turns(_evenly(some, alone) for some in made.values()), count)]
    if not chosen:
        raise BenchmarkError(
            f"nothing can be asked about {len(table_ids):,} indexed tables; index some with named "
            "columns and rows, by: pneuma-assets index"
        )
    return [
        MinedQuestion(
            token_hex(6),  # no hash of the text: it would confirm a guess about what is in it
            one.kind,
            one.table_id,
            one.question,
            {"needs": sorted(one.needs)},
            versions.get(one.table_id),
        )
        for one in chosen
    ]


def spread(table_ids: Sequence[str], chance: Random) -> list[str]:
    """Return the tables in an order that takes each source and folder in turn."""
    groups: dict[str, list[str]] = defaultdict(list)
    for table_id in table_ids:
        groups[table_id.rpartition("/")[0]].append(table_id)
    shuffled = [chance.sample(some, len(some)) for _, some in sorted(groups.items())]
    chance.shuffle(shuffled)
    return list(_in_turns(shuffled))


def _with_texts(store: Store, known: Known) -> Known:
    described = store.narrations.of_tables([known.table_id])[known.table_id]
    sampled = store.documents.of_kind(DocumentKind.ROWS, [known.table_id])
    return replace(
        known,
        described={name: one.text for name, one in described.items()},
        sampled=sampled.get(known.table_id, ()),
    )


def _candidates(kind: str, asked: Sequence[Known], count: int, seed: int) -> list[Candidate]:
    """Ask about each table in turn until there are enough, or nothing new comes."""
    wanted = CANDIDATES * -(-count // len(KINDS))
    begin = [*KINDS].index(kind) * len(asked) // len(KINDS)  # each kind begins elsewhere
    turns = [*asked[begin:], *asked[:begin]]
    found: dict[str, Candidate] = {}
    for attempt in range(ATTEMPTS):
        for one in turns:
            chance = Random(f"{seed} {kind} {one.table_id} {attempt}")  # noqa: S311
            made = KINDS[kind](one, chance)
            if made is not None and len(made[0]) <= LONGEST:
                found.setdefault(made[0].casefold(), Candidate(kind, one.table_id, *made))
        report(f"making questions ({kind})", min(len(found), wanted), wanted)
        if len(found) >= wanted:
            break
    return list(found.values())


def _answered_by_one(
    store: Store, index: SearchIndex, table_ids: Sequence[str], made: Sequence[Candidate]
) -> set[Candidate]:
    """Return the questions that no other table answers: what they need is looked for in all."""
    left = {id(one): one for one in made}
    for number, known in enumerate(known_tables(store, index, table_ids), start=1):
        for key, one in list(left.items()):
            if (one.table_id == known.table_id) is not known.has(one.needs):
                del left[key]
        if number % 100 == 0 or number == len(table_ids):
            report("looking for other tables that answer", number, len(table_ids))
    return set(left.values())


def _evenly(made: Sequence[Candidate], alone: set[Candidate]) -> Iterator[Candidate]:
    """Yield questions that one table answers, one about each table before another about any."""
    by_table: dict[str, list[Candidate]] = defaultdict(list)
    for one in made:
        if one in alone:
            by_table[one.table_id].append(one)
    return _in_turns(by_table.values())


def _in_turns(groups: Iterable[Iterable[T]]) -> Iterator[T]:
    """Yield one of each group in turn, of those that have any left."""
    return (one for turn in zip_longest(*groups) for one in turn if one is not None)


MOST_WORDS = 8
"""Words of a description that a question repeats, or of a sentence."""
_FEWEST_WORDS = 4
"""Words that a sentence must leave, to be told from others."""
_SHORTEST, _LONGEST_CELL, _CELL_WORDS = 3, 40, 6
"""Characters and words of a cell that a person would type."""
_COLUMNS = (2, 3)
_SLIPPED = 6
"""Letters of a name from which on a slip leaves it recognisable."""

_ARTICLE = re.compile(r"^(?:the|an?)\s+", re.IGNORECASE)
_CLAUSE = re.compile(r"[.;:(\[\n]")
_TOLD = re.compile(r"[^\W\d_]{3,}")
"""A word that says something: three letters."""
_WORD = re.compile(r"\w+(?:['\u2019-]\w+)*")


Question = tuple[str, frozenset[str]]
"""A text, and the words and cells, folded, that a table must have to answer it."""


def about_name(known: Known, chance: Random) -> Question | None:
    """Ask for a table by its own name: in words, abbreviations spelt out, or typed with a slip."""
    name = known.names[-1] if known.names else ""
    words = in_plain_words(name)
    if not _TOLD.search(words):
        return None
    slipped = len(name) >= _SLIPPED
    text = one_line(_with_slip(name, chance)) if slipped else f"What is there about {words}?"
    return text, parts_of([name]) - ENGLISH_STOP_WORDS


def about_columns(known: Known, chance: Random) -> Question | None:
    """Ask for a table by two or three of its columns, as people call or describe them."""
    called = {name: _called(name, known.described.get(name, "")) for name in known.columns}
    usable = [name for name, said in called.items() if _TOLD.search(said)]
    if len(usable) < _COLUMNS[0]:
        return None
    chosen = chance.sample(usable, min(chance.choice(_COLUMNS), len(usable)))
    *first, last = (called[name] for name in chosen)
    return f"What are the {', the '.join(first)} and the {last}?", parts_of(chosen)


def about_values(known: Known, chance: Random) -> Question | None:
    """Ask for a table by two cells of one row, or one: texts before numbers, rare before common.

    Words that its sampled rows, its columns or documents say are left out, as its names are of a
    sentence: so such a question tells whether what every row says is found.
    """
    if not known.rows:
        return None
    row = chance.choice(known.rows)
    said = known.words | words_in(" ".join([*known.sampled, *known.described.values()]))
    cells = list(dict.fromkeys(cell.strip() for cell in row if cell and _is_typed(cell)))
    cells = [cell for cell in cells if words_in(cell).isdisjoint(said)]
    chance.shuffle(cells)
    often = Counter(cell.strip() for one in known.rows for cell in set(one) if cell)
    chosen = sorted(cells, key=lambda cell: (not _TOLD.search(cell), often[cell]))[:2]
    if not chosen or not _TOLD.search(chosen[0]):
        return None
    return f"Where is {' with '.join(map(one_line, chosen))}?", frozenset(map(folded, chosen))


def about_context(known: Known, chance: Random) -> Question | None:
    """Ask for a table by a sentence that people wrote about it, without its names and small words.

    Words of the table's names would find it by these.
    """
    sentences = _sentences(known.texts)
    if not sentences:
        return None
    small = ENGLISH_STOP_WORDS | QUESTION_STOP_WORDS | known.name_words
    said = dict.fromkeys(one.casefold() for one in _WORD.findall(chance.choice(sentences)))
    words = [one for one in said if _TOLD.search(one) and not words_in(one) <= small]
    if len(words) < _FEWEST_WORDS:
        return None
    chosen = " ".join(words[:MOST_WORDS])
    return f"What is there about {chosen}?", words_in(chosen)


VALUE = "value"
"""The kind that asks for cells."""
KINDS: Mapping[str, Callable[[Known, Random], Question | None]] = {
    "name": about_name,
    "columns": about_columns,
    VALUE: about_values,
    "context": about_context,
}
"""What makes a question of each kind; None where a table gives none."""


def _called(name: str, described: str) -> str:
    """Return the first clause of what is said of a column if it is short, else its name's words.

    It follows "the", so an article that it begins with is left out.
    """
    clause = one_line(_CLAUSE.split(described, maxsplit=1)[0]).strip(" ,")
    clause = _ARTICLE.sub("", clause)
    if not clause or len(clause.split()) > MOST_WORDS or clause.endswith("…"):
        return in_plain_words(name)
    starts_a_word = len(clause) > 1 and clause[0].isupper() and clause[1].islower()
    return clause[0].lower() + clause[1:] if starts_a_word else clause


def _with_slip(name: str, chance: Random) -> str:
    """Return a name with a letter left out, doubled, or exchanged with the next."""
    at = chance.randrange(1, len(name) - 1)
    letter, following = name[at], name[at + 1]
    slip = chance.choice(["", letter * 2, following + letter])
    return name[:at] + slip + name[at + (2 if slip == following + letter else 1) :]


def _is_typed(cell: str) -> bool:
    """Tell whether a person would type such a cell."""
    text = cell.strip()
    plain = text.isprintable() and any(map(str.isalnum, text))
    return plain and _SHORTEST <= len(text) <= _LONGEST_CELL and len(text.split()) <= _CELL_WORDS


def _sentences(texts: Sequence[str]) -> list[str]:
    found = []
    for text in texts:
        for paragraph in re.split(r"\n\s*\n", text):
            flat, start = " ".join(paragraph.split()), 0
            for end in sentence_ends(flat):
                found.append(flat[start:end])
                start = end
    return found
