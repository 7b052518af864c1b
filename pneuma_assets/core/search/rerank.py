"""Tables in their places: scored by all signals, by how far they are trusted, copies as one result.

Evidence that does not depend on the question is added to a score in a form that saturates
(Craswell, Robertson, Zaragoza and Taylor, "Relevance weighting for query independent evidence",
SIGIR 2005). There its weight is fitted to clicks; nobody has clicked here, so all facts count alike
and together so little that they decide only between tables that answer almost equally well.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum
from statistics import fmean

from pneuma_assets.core.config.query import QueryOptions
from pneuma_assets.core.index.base import (
    IndexFilter,
    IndexQuery,
    SearchIndex,
    TableScores,
)
from pneuma_assets.core.relations.version_names import (
    SURE,
    PlainName,
    letters_of,
    plain_name,
    spellings_of,
)
from pneuma_assets.core.search.completion import complete
from pneuma_assets.core.search.retrieve import Proposal
from pneuma_assets.core.search.signals import (
    MOST_TABLES,
    RankedTable,
    proposed_tables,
    rank_tables,
)
from pneuma_assets.core.tables import TableFacts, TableTerms
from pneuma_assets.core.terms.fields import name_parts


@dataclass(frozen=True, slots=True)
class Reranker:
    """Ranks the tables of an index as the options of a question have it."""

    index: SearchIndex
    options: QueryOptions
    where: IndexFilter

    def rank(
        self, queries: Sequence[IndexQuery], proposals: Sequence[Proposal]
    ) -> list[list[RankedTable]]:
        """Return the tables that answer each query, the best first."""
        most = max(MOST_TABLES, self.options.n * self.options.k)
        tables = [proposed_tables(one.side, most) for one in proposals]
        scores = self.index.table_scores(queries, tables, self.where)
        facts = self._facts_of(i for found in scores for i in found)
        originals = [_originals_of(found, facts) for found in scores]
        if any(originals):  # the index leaves out those that the asker, or the filter, shuts out
            more = self.index.table_scores(queries, originals, self.where)
            scores = [{**one, **other} for one, other in zip(scores, more, strict=True)]
            facts |= self._facts_of(i for one in more for i in one)
        return [
            self._placed(query.text or "", found, proposal, facts)
            for query, found, proposal in zip(queries, scores, proposals, strict=True)
        ]

    def _placed(
        self,
        question: str,
        found: Mapping[str, TableScores],
        proposal: Proposal,
        facts: Mapping[str, TableFacts],
    ) -> list[RankedTable]:
        words = dict.fromkeys(self.index.analyzer.question_terms(question))
        ranked = rank_tables(found, self.options.weights, proposal.side, words)
        asked = Asked(question, self.where.tables)
        trusted = with_trust(ranked, facts, self.options.trust)
        collapsed = collapse_copies(trusted, facts, asked)
        return behind_originals(complete(collapsed, facts), asked, self.index.evidence)

    def _facts_of(self, table_ids: Iterable[str]) -> dict[str, TableFacts]:
        """Return what is known of tables, for who may not see all without what is hidden.

        How many are built from a table, and how often others are queried, would tell of those that
        the asker may not see. A copy of one of these stands for itself, or for its other copies.
        """
        facts = self.index.facts(list(dict.fromkeys(table_ids)))
        if self.where.readers is None:
            return facts
        return {i: replace(one, feeds=0, queries=None) for i, one in facts.items()}


def _originals_of(found: Iterable[str], facts: Mapping[str, TableFacts]) -> list[str]:
    """Return the tables of which there are copies alone."""
    found = set(found)
    originals = {facts[i].copy_of for i in found if i in facts}
    return sorted(i for i in originals if i is not None and i not in found)


HALF_AGE = 365 * 86_400.0
"""Seconds after which a table that is not the newest of the candidates counts for half as fresh."""

HALF_FEEDS = 3.0
"""Tables that are built from one which count half of what any number does."""

_NOTHING = TableFacts()


def with_trust(
    ranked: Sequence[RankedTable], facts: Mapping[str, TableFacts], weight: float
) -> list[RankedTable]:
    """Return tables with what they lose for being less trusted than the most trusted of them.

    That is at most `weight` times their score, so no table passes one whose score is that much
    better. Where all facts are equal, or the weight is 0, nothing is lost.

    Args:
        ranked: Tables, the best first.
        facts: What is known of them; of one that is absent nothing is.
        weight: From 0 to 1.
    """
    trusted = trust_of({one.table_id: facts.get(one.table_id, _NOTHING) for one in ranked})
    most = max(trusted.values(), default=0.0)
    counted = [_less(one, weight * (most - trusted[one.table_id])) for one in ranked]
    return sorted(counted, key=lambda one: -one.score)


def trust_of(facts: Mapping[str, TableFacts]) -> dict[str, float]:
    """Return how far each of these tables can be trusted beside the others, from 0 to 1.

    It is the mean of five: how fresh its data is beside the newest, whether somebody owns it, how
    much of it is described, how many tables are built from it, how often it is queried. Where a
    source does not tell one of these, the table is taken for an average one of those that are told.
    """
    written = [one.updated_at for one in facts.values() if one.updated_at is not None]
    newest = min(max(written, default=0.0), time.time())  # a wrong clock makes no others stale
    told = [_told(facts.values(), read) for read in _readers_of(newest)]
    return {
        table_id: fsum(column[place] for column in told) / len(told)
        for place, table_id in enumerate(facts)
    }


Read = Callable[[TableFacts], float | None]


def _readers_of(newest: float) -> tuple[Read, ...]:
    def fresh(one: TableFacts) -> float | None:
        if one.updated_at is None:
            return None
        return HALF_AGE / (HALF_AGE + max(0.0, newest - one.updated_at))

    return (
        fresh,
        lambda one: float(one.owned),
        lambda one: one.documented,
        lambda one: one.feeds / (one.feeds + HALF_FEEDS),
        lambda one: one.queries,
    )


def _told(facts: Iterable[TableFacts], read: Read) -> list[float]:
    values = [read(one) for one in facts]
    known = [value for value in values if value is not None]
    average = fmean(known) if known else 0.0
    return [average if value is None else min(1.0, max(0.0, value)) for value in values]


def _less(one: RankedTable, share: float) -> RankedTable:
    lost = one.score * share
    return replace(one, score=one.score - lost, trust=-lost) if lost > 0 else one


_COLUMNS_ALIKE = 0.8
"""Share of the columns of both that two tables of one name have in common, where one is what the
name says of the other."""

_DIGITS_OF_A_DAY = 8

_FIRST = 20
"""Tables of which one stands behind another: those further down are hardly ever looked at."""

_MOST_COMPARED = 20
"""Tables whose columns are looked at for one question."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, and which tables it is meant for by name.

    Attributes:
        question: In plain language.
        tables: Those that a filter names.
    """

    question: str
    tables: Collection[str] = ()

    def means(self, table_id: str, name: PlainName) -> bool:
        """Tell whether this very table is asked for and not what it is a copy of.

        That is so where a filter names it, or the question does.
        """
        return table_id in self.tables or self.says(table_id, name)

    def says(self, table_id: str, name: PlainName) -> bool:
        """Tell whether the question is a table's name, or says what the name says of the table.

        That is: backup, snapshot, a day. Words that are said of much else do not count
        (`names.OFTEN`), nor do the little ones beside a mark, as in "Copy of".
        """
        parts = name_parts(self.question)
        letters = "".join(parts)
        day = "".join(filter(str.isdecimal, name.marks))
        return (
            not SURE.intersection(name.marks).isdisjoint(parts)
            or (len(day) >= _DIGITS_OF_A_DAY and day in letters)
            or (letters != name.stem and letters in spellings_of(table_id))
        )


def collapse_copies(
    ranked: Sequence[RankedTable], facts: Mapping[str, TableFacts], asked: Asked
) -> list[RankedTable]:
    """Return tables with their copies: the original, where the best of them stands.

    Args:
        ranked: The best first. An original that is not among them is not shown: who asks may not
            see it, or looks elsewhere.
        facts: What is known of them.
        asked: Tables that are asked for by name stay by themselves; before their original, if the
            question does so.
    """
    known = {letters_of(one.table_id) for one in ranked}
    groups: dict[str, list[RankedTable]] = defaultdict(list)
    wanted: dict[str, str] = {}
    for one in ranked:
        original = facts[one.table_id].copy_of if one.table_id in facts else None
        name = plain_name(one.table_id, known)
        alone = original is None or asked.means(one.table_id, name)
        groups[one.table_id if alone or original is None else original].append(one)
        if original is not None and asked.says(one.table_id, name):
            wanted[one.table_id] = original
    order = list(groups)
    for copy, original in wanted.items():
        if original in groups and order.index(original) < order.index(copy):
            order.remove(copy)
            order.insert(order.index(original), copy)
    return [_as_one(one, groups[one], known) for one in order]


def _as_one(original: str, group: Sequence[RankedTable], known: Collection[str]) -> RankedTable:
    def standing(one: RankedTable) -> tuple[bool, bool]:
        return one.table_id != original, bool(plain_name(one.table_id, known).marks)

    first, *others = sorted(group, key=standing)
    return replace(first, copies=tuple(one.table_id for one in others)) if others else first


def behind_originals(
    ranked: Sequence[RankedTable],
    asked: Asked,
    evidence_of: Callable[[Sequence[str]], Mapping[str, TableTerms]],
) -> list[RankedTable]:
    """Move tables that their names call backups, tests or old versions behind what they are of.

    So are tables without rows moved behind one of the same name that has some. What is moved has
    the columns of the other; where it stood better, the other takes its place.

    Args:
        ranked: The best first.
        asked: What is asked for by name stays where it is.
        evidence_of: Returns the evidence of tables.
    """
    known = {letters_of(one.table_id) for one in ranked}
    names = {one.table_id: plain_name(one.table_id, known) for one in ranked}
    families: dict[str, list[str]] = defaultdict(list)
    for table_id, name in names.items():
        if name.stem:
            families[name.stem].append(table_id)
    seen = {one.table_id for one in ranked[:_FIRST]}
    shared = [one for one in families.values() if len(one) > 1 and not seen.isdisjoint(one)]
    compared = [table_id for one in shared for table_id in one][:_MOST_COMPARED]
    evidence = evidence_of(compared) if compared else {}
    order = [one.table_id for one in ranked]
    for family in shared:
        members = [i for i in family if i in evidence and not asked.means(i, names[i])]
        _arrange(order, members, names, evidence)
    by_id = {one.table_id: one for one in ranked}
    return [by_id[table_id] for table_id in order]


def _arrange(
    order: list[str],
    members: Sequence[str],
    names: Mapping[str, PlainName],
    evidence: Mapping[str, TableTerms],
) -> None:
    """Let the best one that is like a lesser table stand before it; others stay where they are."""
    lesser = {i: _lesser(names[i], evidence[i]) for i in members}
    for one in sorted(members, key=order.index):
        better = [
            i for i in members if lesser[i] < lesser[one] and _alike(evidence[i], evidence[one])
        ]
        best = min(better, key=lambda i: (lesser[i], order.index(i)), default=one)
        if order.index(best) > order.index(one):
            order.remove(best)
            order.insert(order.index(one), best)


def _lesser(name: PlainName, evidence: TableTerms) -> tuple[bool, bool]:
    return not evidence.rows, bool(name.marks)


def _alike(one: TableTerms, other: TableTerms) -> bool:
    mine, theirs = ({*map(_letters, found.columns)} for found in (one, other))
    return len(mine & theirs) >= _COLUMNS_ALIKE * max(1, len(mine | theirs))


def _letters(name: str) -> str:
    return "".join(name_parts(name)) or name
