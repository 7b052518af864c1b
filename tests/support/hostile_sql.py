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


def _both(guard: Guard, duckdb: str, postgres: str, *texts: str) -> list[Hostile]:
    return [Hostile(guard, text, {DUCKDB: duckdb, POSTGRES: postgres}) for text in texts]


def _duckdb(guard: Guard, holds: str, *texts: str) -> list[Hostile]:
    return [Hostile(guard, text, {DUCKDB: holds}) for text in texts]


def _postgres(guard: Guard, holds: str, *texts: str) -> list[Hostile]:
    return [Hostile(guard, text, {POSTGRES: holds}) for text in texts]


_WRITING = [
    *_both(
        Guard.ONE_STATEMENT,
        "engine",
        "engine",
        "SELECT 1; DROP TABLE people",
        "SELECT name FROM people; DELETE FROM cities",
        "SELECT 1 /* ; */; -- the end\nTRUNCATE people",
        "COMMIT; DROP TABLE people",
        "ROLLBACK; SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE; DROP TABLE people",
    ),
    *_both(
        Guard.QUERY,
        "engine",
        "engine",
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
    ),
    *_both(
        Guard.PARSER,
        "engine",
        "engine",
        "SELECT 1) AS q; DROP TABLE people; --",
        "SELECT 1) AS q; COMMIT; SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE; "
        "SELECT lo_create(0); SELECT * FROM (SELECT 1",
    ),
    *_postgres(Guard.QUERY, "engine", "DO $$ BEGIN DELETE FROM people; END $$"),
    *_both(
        Guard.SYNTAX,
        "engine",
        "engine",
        "WITH gone AS (DELETE FROM people RETURNING *) SELECT * FROM gone",
        "WITH put AS (INSERT INTO cities VALUES ('a', 'b', 1) RETURNING *) SELECT * FROM put",
        "WITH new AS (UPDATE people SET name = 'x' RETURNING *) SELECT * FROM new",
        "SELECT * INTO stolen FROM people",
    ),
    *_both(Guard.SYNTAX, "engine", "engine", "SELECT * FROM people FOR UPDATE"),
    *_postgres(Guard.SYNTAX, "engine", "SELECT * FROM shop.people FOR UPDATE"),
    *_postgres(
        Guard.FUNCTION,
        "engine",
        "SELECT pg_catalog.lo_import('{file}')",
        "SELECT nextval('numbers')",
        "SELECT query_to_xml('DELETE FROM shop.people', true, true, '')",
        "SELECT set_config('transaction_read_only', 'off', false)",
    ),
    *_postgres(
        Guard.FUNCTION,
        "nothing",
        "SELECT set_config('statement_timeout', '0', false)",
        "SELECT pg_notify('a', 'b')",
        "SELECT pg_terminate_backend(1)",
        "SELECT pg_advisory_lock(1)",
    ),
]

_FILES = [
    *_duckdb(
        Guard.QUERY,
        "engine",
        "ATTACH '{folder}/other.db' AS other",
        "INSTALL httpfs",
        "LOAD httpfs",
        "COPY people FROM '{file}'",
        "PRAGMA database_list",
        "CALL pragma_version()",
        "CREATE MACRO peek() AS TABLE SELECT * FROM read_text('{file}')",
    ),
    *_duckdb(
        Guard.PARSER,
        "engine",
        "EXPORT DATABASE '{folder}/all'",
        "IMPORT DATABASE '{folder}/all'",
        "CREATE SECRET (TYPE s3, KEY_ID 'a', SECRET 'b')",
    ),
    *_duckdb(
        Guard.FUNCTION,
        "engine",
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
    ),
    *_duckdb(
        Guard.TABLE,
        "engine",
        "FROM '{file}'",
        'FROM "{file}"',
        'SELECT * FROM "http://127.0.0.1:9/x.csv"',
        "SELECT * FROM 's3://bucket/x.parquet'",
    ),
    *_postgres(
        Guard.FUNCTION,
        "engine",
        "SELECT pg_read_file('{file}')",
        "SELECT pg_read_binary_file('/etc/passwd')",
        "SELECT * FROM pg_ls_dir('/')",
        "SELECT pg_stat_file('{file}')",
        "SELECT lo_export(1, '{folder}/stolen')",
        "SELECT * FROM dblink('host=127.0.0.1', 'SELECT 1') AS t(a int)",
        "SELECT (pg_catalog.pg_read_file('{file}'))",
        "SELECT pg_logdir_ls()",
    ),
    *_postgres(Guard.QUERY, "engine", "COPY people TO PROGRAM 'cat > {folder}/stolen'"),
]

