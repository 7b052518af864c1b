"""Makes questions about the tables of an index, each of which one table answers.

Of every table is known what the index keeps of it: no source is read again. Of a table with more
rows than these, a question may ask of some as if they were all; it is a question all the same.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, zip_longest
from random import Random
from secrets import token_hex
from typing import TypeVar

from pneuma_assets.core.errors import BenchmarkError
from pneuma_assets.core.index.base import SearchIndex
from pneuma_assets.core.measure.kinds import KINDS
from pneuma_assets.core.measure.known import Known, known_tables
from pneuma_assets.core.progress import report
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.questions import MinedQuestion
from pneuma_assets.core.tables import DocumentKind

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
    """Make questions about the tables of an index, of four kinds in equal parts.

    Where a kind has fewer, the others have more. Tables are drawn evenly over sources and folders;
    the same index and seed give the same questions, with other ids.

    Args:
        store: What was read and said of the tables.
        index: What is known of their rows.
        count: How many questions, at most.
        seed: Decides which.

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
    described = store.narrations.of_table(known.table_id)
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
