"""Makes questions about the tables of an index, each of which one table answers.

Of every table is known what the index keeps of it: no source is read again. Of a table with more
rows than these, a question may ask of some as if they were all; it is a question all the same.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain, zip_longest
from random import Random
from secrets import token_hex

from pneuma_assets.core.errors import BenchmarkError
from pneuma_assets.core.index.base import SearchIndex
from pneuma_assets.core.measure.mine.candidates import Asking, Candidate
from pneuma_assets.core.measure.mine.kinds import KINDS
from pneuma_assets.core.measure.mine.traits import Known, known_tables
from pneuma_assets.core.progress import report
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.mined import MinedQuestion
from pneuma_assets.core.tables import DocumentKind

TABLES = 4
"""Tables that are asked about for each question that is wanted, where there are so many."""
CANDIDATES = 4
"""Questions of a kind that are made for each that is wanted: others answer some of them, too."""
ATTEMPTS = 5
"""Times a table is asked about in one way."""


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
    versions = store.mined.versions(drawn)  # before anything is read of them
    asked = [_asking(store, known) for known in known_tables(store, index, drawn)]
    made = {kind: _candidates(kind, asked, count, seed) for kind in KINDS}
    alone = _answered_by_one(store, index, table_ids, [*chain.from_iterable(made.values())])
    chosen = _shared_out([_evenly(made[kind], alone) for kind in KINDS], count)
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
            {**one.made, "needs": one.needs.to_dict()},
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
    turns = zip_longest(*shuffled)
    return [table_id for turn in turns for table_id in turn if table_id is not None]


def _asking(store: Store, known: Known) -> Asking:
    described = store.narrations.of_table(known.table_id)
    sampled = store.documents.of_kind(DocumentKind.ROWS, [known.table_id])
    said = {name: one.text for name, one in described.items()}
    return Asking.of(known, said, sampled.get(known.table_id, ()))


def _candidates(kind: str, asked: Sequence[Asking], count: int, seed: int) -> list[Candidate]:
    """Ask about each table in turn until there are enough, or nothing new comes."""
    wanted = CANDIDATES * -(-count // len(KINDS))
    begin = [*KINDS].index(kind) * len(asked) // len(KINDS)  # each kind begins elsewhere
    turns = [*asked[begin:], *asked[:begin]]
    found: dict[str, Candidate] = {}
    for attempt in range(ATTEMPTS):
        for one in turns:
            chance = Random(f"{seed} {kind} {one.known.table_id} {attempt}")  # noqa: S311
            made = KINDS[kind](one, chance)
            if made is not None:
                found.setdefault(made.question.casefold(), made)
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
        there = known.traits()
        for key, one in list(left.items()):
            if (one.table_id == known.table_id) is not one.needs.among(there):
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
    for turn in zip_longest(*by_table.values()):
        yield from (one for one in turn if one is not None)


def _shared_out(kinds: Sequence[Iterator[Candidate]], count: int) -> list[Candidate]:
    """Take one of each kind in turn, of those that have any left."""
    chosen: list[Candidate] = []
    left = list(kinds)
    while left and len(chosen) < count:
        for one in list(left):
            found = next(one, None)
            if found is None:
                left.remove(one)
            elif len(chosen) < count:
                chosen.append(found)
    return chosen
