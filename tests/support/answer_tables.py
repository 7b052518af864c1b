"""Tables of which questions are answered, made of rows alone."""

from collections.abc import Mapping, Sequence

from pneuma_assets.core.answers.results import AnswerColumn, AnswerSet, AnswerTable
from pneuma_assets.core.answers.statements import ReadTable
from pneuma_assets.core.relations.join_graph import JoinEdge, JoinKind
from pneuma_assets.core.tables import TableRef, TableTerms


def answer_table(
    name: str,
    columns: Mapping[str, str],
    rows: Sequence[Sequence[str | None]] = (),
    cells: Sequence[str] = (),
) -> AnswerTable:
    """Return a table of these columns (name: type); `cells` are of rows that are not kept."""
    table_id = f"wh/lake/{name}"
    evidence = TableTerms(
        ("wh", "lake", name), tuple(columns), "", "", tuple(map(tuple, rows)), tuple(cells)
    )
    return AnswerTable(
        table_id,
        TableRef(table_id, "wh", "", "csv", "1"),
        ReadTable(name, tuple(columns)),
        tuple(AnswerColumn(column, kind) for column, kind in columns.items()),
        len(rows) + len(cells),
        evidence,
    )


def answer_set(*tables: AnswerTable, joins: Sequence[str] = ()) -> AnswerSet:
    """Return a set of tables; a join is written `orders.customer_id = customers.id`."""
    return AnswerSet(tables, tuple(map(_edge, joins)))


def _edge(text: str) -> JoinEdge:
    (table, column), (other, theirs) = (side.split(".") for side in text.split(" = "))
    return JoinEdge(
        f"wh/lake/{table}", (column,), f"wh/lake/{other}", (theirs,), JoinKind.INFERRED, 1.0
    )
