"""100 statements that a model must never get to run, each with the guard that refuses it.

They are written for two tables, `people` and `cities`, of which a column is hidden; `{file}` is a
file with a secret in it, `{folder}` the folder it lies in. What holds where a guard is left out is
said for each engine that understands it: the engine refuses (`engine`), a bound of the process or
role ends it (`bound`), or it answers and there is nothing to find (`nothing`). What rules hide is
held in PostgreSQL by the source that keeps the rules (`engine`, too).
"""

from dataclasses import dataclass

from pneuma_assets.core.answers.statements import Guard, ReadTable

SECRET = "canary-5d1f0c"
"""Stands in a file, a hidden column, another table and another schema; no answer may show it."""

PEOPLE = ReadTable(
    "people", ("id", "name", "city", "joined", "Pay Grade"), "shop", hidden=("email",)
)
CITIES = ReadTable("cities", ("city", "country", "inhabitants"), "shop")
TABLES = (PEOPLE, CITIES)

DUCKDB, POSTGRES = "duckdb", "postgres"


@dataclass(frozen=True, slots=True)
class Hostile:
    """One statement.

    Attributes:
        guard: What refuses it, in every dialect that it is for.
        sql: The statement.
        holds: What holds without the guard, by dialect; those it is for.
    """

    guard: Guard
    sql: str
    holds: dict[str, str]


