"""Ranking tables by everything that speaks for them: a weighted sum of signals a table.

Pneuma (section 5.1) fuses two sides over blocks; a table there is what its best block is. Here a
table is scored as a whole, its best block being one signal among others, because half of the
questions name something that stands in its rows, or in its name, and in none of its blocks.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, log

from pneuma_assets.core.config.query import Weights
from pneuma_assets.core.index.base import Hit, SideHits, TableScores
from pneuma_assets.core.relations.families import Family
from pneuma_assets.core.search.retrieve import weight

MEANING, WORDS, COVERAGE, PLACE, RARE = "meaning", "words", "coverage", "place", "rare"
"""The signals that are no field of a table's evidence."""

_SHARES = RARE, COVERAGE
"""Signals that are shares of the whole, which mean the same in every answer."""

MOST_TABLES = 1_000
"""Tables that are scored for one question, if it does not ask for more."""


@dataclass(frozen=True, slots=True)
class RankedTable:
    """A table in its place.

    Attributes:
        table_id: The table.
        score: The sum of `signals`, 0 to 1, and of `trust`.
        signals: What each signal contributes; those that contribute nothing are absent.
        scores: What the index says of it.
        tables: How many of the candidates say the text of its best block by meaning.
        trust: What it loses for being less trusted than others, 0 or less (`rerank.with_trust`).
        copies: Candidates that are copies of it, the best ones first (`fold.collapse_copies`).
        family: The family for which it stands (`fold.Families`); None if it is of none.
    """

    table_id: str
    score: float
    signals: Mapping[str, float]
    scores: TableScores
    tables: int = 1
    trust: float = 0.0
    copies: tuple[str, ...] = ()
    family: Family | None = None

    @property
    def found(self) -> float:
        """The score by the question alone: what the signals say."""
        return self.score - self.trust


def proposed_tables(side: SideHits, most: int = MOST_TABLES) -> list[str]:
    """Return up to `most` tables that an index proposes, the best ones of each signal first."""
    rankings = [
        [hit.block.table_id for hit in side.lexical],
        [hit.block.table_id for hit in side.semantic],
        *([hit.table_id for hit in hits] for hits in side.fields.values()),
        *side.holders.values(),
    ]
    places: dict[str, int] = {}
    for ranking in rankings:
        for place, table_id in enumerate(dict.fromkeys(ranking)):
            places[table_id] = min(place, places.get(table_id, place))
    return sorted(places, key=lambda table_id: (places[table_id], table_id))[:most]


def rank_tables(
    found: Mapping[str, TableScores], weights: Weights, side: SideHits, words: Collection[str] = ()
) -> list[RankedTable]:
    """Return the candidates, best first, equal ones by table id.

    Each signal but `RARE` and `COVERAGE`, which are shares, is scaled by its best value among the
    candidates, so that its worth does not depend on how rare words are in this lake; one that none
    has, such as the words of documents where there are none, counts for nothing. A text that
    several candidates say counts less, as in `retrieve.weight`, also where it is the best there is:
    what a folder's README says tells no table of it from the others.

    Args:
        found: The true scores of every candidate.
        weights: Of the signals.
        side: What the index proposed: blocks of which tables share a text.
        words: The question's, as the index compares them.
    """
    sharing = _sharing(found, side)
    rare = rarity(side)
    said = {
        table_id: one | ({RARE: rare[table_id]} if table_id in rare else {})
        for table_id, one in coverage(found, words).items()
    }
    raw = {
        table_id: _raw(scores, sharing, len(found)) | said[table_id]
        for table_id, scores in sorted(found.items())
    }
    given = {name: value for name, value in weights.model_dump().items() if value > 0}
    alone = [_raw(scores, {}, len(found)) | said[i] for i, scores in found.items()]
    best = {name: max((one.get(name, 0.0) for one in alone), default=0.0) for name in given}
    best |= {name: 1.0 for name in _SHARES if best.get(name, 0.0) > 0}
    wanted = {name: value for name, value in given.items() if best[name] > 0}
    total = sum(wanted.values()) or 1.0
    parts = {
        table_id: {
            name: wanted[name] / total * value / best[name]
            for name, value in one.items()
            if value > 0 and name in wanted
        }
        for table_id, one in raw.items()
    }
    ranked = [
        RankedTable(i, added(one), one, found[i], len(sharing.get(_text(found[i].semantic), (i,))))
        for i, one in parts.items()
    ]
    return sorted(ranked, key=lambda one: -one.score)


def added(parts: Mapping[str, float]) -> float:
    """Return what signals add up to, 0 to 1: rounding could lead beyond."""
    return min(1.0, sum(parts.values(), 0.0))


