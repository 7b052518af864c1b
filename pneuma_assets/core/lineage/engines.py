"""What engines say themselves of what is built from what: their dependency views, asked and read.

A source runs the statement of its engine with the name of a database bound to `:database` (NULL:
the one that it is connected to).
"""

from collections.abc import Iterable, Sequence

from pneuma_assets.core.lineage.edges import EdgeKind
from pneuma_assets.core.lineage.external import ExternalMetadata, ExternalTable, Reference
from pneuma_assets.core.lineage.names import TableName

MOST_ROWS = 200_000
"""Of one database."""

MOST_CHARACTERS = 1_000
"""Of a name; engines have 63 to 255."""

Dependency = tuple[str, str, str, str, str, str]
"""Database, schema and name of what is referred to, then of what refers to it."""

POSTGRESQL = f"""
WITH RECURSIVE reads(root, class, object) AS (
    SELECT r.ev_class, d.refclassid, d.refobjid
    FROM pg_catalog.pg_class v
    JOIN pg_catalog.pg_rewrite r ON r.ev_class = v.oid AND r.rulename = '_RETURN'
    JOIN pg_catalog.pg_depend d
      ON d.classid = 'pg_catalog.pg_rewrite'::regclass AND d.objid = r.oid AND d.deptype = 'n'
    WHERE v.relkind IN ('v', 'm') AND v.relpersistence <> 't' AND v.oid >= 16384
    UNION
    SELECT reads.root, d.refclassid, d.refobjid
    FROM reads JOIN pg_catalog.pg_depend d
      ON d.classid = 'pg_catalog.pg_proc'::regclass AND d.objid = reads.object
     AND d.deptype = 'n'
    WHERE reads.class = 'pg_catalog.pg_proc'::regclass
)
SELECT DISTINCT current_database()::text, tn.nspname::text, t.relname::text,
       current_database()::text, vn.nspname::text, v.relname::text
FROM reads
JOIN pg_catalog.pg_class t
  ON reads.class = 'pg_catalog.pg_class'::regclass AND t.oid = reads.object
JOIN pg_catalog.pg_namespace tn ON tn.oid = t.relnamespace
JOIN pg_catalog.pg_class v ON v.oid = reads.root
JOIN pg_catalog.pg_namespace vn ON vn.oid = v.relnamespace
WHERE t.oid <> v.oid AND t.relkind IN ('r', 'p', 'v', 'm', 'f') AND t.oid >= 16384
  AND current_database() = COALESCE(CAST(:database AS text), current_database())
ORDER BY 5, 6, 2, 3
LIMIT {MOST_ROWS}
"""
"""Takes no grant. A view depends on a function that it calls, and that on the tables in its body
where this is parsed as it is created (`BEGIN ATOMIC`, PostgreSQL 14; not where it is a text)."""


def checked(rows: Iterable[Sequence[object]]) -> list[Dependency]:
    """Return the rows that name two tables in full, at most `MOST_ROWS` of them."""
    found: list[Dependency] = []
    for row in rows:
        if len(found) >= MOST_ROWS:
            break
        parts = [part for part in row if isinstance(part, str) and 0 < len(part) <= MOST_CHARACTERS]
        if len(row) == len(parts) == 6:
            found.append((parts[0], parts[1], parts[2], parts[3], parts[4], parts[5]))
    return found


def read_dependencies(rows: Iterable[Sequence[object]], dialect: str) -> ExternalMetadata:
    """Return what rows of such a view say.

    Args:
        rows: As `Dependency` has them; what is none is left out.
        dialect: What sqlglot calls the engine's SQL, by which names are compared.
    """
    above: dict[TableName, dict[Reference, None]] = {}
    for row in checked(rows):
        upstream, downstream = TableName(*row[:3]), TableName(*row[3:])
        if upstream != downstream:
            above.setdefault(downstream, {})[Reference(upstream)] = None
    tables = [
        ExternalTable(name, dialect=dialect, upstream=list(upstream))
        for name, upstream in above.items()
    ]
    return ExternalMetadata(EdgeKind.DEPENDENCY, tables)
