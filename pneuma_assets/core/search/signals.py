"""Ranking tables by everything that speaks for them: a weighted sum of signals a table.

Pneuma (section 5.1) fuses two sides over blocks; a table there is what its best block is. Here a
table is scored as a whole, its best block being one signal among others, because half of the
questions name something that stands in its rows, or in its name, and in none of its blocks.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pneuma_assets.core.config.query import Weights
from pneuma_assets.core.index.base import Hit, SideHits, TableScores
from pneuma_assets.core.search.retrieve import weight

MEANING, WORDS, NEIGHBOURS = "meaning", "words", "neighbours"
"""The signals that are no field of a table's evidence."""

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
        copies: Candidates that are copies of it, the best ones first (`rerank.collapse_copies`).
    """

    table_id: str
    score: float
    signals: Mapping[str, float]
    scores: TableScores
    tables: int = 1
    trust: float = 0.0
    copies: tuple[str, ...] = ()

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
    ]
    places: dict[str, int] = {}
    for ranking in rankings:
        for place, table_id in enumerate(dict.fromkeys(ranking)):
            places[table_id] = min(place, places.get(table_id, place))
    return sorted(places, key=lambda table_id: (places[table_id], table_id))[:most]


def rank_tables(
    found: Mapping[str, TableScores], weights: Weights, side: SideHits
) -> list[RankedTable]:
    """Return the candidates, best first, equal ones by table id.

    Each signal is scaled by its best value among the candidates, so that its worth does not depend
    on how rare words are in this lake; one that none has, such as the words of documents where
    there are none, counts for nothing. A text that several candidates say counts less, as in
    `retrieve.weight`, also where it is the best there is: what a folder's README says tells no
    table of it from the others.

    Args:
        found: The true scores of every candidate.
        weights: Of the signals.
        side: What the index proposed: blocks of which tables share a text.
    """
    sharing = _sharing(found, side)
    raw = {
        table_id: _raw(scores, sharing, len(found)) for table_id, scores in sorted(found.items())
    }
    given = {name: value for name, value in weights.model_dump().items() if value > 0}
    alone = [_raw(scores, {}, len(found)) for scores in found.values()]
    best = {name: max((one.get(name, 0.0) for one in alone), default=0.0) for name in given}
    wanted = {name: value for name, value in given.items() if best[name] > 0 or name == NEIGHBOURS}
    total = sum(wanted.values()) or 1.0
    parts = {
        table_id: {
            name: wanted[name] / total * value / best[name]
            for name, value in one.items()
            if value > 0 and name in wanted
        }
        for table_id, one in raw.items()
    }
    _add_neighbours(parts, wanted.get(NEIGHBOURS, 0.0) / total)
    ranked = [
        RankedTable(i, added(one), one, found[i], len(sharing.get(_text(found[i].semantic), (i,))))
        for i, one in parts.items()
    ]
    return sorted(ranked, key=lambda one: -one.score)


def added(parts: Mapping[str, float]) -> float:
    """Return what signals add up to, 0 to 1: rounding could lead beyond."""
    return min(1.0, sum(parts.values()))


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


def _add_neighbours(parts: dict[str, dict[str, float]], share: float) -> None:
    """Let the best table of a schema or folder speak for those beside it.

    Questions that need several tables name one of them, and the others lie beside it. Where all
    candidates lie in one place there is nothing to tell.
    """
    places = {table_id: table_id.rpartition("/")[0] for table_id in parts}
    best: dict[str, float] = {}
    for table_id, one in parts.items():
        place = places[table_id]
        best[place] = max(best.get(place, 0.0), sum(one.values()))
    highest = max(best.values(), default=0.0)
    if share <= 0 or len(best) < 2 or highest <= 0:
        return
    for table_id, one in parts.items():
        one[NEIGHBOURS] = share * best[places[table_id]] / highest
