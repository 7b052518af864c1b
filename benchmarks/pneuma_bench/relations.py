"""Which tables of a set are copies, families or joined, found as an index run finds them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from heapq import nsmallest
from typing import NamedTuple

from pneuma_assets.core.index.base import SearchIndex
from pneuma_assets.core.pipeline.relate import ValueOverlap
from pneuma_assets.core.pipeline.sample import SEED
from pneuma_assets.core.relations.copies import KnownTable, find_copies_and_families
from pneuma_assets.core.relations.fingerprints import fingerprint_of
from pneuma_assets.core.relations.infer_joins import infer_joins
from pneuma_assets.core.relations.join_column_facts import JoinColumn, join_columns
from pneuma_assets.core.relations.join_graph import JoinEdge, JoinGraph
from pneuma_assets.core.relations.shared_domains import shared_domains
from pneuma_assets.core.store.access import share_described
from pneuma_assets.core.tables import MOST_JOINS, TableFacts
from pneuma_assets.core.terms.collect import collect_rows
from pneuma_assets.core.terms.split_names import name_prefixes
from pneuma_bench.retrieval import Narrations
from pneuma_bench.sets import RetrievalSet


class Relations(NamedTuple):
    """What an index is told of each table, and all joins."""

    facts: Mapping[str, TableFacts]
    joins: Sequence[JoinEdge]

    def joins_of(self, table_ids: Collection[str]) -> list[JoinEdge]:
        """Return the joins of some tables with any, as `QueryEngine` asks for them."""
        wanted = {*table_ids}
        return [edge for edge in self.joins if not wanted.isdisjoint(edge.tables)]


def relate(dataset: RetrievalSet, index: SearchIndex, written: Narrations) -> Relations:
    """Return the copies, families and joins of a set's tables; hidden names relate none.

    Joins that the set declares stand beside those that names, types and cells suggest.

    Args:
        dataset: The set.
        index: Holds its tables.
        written: What documents say of columns.
    """
    facts = dict[str, TableFacts]()
    known, lake = list[KnownTable](), dict[str, list[JoinColumn]]()
    for table, rows in dataset.tables:
        i, columns = table.table_id, table.columns
        facts[i] = TableFacts(documented=share_described(len(written.get(i, ())), len(columns)))
        if i in dataset.names:
            found = collect_rows(rows, len(columns), SEED)
            fingerprint = fingerprint_of(table, found.terms, found.sketch)
            known.append(KnownTable(i, fingerprint, facts[i]))
            lake[i] = [*join_columns(i, columns, len(rows), found.sketch)]
    copies, families = find_copies_and_families(known)
    prefixes = name_prefixes(dataset.names)
    cells = ValueOverlap(index)
    inferred = infer_joins(lake | cells.whole(lake), cells.share)
    domains = shared_domains(lake, inferred)
    joins = [*{one.on: one for one in (*domains, *inferred, *dataset.joins)}.values()]
    graph = JoinGraph(joins)
    for i, of in facts.items():
        joined = tuple(nsmallest(MOST_JOINS, graph.neighbours(i)))
        related = replace(of, copy_of=copies.get(i), family=families.get(i), joins=joined)
        facts[i] = replace(related, prefix=prefixes.get(i, ""))
    return Relations(facts, joins)