_OTHERS = [
    *_both(
        Guard.TABLE,
        "engine",
        "engine",
        "SELECT * FROM hr.pay",
        'SELECT * FROM "hr"."pay"',
        'SELECT p.* FROM people p JOIN "hr".pay h ON h.id = p.id',
        "SELECT name FROM people UNION ALL SELECT secret FROM hr.pay",
        "SELECT name FROM people WHERE id IN (SELECT id FROM hr.pay)",
        "SELECT (SELECT max(secret) FROM hr.pay) FROM people",
        "WITH a AS (SELECT secret FROM hr.pay) SELECT * FROM a",
        "SELECT * FROM \u0440\u0435ople",  # the first letters are Cyrillic
    ),
    *_both(
        Guard.TABLE,
        "nothing",
        "nothing",
        "SELECT table_name FROM information_schema.tables",
        "SELECT relname FROM pg_catalog.pg_class",
    ),
    *_postgres(
        Guard.TABLE,
        "engine",
        "SELECT rolpassword FROM pg_authid",
        "SELECT * FROM pg_catalog.pg_authid",
    ),
    *_both(
        Guard.COLUMN,
        "engine",
        "engine",
        "SELECT email FROM people",
        "SELECT p.EMAIL FROM people AS p",
        "SELECT name FROM people ORDER BY email",
        "SELECT name FROM people WHERE email LIKE 'c%'",
        "SELECT xmin FROM people",
    ),
    *_both(Guard.COLUMN, "nothing", "engine", "SELECT people FROM people"),
    *_both(Guard.COLUMN, "nothing", "engine", "SELECT q FROM (SELECT count(*) FROM people) AS q"),
    # A field of a row that it does not have is a call: PostgreSQL's functional notation.
    *_postgres(
        Guard.COLUMN,
        "engine",
        "SELECT q.row_to_json FROM (SELECT count(*) FROM people) AS q",
        "SELECT x.pg_typeof FROM (SELECT q.* FROM (SELECT 1 FROM people LIMIT 9) AS q) AS x",
        "WITH q AS (SELECT max(name) FROM people) SELECT name FROM people JOIN q "
        "ON q.pg_column_size > 1",
        "SELECT (SELECT v.to_json) FROM (VALUES (1, 2)) AS v",
    ),
    *_postgres(Guard.COLUMN, "engine", "SELECT q.version FROM (SELECT count(*) FROM people) AS q"),
    *_duckdb(
        Guard.FUNCTION,
        "nothing",
        "SELECT * FROM duckdb_secrets()",
        "SELECT * FROM duckdb_settings() WHERE name = 'memory_limit'",
        "SELECT COLUMNS('.*') FROM people",
        "SELECT current_setting('secret_directory')",
        "SELECT list_transform([1], lambda x: x + 1)",
    ),
    *_duckdb(Guard.FUNCTION, "engine", "SELECT list_transform([1], x -> x + 1)"),
    *_duckdb(Guard.SYNTAX, "nothing", "FROM (DESCRIBE people)"),
    *_duckdb(Guard.TABLE, "nothing", "SELECT * FROM (SHOW TABLES)"),
    *_duckdb(Guard.QUERY, "nothing", "SUMMARIZE people", "SHOW TABLES"),
    *_duckdb(Guard.SYNTAX, "engine", "SELECT $1"),
    *_duckdb(Guard.QUERY, "engine", "PIVOT people ON city USING count(*)"),
    *_postgres(Guard.FUNCTION, "nothing", "SELECT current_setting('search_path'), version()"),
    *_postgres(Guard.TYPE, "engine", "SELECT 'hr.pay'::regclass"),
]

_BOMBS = [
    *_both(
        Guard.RECURSION,
        "bound",
        "bound",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
    ),
    *_both(
        Guard.CROSS_JOIN,
        "nothing",  # two rows each
        "bound",  # 300 rows each
        "SELECT count(*) FROM people a, people b, people c, people d, people e",
    ),
    *_both(
        Guard.CROSS_JOIN,
        "nothing",
        "nothing",
        "SELECT count(*) FROM people CROSS JOIN cities",
        "SELECT count(*) FROM people a JOIN cities b ON 1 = 1",
    ),
    *_duckdb(
        Guard.FUNCTION,
        "bound",
        "SELECT length(repeat('x', 3000000000))",
        "SELECT sum(n) FROM range(1000000000000) AS t(n)",
        "SELECT count(*) FROM generate_series(1, 1000000000000)",
        "SELECT unnest(range(1000000000))",
    ),
    *_postgres(
        Guard.FUNCTION,
        "bound",
        "SELECT pg_sleep(1000)",
        "SELECT count(*) FROM generate_series(1, 1000000000000)",
    ),
    *_postgres(Guard.FUNCTION, "engine", "SELECT repeat('x', 2000000000)"),
    *_both(Guard.SIZE, "bound", "engine", "SELECT lpad('x', 2000000000, 'y')"),
    *_both(
        Guard.SIZE,
        "engine",
        "engine",
        "SELECT name FROM people WHERE name ~ '((a{{1,100}}){{1,100}}){{1,9}}b'",
    ),
    *_both(Guard.SIZE, "engine", "nothing", "SELECT " + "+".join(["1"] * 2_000)),
    *_both(Guard.SIZE, "engine", "nothing", "SELECT " + "||".join(["'a'"] * 1_200)),
    *_both(Guard.SIZE, "engine", "engine", "SELECT name" + "[1]" * 3_000 + " FROM people"),
    *_both(Guard.PARSER, "engine", "nothing", "SELECT " + "NOT " * 4_000 + "true"),
    *_both(Guard.PARSER, "engine", "nothing", "SELECT " + "(" * 5_000 + "1" + ")" * 5_000),
    *_both(Guard.LENGTH, "nothing", "nothing", "SELECT 1 -- " + "x" * 30_000),
    *_both(Guard.LENGTH, "engine", "engine", "SELECT name FROM people\0; DROP TABLE people"),
    *_both(Guard.LENGTH, "nothing", "nothing", 'SELECT name AS "a\u202e" FROM people'),
    *_both(Guard.LENGTH, "nothing", "nothing", 'SELECT name AS "a\x9b2J" FROM people'),
]

HOSTILE = [*_WRITING, *_FILES, *_OTHERS, *_BOMBS]
