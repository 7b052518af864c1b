"""What PostgreSQL's catalogue tells, by one statement for all tables and their readers.

It opens no table, so it waits for nobody's lock: sizes come from the last ANALYZE, and a view's
query is read with its table, not here (`pg_get_viewdef` locks what the view reads). As it is kept,
it names nothing: the names of the tables and columns that it reads count beside it.

Counters of a table are those of all its partitions, and of a view those of what it reads; a
materialized view has its own. `relfilenode` moves with TRUNCATE and with REFRESH, which count no
row, and with VACUUM FULL and CLUSTER, after which a table is read once and found as it was.

The type of a column tells all fields inside it, at any depth, for rules that hide a column by them,
and the labels of an enum.

Who may read a table is asked for each role, once for all tables of the same grants; role by role,
for PostgreSQL remembers of the last one alone of which it is a member. Role 0 is PUBLIC; 10 is the
first superuser, and others below 16384 are PostgreSQL's own. Where row-level security decides which
rows a role sees, only those are readers that it does not bind, because sampled rows and values are
shown whole; so it is with a view of such a table, unless its owner sees all rows. A view that asks
on behalf of whoever reads it (`security_invoker`), and a view of one, is read by those who may read
all that it reads.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import Connection, text

from pneuma_assets.core.sources.sql.dialect import (
    COLUMN_COMMENT_CHARACTERS,
    COMMENT_CHARACTERS,
    CatalogTable,
)
from pneuma_assets.core.sources.sql.engines import Wanted
from pneuma_assets.core.tables import Column, Definition, ForeignKey
from pneuma_assets.core.text.safe import well_formed

_KINDS = {
    "r": "table",
    "p": "table",
    "v": "view",
    "m": "materialized view",
    "f": "foreign table",
}

_LISTED = """
WITH RECURSIVE listed AS (
    SELECT c.oid, n.oid AS schema, n.nspname, c.relname, c.relkind, c.relowner,
           c.relrowsecurity, c.relforcerowsecurity,
           pg_catalog.min(c.oid) OVER (PARTITION BY n.oid, c.relowner, c.relacl::text) AS alike,
           pg_catalog.has_table_privilege(c.oid, 'SELECT')
           AND pg_catalog.has_schema_privilege(n.oid, 'USAGE') AS readable
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
      AND c.relpersistence <> 't' AND n.nspname <> 'information_schema'
      AND pg_catalog.left(n.nspname::text, 3) <> 'pg_'
      AND (:everywhere OR n.nspname::text = ANY(CAST(:schemas AS text[])))
      AND NOT EXISTS (
          SELECT FROM pg_catalog.pg_depend d
          WHERE d.classid = 'pg_catalog.pg_class'::regclass AND d.objid = c.oid
            AND d.deptype = 'e')
), parts(root, oid) AS (
    SELECT oid, oid FROM listed
    UNION
    SELECT p.root, below.oid FROM parts p CROSS JOIN LATERAL (
        SELECT i.inhrelid AS oid FROM pg_catalog.pg_inherits i WHERE i.inhparent = p.oid
        UNION ALL
        SELECT d.refobjid FROM pg_catalog.pg_class v
        JOIN pg_catalog.pg_rewrite r ON r.ev_class = v.oid AND r.rulename = '_RETURN'
        JOIN pg_catalog.pg_depend d
          ON d.classid = 'pg_catalog.pg_rewrite'::regclass AND d.objid = r.oid
         AND d.refclassid = 'pg_catalog.pg_class'::regclass
         AND d.refobjid <> v.oid AND d.refobjid >= 16384
        WHERE v.oid = p.oid AND v.relkind = 'v'
    ) below
), reads AS (
    SELECT DISTINCT v.oid AS reader, t.oid, asked.by_invoker,
           t.relrowsecurity AND (asked.by_invoker OR NOT o.rolsuper AND NOT o.rolbypassrls
               AND (t.relforcerowsecurity OR t.relowner <> v.relowner)) AS bound
    FROM (SELECT DISTINCT oid FROM parts) p
    JOIN pg_catalog.pg_class v ON v.oid = p.oid AND v.relkind = 'v'
    JOIN pg_catalog.pg_roles o ON o.oid = v.relowner
    CROSS JOIN LATERAL (
        SELECT coalesce((SELECT option_value::boolean
                         FROM pg_catalog.pg_options_to_table(v.reloptions)
                         WHERE option_name = 'security_invoker'), false) AS by_invoker
    ) asked
    JOIN pg_catalog.pg_rewrite r ON r.ev_class = v.oid AND r.rulename = '_RETURN'
    JOIN pg_catalog.pg_depend d
      ON d.classid = 'pg_catalog.pg_rewrite'::regclass AND d.objid = r.oid
     AND d.refclassid = 'pg_catalog.pg_class'::regclass AND d.refobjid <> v.oid
    JOIN pg_catalog.pg_class t ON t.oid = d.refobjid
), behind AS (
    SELECT p.root, pg_catalog.bool_or(r.bound) AS bound,
           pg_catalog.bool_or(CASE WHEN r.by_invoker THEN pg_catalog.row_security_active(r.oid)
                              ELSE r.bound END) AS limited,
           pg_catalog.array_agg(DISTINCT r.oid) FILTER (WHERE r.by_invoker) AS needed
    FROM parts p JOIN reads r ON r.reader = p.oid GROUP BY p.root
), roles AS (
    SELECT 0::oid AS oid, '' AS name, false AS sees_all
    WHERE pg_catalog.has_database_privilege('public', pg_catalog.current_database(), 'CONNECT')
    UNION ALL
    SELECT oid, rolname, rolsuper OR rolbypassrls FROM pg_catalog.pg_roles
    WHERE (oid = 10 OR oid >= 16384)
      AND pg_catalog.has_database_privilege(oid, pg_catalog.current_database(), 'CONNECT')
), granted AS MATERIALIZED (
    SELECT DISTINCT alike, schema FROM listed
), may AS (
    SELECT g.alike, r.oid, r.name, r.sees_all
    FROM roles r CROSS JOIN LATERAL (
        SELECT alike FROM granted
        WHERE pg_catalog.has_table_privilege(r.oid, alike, 'SELECT')
          AND pg_catalog.has_schema_privilege(r.oid, schema, 'USAGE')
        OFFSET 0
    ) g
), readers AS (
    SELECT l.oid, pg_catalog.array_agg(m.name) AS found
    FROM listed l JOIN may m ON m.alike = l.alike LEFT JOIN behind b ON b.root = l.oid
    WHERE NOT EXISTS (
              SELECT FROM pg_catalog.unnest(b.needed) t(oid)
              WHERE NOT pg_catalog.has_table_privilege(m.oid, t.oid, 'SELECT'))
      AND (NOT (l.relrowsecurity OR coalesce(b.bound, false)) OR m.sees_all
           OR l.relkind <> 'v' AND NOT l.relforcerowsecurity
              AND pg_catalog.pg_has_role(m.oid, l.relowner, 'USAGE'))
    GROUP BY l.oid
), state AS (
    SELECT p.root, pg_catalog.sum(s.n_tup_ins) AS inserted, pg_catalog.sum(s.n_tup_upd) AS updated,
           pg_catalog.sum(s.n_tup_del) AS deleted,
           pg_catalog.sum(c.reltuples) FILTER (WHERE c.reltuples >= 0) AS rows,
           pg_catalog.sum(c.relpages::bigint) AS pages,
           pg_catalog.bool_or(c.relkind = 'f') AS elsewhere,
           pg_catalog.string_agg(c.relfilenode::text, ',' ORDER BY c.oid) AS files
    FROM parts p JOIN pg_catalog.pg_class c ON c.oid = p.oid
    LEFT JOIN pg_catalog.pg_stat_all_tables s ON s.relid = p.oid
    GROUP BY p.root
), types(root, oid) AS (
    SELECT DISTINCT a.atttypid, a.atttypid
    FROM listed l JOIN pg_catalog.pg_attribute a ON a.attrelid = l.oid
    WHERE a.attnum > 0 AND NOT a.attisdropped
    UNION
    SELECT w.root, below.oid FROM types w JOIN pg_catalog.pg_type t ON t.oid = w.oid
    CROSS JOIN LATERAL (
        SELECT t.typelem AS oid WHERE t.typelem <> 0
        UNION ALL SELECT t.typbasetype WHERE t.typbasetype <> 0
        UNION ALL SELECT f.atttypid FROM pg_catalog.pg_attribute f
        WHERE t.typtype = 'c' AND f.attrelid = t.typrelid AND f.attnum > 0 AND NOT f.attisdropped
    ) below
), inside AS (
    SELECT w.root AS oid, ' ROW(' || pg_catalog.string_agg(
               pg_catalog.quote_ident(f.attname) || ' '
               || pg_catalog.format_type(f.atttypid, f.atttypmod), ', '
               ORDER BY t.oid, f.attnum) || ')' AS fields
    FROM types w JOIN pg_catalog.pg_type t ON t.oid = w.oid AND t.typtype = 'c'
    JOIN pg_catalog.pg_attribute f
      ON f.attrelid = t.typrelid AND f.attnum > 0 AND NOT f.attisdropped
    GROUP BY w.root
), labels AS (
    SELECT w.root AS oid, ' ENUM(' || pg_catalog.string_agg(
               '''' || pg_catalog.replace(e.enumlabel, '''', '''''') || '''', ', '
               ORDER BY e.enumtypid, e.enumsortorder) || ')' AS listed
    FROM types w JOIN pg_catalog.pg_enum e ON e.enumtypid = w.oid GROUP BY w.root
), columns AS (
    SELECT a.attrelid, pg_catalog.json_agg(pg_catalog.json_build_array(
               a.attnum, a.attname,
               pg_catalog.format_type(a.atttypid, a.atttypmod) || coalesce(i.fields, '')
               || coalesce(e.listed, ''),
               pg_catalog.left(coalesce(d.description, (
                   SELECT pg_catalog.obj_description(t.oid, 'pg_type') FROM pg_catalog.pg_type t
                   WHERE t.oid = a.atttypid AND t.typtype = 'd')), :column_comment)
            ) ORDER BY a.attnum) AS found
    FROM listed l JOIN pg_catalog.pg_attribute a ON a.attrelid = l.oid
    LEFT JOIN pg_catalog.pg_description d
      ON d.objoid = a.attrelid AND d.classoid = 'pg_catalog.pg_class'::regclass
     AND d.objsubid = a.attnum
    LEFT JOIN inside i ON i.oid = a.atttypid LEFT JOIN labels e ON e.oid = a.atttypid
    WHERE a.attnum > 0 AND NOT a.attisdropped GROUP BY a.attrelid
), keys AS (
    SELECT k.conrelid, pg_catalog.json_agg(pg_catalog.json_build_array(
               k.contype, fn.nspname, fc.relname,
               (SELECT pg_catalog.json_agg(a.attname ORDER BY u.place)
                FROM pg_catalog.unnest(k.conkey) WITH ORDINALITY u(number, place)
                JOIN pg_catalog.pg_attribute a
                  ON a.attrelid = k.conrelid AND a.attnum = u.number),
               (SELECT pg_catalog.json_agg(a.attname ORDER BY u.place)
                FROM pg_catalog.unnest(k.confkey) WITH ORDINALITY u(number, place)
                JOIN pg_catalog.pg_attribute a
                  ON a.attrelid = k.confrelid AND a.attnum = u.number)
           ) ORDER BY k.contype, k.conname) AS found
    FROM listed l JOIN pg_catalog.pg_constraint k ON k.conrelid = l.oid
    LEFT JOIN pg_catalog.pg_class fc ON fc.oid = k.confrelid
    LEFT JOIN pg_catalog.pg_namespace fn ON fn.oid = fc.relnamespace
    WHERE k.contype IN ('p', 'f') AND k.conparentid = 0 GROUP BY k.conrelid
)
SELECT l.oid::text AS oid, l.nspname AS schema, l.relname AS name, l.relkind::text AS kind,
       l.readable, c.found AS columns, k.found AS declared,
       pg_catalog.left(d.description, :table_comment) AS comment,
       s.inserted::bigint, s.updated::bigint, s.deleted::bigint, s.rows::bigint,
       (s.pages * pg_catalog.current_setting('block_size')::bigint)::bigint AS size,
       s.elsewhere, s.files,
       (SELECT pg_catalog.md5(pg_catalog.concat(r.ev_action::text, (
                   SELECT pg_catalog.string_agg(
                              pg_catalog.concat_ws(' ', b.relnamespace::regnamespace::text,
                                                   b.relname::text, a.attname::text),
                              ',' ORDER BY b.oid, d.refobjsubid)
                   FROM pg_catalog.pg_depend d
                   JOIN pg_catalog.pg_class b ON b.oid = d.refobjid
                   LEFT JOIN pg_catalog.pg_attribute a
                     ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
                   WHERE d.classid = 'pg_catalog.pg_rewrite'::regclass AND d.objid = r.oid
                     AND d.refclassid = 'pg_catalog.pg_class'::regclass)))
        FROM pg_catalog.pg_rewrite r
        WHERE r.ev_class = l.oid AND r.rulename = '_RETURN') AS query,
       coalesce(readers.found, '{}') AS readers,
       pg_catalog.row_security_active(l.oid) OR coalesce(b.limited, false) AS limited
