"""Finds other tables that answer a context question (Pneuma, section 6.2.3).

The paper asks a model about every table's context of the same datasheet question. Here a model is
asked about those tables whose documents are nearest to the question, by meaning and by words:
about all would take 300 times 379 prompts. Copies of the table answer whatever it answers.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np

from pneuma_assets.core.relations.copies import KnownTable, find_copies
from pneuma_assets.core.relations.fingerprints import fingerprint_of
from pneuma_assets.core.terms.collect import collect_rows
from pneuma_assets.core.text.analysis import ENGLISH
from pneuma_bench.generator.contexts import Pair
from pneuma_bench.generator.pages import Pages
from pneuma_bench.sets import RetrievalSet

CONTAINED = 0.8
"""Of a sentence's words, weighed by how rare they are, the share from which on another table's
passage says the same."""
SHOWN = 3
"""Passages of another table that a model is shown."""


class Saying:
    """Which passages say what a sentence says, by their words."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages
        self._having: dict[str, list[int]] = defaultdict(list)
        for place, passage in enumerate(pages.passages):
            for term in {*ENGLISH.terms(passage.text)}:
                self._having[term].append(place)

    def shares(self, sentence: str) -> dict[str, float]:
        """Return by table how much of a sentence its best passage says, from 0 to 1.

        A passage without one of the sentence's numbers says nothing of it.
        """
        terms = {*ENGLISH.question_terms(sentence)}
        weights = {term: self._weight(term) for term in sorted(terms)}
        total = math.fsum(weights.values())
        found: dict[int, list[float]] = defaultdict(list)
        numbers: Counter[int] = Counter()
        for term, weight in weights.items():
            for place in self._having.get(term, ()):
                found[place].append(weight)
                numbers[place] += term.isdigit()
        needed = sum(term.isdigit() for term in terms)
        best: dict[str, float] = {}
        for place, some in found.items():
            if numbers[place] == needed and total:
                table_id = self._pages.passages[place].table_id
                best[table_id] = max(best.get(table_id, 0.0), round(math.fsum(some) / total, 6))
        return best

    def others(self, sentence: str, table_id: str) -> list[str]:
        """Return the other tables of which a passage says as much as a sentence of this one."""
        shares = sorted(self.shares(sentence).items())
        return [one for one, share in shares if one != table_id and share >= CONTAINED]

    def _weight(self, term: str) -> float:
        return math.log(1 + len(self._pages.passages) / (1 + len(self._having.get(term, ()))))


class Nearby:
    """Other tables that may answer a question, with the passages by which they would."""

    def __init__(self, pages: Pages, saying: Saying, most: int) -> None:
        self._pages, self._saying, self._most = pages, saying, most

    def candidates(self, question: str, pair: Pair) -> list[tuple[str, str]]:
        """Return ids of tables and what their documents say, half by meaning, half by words."""
        near = np.round(self._pages.vectors @ self._pages.asked(question), 4)
        by_meaning: dict[str, float] = {}
        for place, passage in enumerate(self._pages.passages):
            known = by_meaning.get(passage.table_id, -1.0)
            by_meaning[passage.table_id] = max(known, float(near[place]))
        by_words = self._saying.shares(question)
        half = -(-self._most // 2)
        found = dict.fromkeys(
            chain(_first(by_meaning, pair.table_id, half), _first(by_words, pair.table_id, half))
        )
        return [(one, self._told(one, near)) for one in found]

    def _told(self, table_id: str, near: np.ndarray) -> str:
        places = self._pages.of_table(table_id)
        best = sorted(places, key=lambda place: (-near[place], place))[:SHOWN]
        return " ".join(self._pages.passages[place].shown for place in sorted(best))


def copies_of(dataset: RetrievalSet) -> dict[str, tuple[str, ...]]:
    """Return by table the others that are copies of it, or of the same original."""
    known = []
    for table, rows in dataset.tables:
        gathered = collect_rows(rows, len(table.columns), 0)
        fingerprint = fingerprint_of(table, gathered.terms, gathered.sketch)
        known.append(KnownTable(table.table_id, fingerprint))
    originals = find_copies(known)
    alike: dict[str, list[str]] = defaultdict(list)
    for table, _ in dataset.tables:
        alike[originals.get(table.table_id, table.table_id)].append(table.table_id)
    return {
        one: tuple(other for other in some if other != one)
        for some in alike.values()
        if len(some) > 1
        for one in some
    }


def _first(weights: Mapping[str, float], but: str, most: int) -> Sequence[str]:
    others = [one for one in weights if one != but]
    return sorted(others, key=lambda one: (-weights[one], one))[:most]