# What holds without the guard in DuckDB, and in PostgreSQL; empty: it is not for that engine.
_CASES: dict[tuple[Guard, str, str], list[str]] = {
    (Guard.ONE_STATEMENT, "engine", "engine"): [
        "SELECT 1; DROP TABLE people",
        "SELECT name FROM people; DELETE FROM cities",
        "SELECT 1 /* ; */; -- the end\nTRUNCATE people",
        "COMMIT; DROP TABLE people",
        "ROLLBACK; SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE; DROP TABLE people",
    ],
    (Guard.QUERY, "engine", "engine"): [
        "DROP TABLE people",
        "DELETE FROM people",
        "UPDATE people SET name = 'x'",
        "INSERT INTO cities VALUES ('a', 'b', 1)",
        "CREATE TABLE stolen AS SELECT * FROM people",
        "CREATE OR REPLACE VIEW people AS SELECT 1",
        "ALTER TABLE people ADD COLUMN x int",
        "TRUNCATE people",
        "COPY people TO '{folder}/stolen.csv'",
        "COPY (SELECT * FROM people) TO '{folder}/stolen.csv' (FORMAT csv)",
        "EXECUTE plan",
        "PREPARE plan AS SELECT 1",
        "SET search_path = hr",
        "EXPLAIN ANALYZE DELETE FROM people",
        "BEGIN",
    ],
    (Guard.PARSER, "engine", "engine"): [
        "SELECT 1) AS q; DROP TABLE people; --",
        "SELECT 1) AS q; COMMIT; SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE; "
        "SELECT lo_create(0); SELECT * FROM (SELECT 1",
    ],
    (Guard.QUERY, "", "engine"): [
        "DO $$ BEGIN DELETE FROM people; END $$",
        "COPY people TO PROGRAM 'cat > {folder}/stolen'",
    ],
    (Guard.SYNTAX, "engine", "engine"): [
        "WITH gone AS (DELETE FROM people RETURNING *) SELECT * FROM gone",
        "WITH put AS (INSERT INTO cities VALUES ('a', 'b', 1) RETURNING *) SELECT * FROM put",
        "WITH new AS (UPDATE people SET name = 'x' RETURNING *) SELECT * FROM new",
        "SELECT * INTO stolen FROM people",
        "SELECT * FROM people FOR UPDATE",
    ],
    (Guard.SYNTAX, "", "engine"): ["SELECT * FROM shop.people FOR UPDATE"],
    (Guard.FUNCTION, "", "engine"): [
        "SELECT pg_catalog.lo_import('{file}')",
        "SELECT nextval('numbers')",
        "SELECT query_to_xml('DELETE FROM shop.people', true, true, '')",
        "SELECT set_config('transaction_read_only', 'off', false)",
        "SELECT pg_read_file('{file}')",
        "SELECT pg_read_binary_file('/etc/passwd')",
        "SELECT * FROM pg_ls_dir('/')",
        "SELECT pg_stat_file('{file}')",
        "SELECT lo_export(1, '{folder}/stolen')",
        "SELECT * FROM dblink('host=127.0.0.1', 'SELECT 1') AS t(a int)",
        "SELECT (pg_catalog.pg_read_file('{file}'))",
        "SELECT pg_logdir_ls()",
        "SELECT repeat('x', 2000000000)",
    ],
    (Guard.FUNCTION, "", "nothing"): [
        "SELECT set_config('statement_timeout', '0', false)",
        "SELECT pg_notify('a', 'b')",
        "SELECT pg_terminate_backend(1)",
        "SELECT pg_advisory_lock(1)",
        "SELECT current_setting('search_path'), version()",
    ],
    (Guard.QUERY, "engine", ""): [
        "ATTACH '{folder}/other.db' AS other",
        "INSTALL httpfs",
        "LOAD httpfs",
        "COPY people FROM '{file}'",
        "PRAGMA database_list",
        "CALL pragma_version()",
        "CREATE MACRO peek() AS TABLE SELECT * FROM read_text('{file}')",
        "PIVOT people ON city USING count(*)",
    ],
    (Guard.PARSER, "engine", ""): [
        "EXPORT DATABASE '{folder}/all'",
        "IMPORT DATABASE '{folder}/all'",
        "CREATE SECRET (TYPE s3, KEY_ID 'a', SECRET 'b')",
    ],
    (Guard.FUNCTION, "engine", ""): [
        "SELECT * FROM read_csv('{file}')",
        "SELECT * FROM read_text('{file}')",
        "SELECT content FROM read_blob('{file}')",
        "SELECT * FROM read_json_auto('{file}')",
        "SELECT * FROM read_parquet('{folder}/*.parquet')",
        "SELECT * FROM glob('{folder}/*')",
        "SELECT * FROM sniff_csv('{file}')",
        "SELECT getenv('HOME')",
        "SELECT * FROM query('SELECT * FROM ''{file}''')",
        "SELECT * FROM sqlite_scan('{folder}/x.db', 'x')",
        "SELECT * FROM postgres_scan('host=127.0.0.1', 'public', 'x')",
        "SELECT list_transform([1], x -> x + 1)",
    ],
    (Guard.TABLE, "engine", ""): [
        "FROM '{file}'",
        'FROM "{file}"',
        'SELECT * FROM "http://127.0.0.1:9/x.csv"',
        "SELECT * FROM 's3://bucket/x.parquet'",
    ],
    (Guard.TABLE, "engine", "engine"): [
        "SELECT * FROM hr.pay",
        'SELECT * FROM "hr"."pay"',
        'SELECT p.* FROM people p JOIN "hr".pay h ON h.id = p.id',
        "SELECT name FROM people UNION ALL SELECT secret FROM hr.pay",
        "SELECT name FROM people WHERE id IN (SELECT id FROM hr.pay)",
        "SELECT (SELECT max(secret) FROM hr.pay) FROM people",
        "WITH a AS (SELECT secret FROM hr.pay) SELECT * FROM a",
        "SELECT * FROM \u0440\u0435ople",
    ],
    (Guard.TABLE, "nothing", "nothing"): [
        "SELECT table_name FROM information_schema.tables",
        "SELECT relname FROM pg_catalog.pg_class",
    ],
    (Guard.TABLE, "", "engine"): [
        "SELECT rolpassword FROM pg_authid",
        "SELECT * FROM pg_catalog.pg_authid",
    ],
    (Guard.COLUMN, "engine", "engine"): [
        "SELECT email FROM people",
        "SELECT p.EMAIL FROM people AS p",
        "SELECT name FROM people ORDER BY email",
        "SELECT name FROM people WHERE email LIKE 'c%'",
        "SELECT xmin FROM people",
        "SELECT u.x FROM people p, unnest(string_to_array(p.email, '@')) AS u(x)",
    ],
    (Guard.COLUMN, "nothing", "engine"): [
        "SELECT people FROM people",
        "SELECT q FROM (SELECT count(*) FROM people) AS q",
    ],
    (Guard.COLUMN, "", "engine"): [
        "SELECT q.row_to_json FROM (SELECT count(*) FROM people) AS q",
        "SELECT x.pg_typeof FROM (SELECT q.* FROM (SELECT 1 FROM people LIMIT 9) AS q) AS x",
        "WITH q AS (SELECT max(name) FROM people) SELECT name FROM people JOIN q "
        "ON q.pg_column_size > 1",
        "SELECT (SELECT v.to_json) FROM (VALUES (1, 2)) AS v",
        "SELECT q.version FROM (SELECT count(*) FROM people) AS q",
    ],
    (Guard.FUNCTION, "nothing", ""): [
        "SELECT * FROM duckdb_secrets()",
        "SELECT * FROM duckdb_settings() WHERE name = 'memory_limit'",
        "SELECT COLUMNS('.*') FROM people",
        "SELECT current_setting('secret_directory')",
        "SELECT list_transform([1], lambda x: x + 1)",
    ],
    (Guard.SYNTAX, "nothing", ""): ["FROM (DESCRIBE people)"],
    (Guard.TABLE, "nothing", ""): ["SELECT * FROM (SHOW TABLES)"],
    (Guard.QUERY, "nothing", ""): ["SUMMARIZE people", "SHOW TABLES"],
    (Guard.SYNTAX, "engine", ""): ["SELECT $1"],
    (Guard.TYPE, "", "engine"): ["SELECT 'hr.pay'::regclass"],
    (Guard.RECURSION, "bound", "bound"): [
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    ],
    (Guard.CROSS_JOIN, "nothing", "bound"): [
        "SELECT count(*) FROM people a, people b, people c, people d, people e"
    ],
    (Guard.CROSS_JOIN, "nothing", "nothing"): [
        "SELECT p.name FROM people p, (SELECT unnest(ARRAY[1, 2]) AS n) AS q",
        "SELECT p.name FROM people p, generate_series(1, 101) AS g(n)",
        "SELECT count(*) FROM people CROSS JOIN cities",
        "SELECT count(*) FROM people a JOIN cities b ON 1 = 1",
    ],
    (Guard.FUNCTION, "bound", ""): [
        "SELECT length(repeat('x', 3000000000))",
    ],
    (Guard.FUNCTION, "", "bound"): ["SELECT pg_sleep(1000)"],
    (Guard.SIZE, "bound", ""): [
        "SELECT sum(n) FROM range(1000000000000) AS t(n)",
        "SELECT unnest(range(1000000000))",
        "SELECT count(*) FROM (SELECT length(CAST(unnest(range(1000000000)) AS varchar)) AS n)",
        "SELECT unnest(range(TIMESTAMP '1000-01-01', now(), INTERVAL '1 second'))",
    ],
    (Guard.COLUMN, "bound", "bound"): ["SELECT count(*) FROM generate_series(1, 1000000000000)"],
    (Guard.SIZE, "bound", "bound"): [
        "SELECT count(*) FROM generate_series(1, 1000000000000) AS g(n)",
        "WITH n AS (SELECT g.i FROM generate_series(1, 100000) AS g(i)) "
        "SELECT count(*) FROM n a JOIN n b ON a.i <> b.i JOIN n c ON b.i <> c.i",
        "SELECT count(*) FROM (SELECT a.i FROM generate_series(1, 100000) AS a(i) "
        "JOIN generate_series(1, 100000) AS b(i) ON a.i <> b.i) q "
        "JOIN generate_series(1, 1000) AS c(i) ON q.i <> c.i",
        # Run for each row of another one
        "SELECT sum((SELECT count(*) FROM generate_series(1, 1000000) AS b(m) WHERE b.m <> a.n)) "
        "FROM generate_series(1, 1000000) AS a(n)",
        "SELECT count(*) FROM generate_series(1, 1000000) AS a(n) WHERE 7 < "
        "(SELECT count(*) FROM generate_series(1, 1000000) AS b(m) WHERE b.m <> a.n)",
        # Named as few rows, then as many
        "WITH m AS (SELECT a.n FROM generate_series(1, 1000) AS a(n)), z AS (SELECT m.n FROM m) "
        "SELECT sum(z.n * q.n) FROM z JOIN (WITH m AS (SELECT x.n FROM z AS x JOIN z AS y "
        "ON x.n <> y.n) SELECT m.n FROM m) AS q ON q.n <> z.n",
        # Constants that an engine takes otherwise than they look
        "SELECT max(CAST(n AS VARCHAR)) "
        "FROM generate_series(CAST('20200101' AS BIGINT), 1577836801) AS g(n)",
        "SELECT max(CAST(n AS VARCHAR)) FROM generate_series('20200101', 1577836801) AS g(n)",
        "SELECT sum(n) FROM generate_series(1, 99999999999, "
        "CAST(CAST(1000000 AS BOOLEAN) AS INT)) AS g(n)",
    ],
    (Guard.SIZE, "", "bound"): [
        "SELECT count(*) FROM generate_series(TIMESTAMP '0001-01-01', TIMESTAMP '9020-01-01', "
        "CAST('00010101' AS INTERVAL)) AS g(n)",
        "SELECT sum(n) FROM generate_series(1, 99999999999, "
        "CAST(CAST(1000000 AS VARCHAR(1)) AS INT)) AS g(n)",
        "SELECT count(*) FROM generate_series(CAST('2020-01-01 23:59:59' AS DATE), "
        "TIMESTAMP '2020-01-01 23:59:59', INTERVAL '0.0001 second') AS g(n)",
        "SELECT count(*) FROM generate_series(10000000000000000000000000000000, "
        "10000000000000000000001000000000) AS g(n)",
    ],
    (Guard.SIZE, "nothing", "nothing"): [
        "SELECT n FROM generate_series(1, (SELECT max(id) FROM people)) AS g(n)",
        "SELECT p.name FROM people p JOIN generate_series(1, p.id) AS g(n) ON true",
    ],
    (Guard.FUNCTION, "nothing", "nothing"): [
        "SELECT unnest((SELECT array_agg(name) FROM people)) FROM people",
        "SELECT unnest(q.l) FROM people CROSS JOIN (SELECT array_agg(name) AS l FROM people) AS q",
        "SELECT generate_series(1, 9) FROM people",
        "SELECT generate_series(1, 9) AS n",
        "SELECT x FROM people p, unnest(string_to_array(p.name, 'a')) AS u(x), "
        "unnest(string_to_array(p.name, 'e')) AS v(y)",
    ],
    (Guard.SIZE, "bound", "engine"): ["SELECT lpad('x', 2000000000, 'y')"],
    (Guard.SIZE, "engine", "engine"): [
        "SELECT name FROM people WHERE name ~ '((a{{1,100}}){{1,100}}){{1,9}}b'",
        "SELECT name" + "[1]" * 3_000 + " FROM people",
    ],
    (Guard.SIZE, "engine", "nothing"): [
        "SELECT " + "+".join(["1"] * 2_000),
        "SELECT " + "||".join(["'a'"] * 1_200),
    ],
    (Guard.PARSER, "engine", "nothing"): [
        "SELECT " + "NOT " * 4_000 + "true",
        "SELECT " + "(" * 5_000 + "1" + ")" * 5_000,
    ],
    (Guard.LENGTH, "nothing", "nothing"): [
        "SELECT 1 -- " + "x" * 30_000,
        'SELECT name AS "a\u202e" FROM people',
        'SELECT name AS "a\x9b2J" FROM people',
    ],
    (Guard.LENGTH, "engine", "engine"): ["SELECT name FROM people\0; DROP TABLE people"],
}

HOSTILE = [
    Hostile(
        guard, text, {name: one for name, one in ((DUCKDB, duckdb), (POSTGRES, postgres)) if one}
    )
    for (guard, duckdb, postgres), texts in _CASES.items()
    for text in texts
]
