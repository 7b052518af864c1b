"""All rows of what DuckDB can read, as text, for the evidence of a table."""

import duckdb

from pneuma_assets.core.sources.duckdb.relation import Relation, cells
from pneuma_assets.core.terms.collect import CELL_CHARACTERS, TermCollector

_BATCH_ROWS = 65_536
_BATCH_CELLS = 500_000
"""At 200 characters of up to four bytes these take 400 MB, in the worst of tables."""


def feed(
    gatherer: TermCollector, connection: duckdb.DuckDBPyConnection, relation: Relation, width: int
) -> None:
    """Let the gatherer have all rows, cells as DuckDB spells them, as it does in samples.

    DuckDB cuts them, so a cell of a gigabyte never becomes one of Arrow's.
    """
    rows = max(1, min(_BATCH_ROWS, _BATCH_CELLS // max(1, width)))
    query = connection.sql(
        f"SELECT {cells(width, CELL_CHARACTERS)} FROM {relation.aliased(width)}",
        params=list(relation.parameters),
    )
    for batch in query.to_arrow_reader(rows):
        gatherer.add(batch)