def _raw(
    scores: TableScores, sharing: Mapping[str | None, Iterable[str]], among: int
) -> dict[str, float]:
    """Return the values of one table's signals; negative cosines count as none."""
    raw: dict[str, float] = {str(field): score for field, score in scores.fields.items()}
    for name, hit in ((MEANING, scores.semantic), (WORDS, scores.lexical)):
        if hit is not None:
            tables = len(set(sharing.get(hit.block.text, ())))
            raw[name] = max(0.0, hit.score) * weight(max(1, tables), max(1, among))
    return raw


def rarity(side: SideHits) -> dict[str, float]:
    """Return what the rare words of the question that each table holds say for it, 0 to 1.

    BM25 adds up all words, so many common ones outweigh the one that a table alone has. Here a word
    that a table alone holds halves what is left of the doubt, one of three tables a third as well,
    whatever else the question says.
    """
    held: dict[str, float] = defaultdict(float)
    for tables in side.holders.values():
        for table_id in tables:
            held[table_id] += 1 / len(tables)
    return {table_id: 1 - 2**-one for table_id, one in held.items()}


def with_rare_words(
    ranked: Sequence[RankedTable], rare: Mapping[str, float], k: int
) -> list[RankedTable]:
    """Let tables that hold rare words stand among the first `k`, in up to half of the places.

    Others that the rest of the question speaks for keep their order, and the first places.

    Args:
        ranked: The best first.
        rare: What the rare words that a table holds say for it.
        k: How many are shown.
    """

    def says(one: RankedTable) -> float:
        members = () if one.family is None else one.family.members
        return max(rare.get(i, 0.0) for i in (one.table_id, *one.copies, *members))

    late = sorted(filter(says, ranked[k:]), key=says, reverse=True)[: k // 2]
    leaving = [one for one in reversed(ranked[:k]) if not says(one)][: len(late)]
    moved = {one.table_id for one in (*late, *leaving)}
    kept = [one for one in ranked[:k] if one.table_id not in moved]
    others = [one for one in ranked[k:] if one.table_id not in moved]
    return [*kept, *late[: len(leaving)], *reversed(leaving), *late[len(leaving) :], *others]


def _sharing(found: Mapping[str, TableScores], side: SideHits) -> dict[str | None, set[str]]:
    """Return which candidates say each text."""
    best = [hit for one in found.values() for hit in (one.semantic, one.lexical) if hit is not None]
    sharing: dict[str | None, set[str]] = {}
    for hit in (*best, *side.semantic, *side.lexical):
        if hit.block.table_id in found:
            sharing.setdefault(hit.block.text, set()).add(hit.block.table_id)
    return sharing


def _text(hit: Hit | None) -> str | None:
    return None if hit is None else hit.block.text


def coverage(
    found: Mapping[str, TableScores], words: Collection[str]
) -> dict[str, dict[str, float]]:
    """Return how much of the question the names of each candidate say, and those of its place.

    A word counts more the fewer of the candidates have it in a name, and as far as it is that name:
    `student` is the table of students more than `student_id`. A question that needs several tables
    says what each of them is called and has, and they lie in one schema: of two schemas with such a
    table the one is meant whose best two tables say more of the question together. (All tables of a
    schema would say more the more of them there are.) Where all candidates lie in one place there
    is nothing to tell.

    Args:
        found: The true scores of every candidate.
        words: The question's.

    Returns:
        `COVERAGE` and `PLACE`, from 0 to 1, by table id; what says nothing is absent.
    """
    having = Counter(word for one in found.values() for word in one.headers)
    worth = {word: log(1 + len(found) / max(1, having[word])) for word in words}
    whole = fsum(worth.values()) or 1.0
    said = {
        table_id: fsum(worth.get(word, 0.0) * share for word, share in one.headers.items()) / whole
        for table_id, one in found.items()
    }
    places: dict[str, list[str]] = defaultdict(list)
    for table_id in sorted(found):  # or which of two equal tables is the best one is chance
        places[place_of(table_id)].append(table_id)

    def by_two(tables: Sequence[str]) -> float:
        best = max(tables, key=lambda table_id: said[table_id])
        has = found[best].headers
        beyond = (
            fsum(
                worth.get(word, 0.0) * max(0.0, share - has.get(word, 0.0))
                for word, share in found[one].headers.items()
            )
            for one in tables
        )
        return said[best] + max(beyond) / whole

    by_place = {place: by_two(tables) for place, tables in places.items()}
    told = len(places) > 1
    return {
        table_id: {
            name: value
            for name, value in ((COVERAGE, one), (PLACE, told * by_place[place_of(table_id)]))
            if value > 0
        }
        for table_id, one in said.items()
    }


def place_of(table_id: str) -> str:
    """Return the schema or folder in which a table lies."""
    return table_id.rpartition("/")[0]
