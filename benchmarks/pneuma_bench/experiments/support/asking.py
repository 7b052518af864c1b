"""Questions asked of a set's index: all that ranking looks at, before anything is weighed."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pneuma_assets.core.config.query import QueryOptions, Weights
from pneuma_assets.core.grouping import chunks
from pneuma_assets.core.index.base import NO_FILTER, IndexQuery, SideHits, TableScores
from pneuma_assets.core.search.crowding import spread
from pneuma_assets.core.search.retrieve import retrieve_candidates
from pneuma_assets.core.search.signals import RankedTable, proposed_tables, rank_tables
from pneuma_assets.core.search.table_search import SILENT
from pneuma_assets.core.tables import TableFacts
from pneuma_assets.core.terms.rare_words import sought_words
from pneuma_bench.lab import Lab


@dataclass(frozen=True)
class Candidates:
    """What the index says of the tables that it proposes for a question."""

    found: Mapping[str, TableScores]
    side: SideHits
    words: Collection[str]
    facts: Mapping[str, TableFacts]

    def ranked(self, weights: Weights, gone: Collection[str] = ()) -> list[RankedTable]:
        """Return the tables by all signals, as if some were not there.

        As `search` does before copies and families are folded, trust counts and it completes them.
        """
        left = {i: one for i, one in self.found.items() if i not in gone}
        return rank_tables(left, weights, self.side, self.words, facts=self.facts)


def candidates_of(lab: Lab, texts: Sequence[str]) -> Iterator[Candidates]:
    """Index the lab's set and ask questions of it, as the product does by default."""
    index, query, encoder = lab.index()[0], QueryOptions(), lab.encoder()
    analyzer = index.analyzer
    for some in chunks(texts, 50):
        queries = [
            IndexQuery(text, vector, text, SILENT, sought_words(text, analyzer))
            for text, vector in zip(some, encoder.encode_queries(some), strict=True)
        ]
        proposed = retrieve_candidates(index, queries, query.k, query.n, NO_FILTER)
        proposals = spread(index, queries, proposed, query.k, NO_FILTER)
        scores = index.table_scores(queries, [proposed_tables(one.side) for one in proposals])
        for text, one, found in zip(some, proposals, scores, strict=True):
            words = dict.fromkeys(analyzer.question_terms(text))
            yield Candidates(found, one.side, words, index.facts([*found]))
