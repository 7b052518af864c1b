"""Finds other tables that answer a context question (Pneuma, section 6.2.3).

The paper asks a model about every table's context of the same datasheet question. Here another
table answers if a passage of its documents says the same by its words; copies of the table answer
whatever it answers.
"""

import math
from collections import Counter, defaultdict

from pneuma_assets.core.relations.copies import KnownTable, find_copies
from pneuma_assets.core.relations.fingerprints import fingerprint_of
from pneuma_assets.core.terms.collect import collect_rows
from pneuma_assets.core.text.analysis import ENGLISH
from pneuma_bench.generator.pages import Pages
from pneuma_bench.sets import RetrievalSet

CONTAINED = 0.8
"""Of a sentence's words, weighed by how rare they are, the share from which on another table's
passage says the same."""


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
