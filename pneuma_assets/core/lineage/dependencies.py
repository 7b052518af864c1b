"""What engines say themselves of what is built from what: rows of their dependency views."""

from collections.abc import Iterable, Sequence

from pneuma_assets.core.lineage.dependency_views import checked
from pneuma_assets.core.lineage.edges import EdgeKind
from pneuma_assets.core.lineage.names import TableName
from pneuma_assets.core.lineage.outside import Outside, OutsideTable, Reference


def read_dependencies(rows: Iterable[Sequence[object]], dialect: str) -> Outside:
    """Return what rows of such a view say.

    Args:
        rows: As `Dependency` has them; what is none is left out.
        dialect: `snowflake`, `databricks` or `postgres`, by which names are compared.
    """
    above: dict[TableName, dict[Reference, None]] = {}
    for row in checked(rows):
        upstream, downstream = TableName(*row[:3]), TableName(*row[3:])
        if upstream != downstream:
            above.setdefault(downstream, {})[Reference(upstream)] = None
    tables = [
        OutsideTable(name, dialect=dialect, upstream=list(upstream))
        for name, upstream in above.items()
    ]
    return Outside(EdgeKind.DEPENDENCY, tables)
