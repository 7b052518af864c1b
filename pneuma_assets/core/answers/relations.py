"""What stands in a FROM, and the columns it has: tables, WITH, subqueries and VALUES."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NoReturn

from sqlglot import exp

from pneuma_assets.core.answers.outputs import Output, spelling_of
from pneuma_assets.core.answers.refusing import Guard, ReadTable, refuse
from pneuma_assets.core.text.suggest import nearest

_SHOWN = 60


@dataclass(frozen=True, slots=True, eq=False)
class Relation:
    """One thing that a query selects from: its name there, and its columns."""

    name: str
    output: Output
    table: ReadTable | None = None

    def column(self, name: str) -> str | None:
        """Return how a column is spelled that is named in any capitals; None: it has none such."""
        return self.output.spelling(name)


@dataclass(slots=True)
class Found:
    """What a statement was found to read."""

    tables: dict[str, ReadTable] = field(default_factory=dict)
    columns: dict[tuple[str, str], None] = field(default_factory=dict)
    seen: set[int] = field(default_factory=set)
    """Ids of the tables and columns of the tree that were looked at."""
    owners: dict[int, Relation] = field(default_factory=dict)
    """What the column of that id belongs to."""


def table_named(node: exp.Table, tables: Mapping[str, ReadTable]) -> ReadTable:
    """Return the table that is meant, which the node is then spelled as.

    Args:
        node: Of the statement.
        tables: By their names in lower case.

    Raises:
        SqlRefusedError: It is none of them.
    """
    name, schema = node.name, node.db
    found = tables.get(name.lower())
    if found is None:
        found = next((one for one in tables.values() if _full(one) == (schema, name)), None)
    if found is None or (schema and schema.lower() != found.schema.lower()):
        spelled = ".".join(filter(None, (schema, name)))[:_SHOWN]
        known = [".".join(filter(None, (one.schema, one.name))) for one in tables.values()]
        refuse(
            Guard.TABLE,
            f"it reads {spelled!r}, which is none of the tables it may read"
            f"{_meant(spelled, known)}",
        )
    return found


def _full(table: ReadTable) -> tuple[str, str]:
    return table.schema.lower(), table.name.lower()


def unknown_column(
    name: str, relations: Iterable[Relation], tables: Iterable[ReadTable] = ()
) -> NoReturn:
    """Refuse a column that none of the relations has; name the table that has it, or the nearest.

    Args:
        name: As the statement says it.
        relations: Where it was looked for.
        tables: All that the statement may read.

    Raises:
        SqlRefusedError: Always.
    """
    shown, sources = name[:_SHOWN], list(relations)
    for source in sources:
        if source.table is not None and spelling_of(name, source.table.hidden):
            refuse(
                Guard.COLUMN,
                f"column {shown!r} of table {source.table.name!r} is hidden by rules of privacy; "
                "ask for another",
            )
    known = dict.fromkeys(one for source in sources for one in source.output.names)
    having = [one.name for one in tables if spelling_of(name, one.columns)]
    meant = f"; table {having[0]!r} has it" if having else _meant(shown, known)
    what = repr(sources[0].name) if len(sources) == 1 and sources[0].name else "what it reads"
    unnamed = any(one.output.open for one in sources)
    hint = (
        "give what a query computes a name by AS" if unnamed else "a text stands in single quotes"
    )
    refuse(Guard.COLUMN, f"there is no column {shown!r} in {what}{meant}; {hint}")


def unknown_relation(name: str, relations: Iterable[Relation]) -> NoReturn:
    """Refuse a name before a column that is none of those in FROM, and name the nearest.

    Raises:
        SqlRefusedError: Always.
    """
    shown, known = name[:_SHOWN], [one.name for one in relations if one.name]
    refuse(Guard.COLUMN, f"FROM has nothing called {shown!r}{_meant(shown, known)}")


def _meant(name: str, known: Iterable[str]) -> str:
    names = list(known)
    near = nearest(name, names)
    if near:
        return f"; did you mean {', '.join(map(repr, near))}?"
    some = ", ".join(repr(one) for one in names[:10])
    return f"; there are {some}" if some else ""


def conjuncts(condition: exp.Expr | None) -> Iterator[exp.Expr]:
    """Yield the parts of a condition that all have to hold."""
    if isinstance(condition, exp.Paren | exp.Where):
        yield from conjuncts(condition.this)
    elif isinstance(condition, exp.And):
        yield from conjuncts(condition.left)
        yield from conjuncts(condition.right)
    elif condition is not None:
        yield condition


def fixes_a_value(condition: exp.Expr) -> bool:
    """Tell whether a condition says that a column equals a value that the statement names."""
    if not isinstance(condition, exp.EQ):
        return False
    sides = {type(condition.left.unnest()), type(condition.right.unnest())}
    return sides == {exp.Column, exp.Literal}