FROM listed l
LEFT JOIN behind b ON b.root = l.oid
LEFT JOIN state s ON s.root = l.oid
LEFT JOIN readers ON readers.oid = l.oid
LEFT JOIN columns c ON c.attrelid = l.oid
LEFT JOIN keys k ON k.conrelid = l.oid
LEFT JOIN pg_catalog.pg_description d
  ON d.objoid = l.oid AND d.classoid = 'pg_catalog.pg_class'::regclass AND d.objsubid = 0
ORDER BY l.nspname, l.relname
"""

QUERY = "SELECT pg_catalog.pg_get_viewdef(CAST(CAST(:oid AS bigint) AS oid), true)"
"""The query of a view, as PostgreSQL spells it."""

SCHEMAS = "SELECT n.nspname::text FROM pg_catalog.pg_namespace n"


def read_tables(connection: Connection, database: str, wanted: Wanted) -> Iterator[CatalogTable]:
    """Yield all wanted tables, by two statements; `database` is empty but for one of several."""
    here = connection.execute(text("SELECT pg_catalog.current_database()")).scalar_one()
    found = connection.execute(
        text(_LISTED),
        {
            "everywhere": not wanted.schemas,
            "schemas": list(wanted.schemas),
            "table_comment": COMMENT_CHARACTERS + 1,
            "column_comment": COLUMN_COMMENT_CHARACTERS + 1,
        },
    )
    for row in found:
        if wanted.admits(here, row.schema, row.name):
            yield _table(database, here, row)


def _table(database: str, here: str, row: Any) -> CatalogTable:
    keys = _json(row.declared)
    own = row.kind in {"r", "p", "m"} and not row.elsewhere
    primary = next((tuple(key[3]) for key in keys if key[0] == "p"), ())
    is_view = row.kind in {"v", "m"}
    signals = (row.inserted, row.updated, row.deleted, row.files, row.query or "", row.limited)
    return CatalogTable(
        *(database, row.schema, row.name, _KINDS[row.kind]),
        columns=tuple(
            Column(name, kind, comment or "", str(number))
            for number, name, kind, comment in _json(row.columns)
        ),
        signals=tuple(map(str, signals)),
        comment=row.comment or "",
        primary_key=primary,
        foreign_keys=tuple(
            ForeignKey(tuple(columns), (schema, name), tuple(others))
            for kind, schema, name, columns, others in keys
            if kind == "f"
        ),
        definition=Definition("", "postgres", here, row.schema) if is_view else None,
        rows=row.rows,
        size=row.size if own else None,
        identity=row.oid,
        readers=_readers(row.readers),
        readable=bool(row.readable),
        limited=bool(row.limited),
    )


def _readers(names: Sequence[str]) -> tuple[str, ...] | None:
    """Return the names of roles but those that are no text; None, as is an empty one: everybody."""
    return None if "" in names else tuple(sorted(n for n in names if n == well_formed(n)))


def _json(found: Any) -> list[Any]:
    """Return what the driver may have parsed already."""
    parsed: list[Any] = json.loads(found) if isinstance(found, str) else (found or [])
    return parsed
