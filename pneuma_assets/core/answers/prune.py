"""Which columns a model is shown, and which tables it is asked about at once (section 5).

Wide tables cost tokens and lead a model astray, so it sees the columns that the question names,
that hold what it says, and by which the tables are joined. Tables that then look the same are asked
about once, and the statement is run on each (Algorithm 2).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pneuma_assets.core.answers.like_tables import are_parts
from pneuma_assets.core.answers.results import AnswerSet, AnswerTable, Shown, called
from pneuma_assets.core.relations.join_graph import JoinEdge, On
from pneuma_assets.core.relations.part_names import told_apart
from pneuma_assets.core.relations.rank_groups import MOST_TABLES, GroupResult
from pneuma_assets.core.terms.fields import cell_term, plain_words

WHOLE = 8
"""Columns of a table that is shown whole: leaving some out saves little, and may lose one."""

MOST_COLUMNS = 40
"""Of one table in a prompt."""

_MOST_WORDS = 60
_LONGEST = 5


@dataclass(frozen=True, slots=True)
class Cluster:
    """Sets of tables that one statement may answer, each by itself.

    Attributes:
        sets: Best first; several only where each is one table, of the same columns.
        shown: The columns of each table of the first set that a model is shown.
        pruned: Whether there are others.
        dialect: In which a statement is wanted.
    """

    sets: tuple[AnswerSet, ...]
    shown: tuple[Shown, ...]
    pruned: bool
    dialect: str

    @property
    def first(self) -> AnswerSet:
        """The set that a model is asked about."""
        return self.sets[0]

    def whole(self) -> "Cluster":
        """Return the first set with all columns."""
        shown = tuple(table.columns[:MOST_COLUMNS] for table in self.first.tables)
        return Cluster(self.sets[:1], shown, False, self.dialect)


def shown_columns(
    question: str, tables: AnswerSet, *, pruned: bool = True, values: bool = True
) -> tuple[Shown, ...]:
    """Return the columns of each table that a model is shown, in the table's order.

    Those of `AnswerTable.matched`, of joins, and with a cell that the question says; of tables of
    up to `WHOLE` columns all, and of tables of which none is matched the first ones.

    Args:
        question: As it was asked.
        tables: Those that a statement may read.
        pruned: Whether columns are left out.
        values: Whether cells may decide which: whoever sees the columns then learns of them.
    """
    terms = _terms(question) if values else frozenset()
    return tuple(
        _shown(table, terms, {c for i, c in tables.joined if i == table.table_id}, pruned=pruned)
        for table in tables.tables
    )


def clusters(
    question: str,
    sets: Sequence[tuple[AnswerSet, str]],
    *,
    pruned: bool,
    clustered: bool,
    values: bool = True,
) -> list[Cluster]:
    """Return sets of tables in their order, those as one of which one statement answers all.

    That are single tables that show the same columns and that the question does not tell apart:
    where it says imports, and there are exports of the same columns, these are another set.

    Args:
        question: By which columns are chosen.
        sets: Best first, each with the dialect in which a statement about it is run.
        pruned: Whether columns are left out.
        clustered: Whether tables of the same shown columns are one.
        values: As `shown_columns` has it.
    """
    found: list[Cluster] = []
    alike: dict[object, list[int]] = {}
    for number, (tables, dialect) in enumerate(sets):
        shown = shown_columns(question, tables, pruned=pruned, values=values)
        left = any(len(s) < len(t.columns) for s, t in zip(shown, tables.tables, strict=True))
        found.append(Cluster((tables,), shown, left, dialect))
        alone = clustered and len(tables.tables) == 1
        alike.setdefault((dialect, _signature(shown[0])) if alone else number, []).append(number)
    together = sorted(
        some
        for numbers in alike.values()
        for some in _together(question, [(n, found[n].first.tables[0].table_id) for n in numbers])
    )
    return [
        replace(
            found[some[0]],
            sets=tuple(found[one].first for one in some),
            pruned=any(found[one].pruned for one in some),
        )
        for some in together
    ]


def _together(question: str, tables: Sequence[tuple[int, str]]) -> list[list[int]]:
    """Return numbers of tables, those together that the question does not tell apart.

    Of parts of one table those are together that it names best, whichever these are.
    """
    said = told_apart(question, [table_id for _, table_id in tables])
    most = max(map(len, said))
    named = [one for (_, one), words in zip(tables, said, strict=True) if len(words) == most]
    parts = all(are_parts(named[0], one) for one in named)
    found: dict[object, list[int]] = {}
    for (number, _), words in zip(tables, said, strict=True):
        found.setdefault(None if parts and len(words) == most else words, []).append(number)
    return list(found.values())


def _signature(shown: Shown) -> tuple[tuple[str, str], ...]:
    return tuple((column.name.casefold(), column.type) for column in shown)


def _shown(table: AnswerTable, terms: frozenset[str], joined: set[str], *, pruned: bool) -> Shown:
    if not pruned or len(table.columns) <= WHOLE:
        return table.columns[:MOST_COLUMNS]
    named = {column for columns in table.holding(terms).values() for column in columns}
    kept = named | joined | set(table.matched)
    first = {column.name for column in table.columns[:2]}
    if not named and not table.matched:
        return table.columns[:MOST_COLUMNS]
    return tuple(c for c in table.columns if c.name in kept | first)[:MOST_COLUMNS]


def _terms(question: str) -> frozenset[str]:
    """Return the runs of words of a question that may be cells."""
    words: Sequence[str] = plain_words(question)[:_MOST_WORDS]
    runs = (
        " ".join(words[start : start + length])
        for length in range(1, _LONGEST + 1)
        for start in range(len(words) - length + 1)
    )
    return frozenset(filter(None, map(cell_term, runs)))


Tables = tuple[Sequence[str], Sequence[JoinEdge]]
"""Ids of tables, and by which joins they are one set."""


def sets_to_ask(groups: Iterable[GroupResult], most: int) -> list[Tables]:
    """Return up to `most` sets of tables, best first, none of them within another.

    Sets that have a table in common are mostly about the same thing, and the right one may be the
    second or third. So one call with the tables of all of these stands in the place of several, up
    to `MOST_TABLES`: the model leaves out what it does not need.

    Args:
        groups: Best first.
        most: Sets.
    """
    found: list[tuple[dict[str, None], dict[On, JoinEdge]]] = []
    for group in groups:
        joins = {edge.on: edge for edge in group.joins}
        for tables, known in found:
            if tables.keys() >= set(group.tables):
                break
            common = not tables.keys().isdisjoint(group.tables)
            if common and len(tables.keys() | set(group.tables)) <= MOST_TABLES:
                tables.update(dict.fromkeys(group.tables))
                known.update(joins)
                break
        else:
            if len(found) < most:
                found.append((dict.fromkeys(group.tables), dict(joins)))
    return [(tuple(tables), tuple(joins.values())) for tables, joins in found]


def answer_sets(sets: Iterable[Tables], tables: Mapping[str, AnswerTable]) -> list[AnswerSet]:
    """Return sets with what is known of their tables; those with one that is not known are left."""
    return [
        AnswerSet(with_names([tables[one] for one in ids]), tuple(joins))
        for ids, joins in sets
        if all(one in tables for one in ids)
    ]


def with_matches(table: AnswerTable, matched: Mapping[str, float]) -> AnswerTable:
    """Return a table with the columns that a question names."""
    names = {column.name for column in table.columns}
    return replace(table, matched={n: score for n, score in matched.items() if n in names})


def with_names(tables: Sequence[AnswerTable]) -> tuple[AnswerTable, ...]:
    """Return tables with names of which no two are the same in any capitals."""
    taken: dict[str, tuple[str, str]] = {}
    found = []
    for table in tables:
        read, number = table.read, 1
        name = read.name
        while name.casefold() in taken:
            number += 1
            name = f"{read.name}_{number}"
        if read.place in taken.values():  # of two databases: they are read, and called anew
            found.append(replace(table, read=replace(read, name=name, schema="")))
        else:
            found.append(table if number == 1 else called(table, name, read.schema))
        taken[name.casefold()] = found[-1].read.place
    return tuple(found)
