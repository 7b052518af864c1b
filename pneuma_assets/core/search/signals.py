"""Ranking tables by everything that speaks for them: a weighted sum of signals a table.

Pneuma (section 5.1) fuses two sides over blocks; a table there is what its best block is. Here a
table is scored as a whole, its best block being one signal among others, because half of the
questions name something that stands in its rows, or in its name, and in none of its blocks.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import fsum, log, log1p
from urllib.parse import unquote

from pneuma_assets.core.config.query import Weights
from pneuma_assets.core.index.base import REACHED, Hit, SideHits, TableScores
from pneuma_assets.core.relations.families import Family
from pneuma_assets.core.search.retrieve import weight
from pneuma_assets.core.tables import TableFacts
from pneuma_assets.core.terms.fields import Field, name_parts
from pneuma_assets.core.terms.split_names import part_off, parted, without_prefix
from pneuma_assets.core.text.analysis import ENGLISH, Analyzer

MEANING, WORDS, COVERAGE, PLACE, RARE = "meaning", "words", "coverage", "place", "rare"
OWN = "own"
"""The signals that are no field of a table's evidence."""

_FEW_COLUMNS = 64
"""From about as many columns on, a word in one of their names says less of the table."""

_NOTHING = TableFacts()
NO_FACTS: Mapping[str, TableFacts] = {}

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
        prefix: What its name is glued to.
    """

    table_id: str
    score: float
    signals: Mapping[str, float]
    scores: TableScores
    tables: int = 1
    trust: float = 0.0
    copies: tuple[str, ...] = ()
    family: Family | None = None
    prefix: str = ""

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
    found: Mapping[str, TableScores],
    weights: Weights,
    side: SideHits,
    words: Collection[str] = (),
    analyzer: Analyzer = ENGLISH,
    facts: Mapping[str, TableFacts] = NO_FACTS,
) -> list[RankedTable]:
    """Return the candidates, best first, equal ones by table id.

    Each signal is a share from 0 to 1 of what the question could reach: a cosine, the BM25 of a
    text beside that of one with all words of the question (`SideHits.reach`), a share of its words
    or of a name's. So the best of bad matches is a bad match, and a score means the same for every
    question. A text that several candidates say counts less, as in `retrieve.weight`: what a
    folder's README says tells no table of it from the others.

    Args:
        found: The true scores of every candidate.
        weights: Of the signals.
        side: What the index proposed: blocks of which tables share a text.
        words: The question's, as the index compares them.
        analyzer: The index's.
        facts: What is known of the tables: what their names are glued to.
    """
    sharing = _sharing(found, side)
    rare, said = rarity(side), coverage(found, words)
    given = {name: value for name, value in weights.model_dump().items() if value > 0}
    total = fsum(given.values()) or 1.0
    ranked = []
    for table_id, scores in sorted(found.items()):
        shares = _shares(scores, sharing, side, len(found)) | said[table_id]
        prefix = facts.get(table_id, _NOTHING).prefix
        own = _own_words(table_id, prefix, analyzer)
        shares[OWN] = sum(word in scores.headers for word in own) / max(1, len(own))
        shares[RARE] = rare.get(table_id, 0.0)
        parts = {n: given[n] / total * min(1.0, v) for n, v in shares.items() if v and n in given}
        tables = len(sharing.get(_text(scores.semantic), (table_id,)))
        one = RankedTable(table_id, added(parts), parts, scores, tables, prefix=prefix)
        ranked.append(one)
    return sorted(ranked, key=lambda one: -one.score)


@lru_cache(maxsize=65_536)
def _own_words(table_id: str, prefix: str, analyzer: Analyzer) -> frozenset[str]:
    """Return the words of a table's own name, but for what its schema's names are glued to."""
    parts = part_off(name_parts(unquote(table_id.rpartition("/")[2], errors="replace")), prefix)
    parts = without_prefix(parts, prefix) if prefix and parts[0] == prefix else parts
    return frozenset(analyzer.terms(" ".join(word for part in parts for word in parted(part))))


def added(parts: Mapping[str, float]) -> float:
    """Return what signals add up to, 0 to 1: rounding could lead beyond."""
    return min(1.0, sum(parts.values(), 0.0))


def _shares(
    scores: TableScores, sharing: Mapping[str | None, Iterable[str]], side: SideHits, among: int
) -> dict[str, float]:
    """Return the shares of one table's signals; negative cosines count as none.

    What its rows say is told by the best one of those that are kept, or by all of its cells.
    """
    words, names, values = (side.reach.get(of) or 1.0 for of in REACHED)
    fields = scores.fields
    rows = max(fields.get(Field.ROWS, 0.0), fields.get(Field.VALUES, 0.0))
    found = {
        str(Field.NAMES): fields.get(Field.NAMES, 0.0) / names,
        str(Field.ROWS): rows / values,
        str(Field.CELLS): fields.get(Field.CELLS, 0.0) / values,
    }
    for name, hit, most in ((MEANING, scores.semantic, 1.0), (WORDS, scores.lexical, words)):
        if hit is not None:
            tables = len(set(sharing.get(hit.block.text, ())))
            kept = weight(max(1, tables), max(1, among))
            found[name] = max(0.0, hit.score) / most * kept
    return found


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
    `student` is the table of students more than `student_id`; of a table of hundreds of columns it
    counts less, as they say nearly every word. A question that needs several tables says what each
    of them is called and has, and they lie in one schema: of two schemas with such a table the one
    is meant whose best two tables say more of the question together. (All tables of a schema would
    say more the more of them there are.) Where all candidates lie in one place there is nothing to
    tell.

    Args:
        found: The true scores of every candidate.
        words: The question's.

    Returns:
        `COVERAGE` and `PLACE`, from 0 to 1, by table id; what says nothing is absent.
    """
    having = Counter(word for one in found.values() for word in one.headers)
    worth = {word: log(1 + len(found) / max(1, having[word])) for word in words}
    whole = fsum(worth.values()) or 1.0
    headers = {
        table_id: {w: share * _of_width(one.columns) for w, share in one.headers.items()}
        for table_id, one in found.items()
    }
    said = {
        table_id: fsum(worth.get(word, 0.0) * share for word, share in one.items()) / whole
        for table_id, one in headers.items()
    }
    places: dict[str, list[str]] = defaultdict(list)
    for table_id in sorted(found):  # or which of two equal tables is the best one is chance
        places[place_of(table_id)].append(table_id)

    def by_two(tables: Sequence[str]) -> float:
        best = max(tables, key=lambda table_id: said[table_id])
        has = headers[best]
        beyond = (
            fsum(
                worth.get(word, 0.0) * max(0.0, share - has.get(word, 0.0))
                for word, share in headers[one].items()
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


def _of_width(columns: int) -> float:
    """Return what the words of a name count in a table of so many columns, from 1 down."""
    return 1 / (1 + log1p(columns / _FEW_COLUMNS))


def place_of(table_id: str) -> str:
    """Return the schema or folder in which a table lies."""
    return table_id.rpartition("/")[0]
