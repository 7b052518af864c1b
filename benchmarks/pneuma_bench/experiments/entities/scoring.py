"""Tables scored by what a question mentions (Octopus, section 4.2, equations 3 to 9)."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import log

from pneuma_assets.core.search.mentions import LONGEST_RUN, HeaderMatcher, Match
from pneuma_assets.core.terms.fields import header_of, name_parts
from pneuma_assets.core.text.analysis import QUESTION_STOP_WORDS


@dataclass(frozen=True, slots=True)
class EntityScore:
    """How well one table matches what a question mentions.

    Attributes:
        columns: S_col, what its columns add (equation 5).
        values: S_val, what its cells add (equation 7).
        total: S, both (equation 9).
        best: Of each mention that a column of it matches, by its number, that column.
    """

    columns: float
    values: float
    total: float
    best: Mapping[int, str] = field(default_factory=dict)


def looked_up_columns(
    matcher: HeaderMatcher, question: str, tables: Mapping[str, Sequence[str]]
) -> dict[str, dict[str, Match]]:
    """Return what of a question names columns of tables, and the headers that each matches (M_i).

    Of its runs of words, the longest that is as near in meaning to a header as a match must be,
    each word in one of them; of the other words, each that matches a header by itself.

    Args:
        matcher: Of the deployment's encoder.
        question: In plain language.
        tables: The columns of each table.

    Raises:
        ModelError: The encoder cannot be loaded.
    """
    runs = _runs(question)
    taken: set[int] = set()
    named: dict[str, dict[str, Match]] = {}
    matches = matcher.matches(list(runs.values()), tables)
    for (places, text), found in zip(runs.items(), matches, strict=True):
        nearest = max((match.cosine for match in found.values()), default=-1.0)
        whole = nearest >= matcher.least or (found and len(places) == 1)
        if whole and taken.isdisjoint(places):
            taken.update(places)
            named[text] = found
    return named


def _runs(question: str) -> dict[range, str]:
    """Return the runs of `word_mentions` by the places of their words, longer ones first."""
    words = name_parts(question)
    return {
        range(start, start + length): " ".join(words[start : start + length])
        for length in range(LONGEST_RUN, 0, -1)
        for start in range(len(words) - length + 1)
        if QUESTION_STOP_WORDS.isdisjoint((words[start], words[start + length - 1]))
    }


def best_columns(
    found: Sequence[Mapping[str, Match]], columns: Sequence[str]
) -> dict[int, tuple[str, Match]]:
    """Return of each mention that a column of one table matches the best one (equation 3).

    Mentions are told by their number. Of columns that match alike, the one nearest in meaning is
    taken, then the first.
    """
    chosen: dict[int, tuple[str, Match]] = {}
    for number, one in enumerate(found):
        matching = [(name, one[header]) for name in columns if (header := header_of(name)) in one]
        if matching:
            chosen[number] = max(matching, key=lambda pair: pair[1])
    return chosen


def rarity(having: int, among: int) -> float:
    """Return how telling it is that so many of some tables have something (equations 4 and 6)."""
    return log(among / having)


def score_tables(
    found: Sequence[Mapping[str, Match]],
    tables: Mapping[str, Sequence[str]],
    held: Mapping[str, Iterable[str]],
) -> dict[str, EntityScore]:
    """Return the scores of the tables that have anything a question mentions (equations 3 to 9).

    Where no column is mentioned, values count once: by the letter of equation 9 they would count
    nothing, against what it is for.

    Args:
        found: What `matches` gave of each mention of a column.
        tables: The columns of all tables there are; among these, a column or value is rare.
        held: Of each mention of a value, the tables that have it (T_v); others than `tables` do
            not count.
    """
    spread = Counter(
        header for columns in tables.values() for header in set(map(header_of, columns))
    )
    values = _value_scores(tables, held)
    weight = max(1, len(found))
    scores: dict[str, EntityScore] = {}
    for table_id, columns in tables.items():
        chosen = best_columns(found, columns)
        if not chosen and table_id not in values:
            continue
        of_columns = sum(
            match.score * rarity(spread[header_of(name)], len(tables))
            for name, match in chosen.values()
        )
        of_values = values.get(table_id, 0.0)
        best = {number: name for number, (name, _) in chosen.items()}
        total = of_columns + weight * of_values
        scores[table_id] = EntityScore(of_columns, of_values, total, best)
    return scores


def _value_scores(
    tables: Mapping[str, Sequence[str]], held: Mapping[str, Iterable[str]]
) -> dict[str, float]:
    """Return S_val of the tables that have any value (equation 7)."""
    scores: dict[str, float] = {}
    for having in held.values():
        counted = {table_id for table_id in having if table_id in tables}
        for table_id in counted:
            scores[table_id] = scores.get(table_id, 0.0) + rarity(len(counted), len(tables))
    return scores
