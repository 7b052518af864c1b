"""What is said of a name that a statement may not use, so that another one can be written."""

from collections.abc import Iterable, Sequence
from typing import NoReturn

from sqlglot import exp

from pneuma_assets.core.answers.statements import Guard, ReadTable, Relation, refuse
from pneuma_assets.core.text.suggest import nearest

_SHOWN = 60


def unknown_table(node: exp.Table, tables: Sequence[ReadTable]) -> NoReturn:
    """Refuse a table that is none of those a statement may read, and name the nearest."""
    spelled = ".".join(filter(None, (node.db, node.name)))[:_SHOWN]
    known = [".".join(filter(None, (one.schema, one.name))) for one in tables]
    refuse(
        Guard.TABLE,
        f"it reads {spelled!r}, which is none of the tables it may read{_meant(spelled, known)}",
    )


def unknown_column(
    name: str, relations: Sequence[Relation], tables: Iterable[ReadTable]
) -> NoReturn:
    """Refuse a column that none of the relations has; name the table that has it, or the nearest.

    Args:
        name: As the statement says it.
        relations: Where it was looked for.
        tables: All that the statement may read.
    """
    shown = name[:_SHOWN]
    for table in (one.table for one in relations if one.table is not None):
        if name.lower() in map(str.lower, table.hidden):
            refuse(
                Guard.COLUMN,
                f"column {shown!r} of table {table.name!r} is hidden by rules of privacy; "
                "ask for another",
            )
    known = dict.fromkeys(column for one in relations for column in one.columns)
    having = [one.name for one in tables if name.lower() in map(str.lower, one.columns)]
    meant = f"; table {having[0]!r} has it" if having else _meant(shown, known)
    what = repr(relations[0].name) if len(relations) == 1 else "what it reads"
    computed = any(one.query is not None for one in relations)
    hint = (
        "give what a query computes a name by AS" if computed else "a text stands in single quotes"
    )
    refuse(Guard.COLUMN, f"there is no column {shown!r} in {what}{meant}; {hint}")


def unknown_relation(name: str, known: Iterable[str]) -> NoReturn:
    """Refuse a name before a column that is none of those in FROM, and name the nearest."""
    shown = name[:_SHOWN]
    refuse(Guard.COLUMN, f"FROM has nothing called {shown!r}{_meant(shown, known)}")


def _meant(name: str, known: Iterable[str]) -> str:
    names = list(known)
    near = nearest(name, names)
    if near:
        return f"; did you mean {', '.join(map(repr, near))}?"
    some = ", ".join(repr(one) for one in names[:10])
    return f"; there are {some}" if some else ""
