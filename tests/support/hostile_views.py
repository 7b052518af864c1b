"""A DuckDB file whose views and macros reach for everything outside it, for any test that asks."""

from pathlib import Path

import duckdb

SECRET = "s3cr3t-4f1d"


def write_secrets(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"named-{SECRET}.txt").write_text(SECRET)
    (folder / "s.txt").write_text(SECRET)
    (folder / "s.csv").write_text(f"{SECRET},b\n{SECRET},1\n")
    (folder / "s.json").write_text(f'{{"{SECRET}": "{SECRET}"}}\n')
    with duckdb.connect(folder / "s.duckdb") as connection:
        connection.execute(f"CREATE TABLE t AS SELECT '{SECRET}' AS \"{SECRET}\"")
        connection.execute(f"COPY t TO '{folder}/s.parquet'")


def hostile_queries(folder: Path) -> dict[str, str]:
    """Return what each view selects; all that is bound when the view is made must exist."""
    text = f"read_text('{folder}/s.txt')"
    serialized = f"json_serialize_sql('SELECT * FROM read_text(''{folder}/s.txt'')')"
    return {
        "environ": "FROM read_blob('/proc/self/environ')",
        "environ_as_text": "FROM read_text('/proc/self/environ')",
        "environ_by_thread": "FROM read_blob('/proc/thread-self/environ')",
        "memory_map": "FROM read_text('/proc/self/maps')",
        "command_line": "FROM read_blob('/proc/self/cmdline')",
        "text": f"FROM {text}",
        "text_as_cell": f"SELECT (SELECT content FROM {text}) AS a",
        "text_in_where": f"SELECT 1 AS a WHERE EXISTS (SELECT content FROM {text})",
        "blob": f"FROM read_blob('{folder}/s.*')",
        "dots": f"FROM read_text('{folder}/../{folder.name}/s.txt')",
        "address": f"FROM read_text('file://{folder}/s.txt')",
        "names": f"FROM glob('{folder}/**')",
        "csv": f"FROM read_csv('{folder}/s.csv')",
        "csv_auto": f"FROM read_csv_auto('{folder}/s.csv')",
        "one_csv": f"FROM read_single_csv_file('{folder}/s.csv')",
        "csv_by_name": f"FROM '{folder}/s.csv'",
        "csv_sniffed": f"FROM sniff_csv('{folder}/s.csv')",
        "json": f"FROM read_json('{folder}/s.json')",
        "json_by_name": f"FROM '{folder}/s.json'",
        "json_lines": f"FROM read_ndjson('{folder}/s.json')",
        "json_objects": f"FROM read_json_objects('{folder}/s.json')",
        "one_json": f"FROM read_single_json_file('{folder}/s.json')",
        "parquet": f"FROM read_parquet('{folder}/s.parquet')",
        "parquet_scan": f"FROM parquet_scan('{folder}/s.parquet')",
        "parquet_by_name": f"FROM '{folder}/s.parquet'",
        "parquet_footer": f"FROM parquet_metadata('{folder}/s.parquet')",
        "parquet_columns": f"FROM parquet_schema('{folder}/s.parquet')",
        "parquet_keys": f"FROM parquet_kv_metadata('{folder}/s.parquet')",
        "parquet_whole_footer": f"FROM parquet_full_metadata('{folder}/s.parquet')",
        "parquet_bloom": f"FROM parquet_bloom_probe('{folder}/s.parquet', '{SECRET}', 'x')",
        "database": f"FROM read_duckdb('{folder}/s.duckdb', table_name = 't')",
        "database_by_name": f"FROM '{folder}/s.duckdb'",
        "query": f"FROM query('FROM read_text(''{folder}/s.txt'')')",
        "query_table": f"FROM query_table('{folder}/s.csv')",
        "serialized": f"FROM json_execute_serialized_sql({serialized})",
        "settings": "FROM duckdb_settings()",
        "proxy": "SELECT system.main.current_setting('http_proxy') AS a",
        "proxy_password": "SELECT system.main.current_setting('http_proxy_password') AS a",
        "spilled": "FROM read_blob(system.main.current_setting('temp_directory') || '/../*/*')",
        "stored_secrets": "FROM duckdb_secrets()",
        "which_secret": "FROM which_secret('s3://bucket/x', 's3')",
        "variables": "FROM duckdb_variables()",
        "variable": "SELECT getvariable('secret') AS a",
        "logs": "FROM duckdb_logs()",
        "logging": f"FROM enable_logging(storage = 'file', storage_path = '{folder}/log')",
        "profiling": f"FROM enable_profiling(save_location = '{folder}/profile')",
        "extensions": "FROM duckdb_extensions()",
        "macro": "FROM m_table()",
        "scalar_macro": "SELECT m_scalar() AS a",
        "changed_macro": "FROM m_later()",
        "macro_of_macro": "FROM m_nested()",
        "macro_of_query": f"FROM m_query('FROM read_text(''{folder}/s.txt'')')",
        "cte": f"WITH a AS (FROM {text}), b AS (FROM a) FROM b",
        "lateral": f"SELECT c.content FROM range(1) r, LATERAL (SELECT content FROM {text}) c",
        "union": f"SELECT 'x' AS content UNION ALL SELECT content FROM {text}",
    }


SHADOWS = {
    "current_setting": "(x) AS (x = 'lock_configuration')",
    "current_database": "() AS 'another'",
    "duckdb_tables": "() AS TABLE SELECT 1 AS a",
    "duckdb_views": "() AS TABLE SELECT 1 AS a",
    "duckdb_columns": "() AS TABLE SELECT 1 AS a",
    "concat_ws": "(a, b) AS NULL, (a, b, c) AS NULL, (a, b, c, d) AS NULL",
    "string_agg": "(a, b) AS NULL",
    "count": "(a) AS 42",
    "count_star": "() AS 42",
    "min": "(a, b) AS [42]",
    "row_number": "() AS 42",
    "hash": "(a) AS 42, (a, b) AS 42",
    "left": "(a, b) AS 'shadow'",
    "-": "(a, b) AS 42",
}
"""Macros that stand before the functions and operators that are asked of a database."""


def build_shadows(connection: duckdb.DuckDBPyConnection, *names: str) -> None:
    """Write macros of these names, or of every function this project calls on databases."""
    for name in names or SHADOWS:
        connection.execute(f'CREATE MACRO "{name}"{SHADOWS[name]}')


def build_hostile_views(database: Path, folder: Path) -> list[str]:
    """Write the database, with one good table and one good view; return the views it holds."""
    write_secrets(folder)
    text = f"read_text('{folder}/s.txt')"
    made = []
    with duckdb.connect(database) as connection:
        connection.execute("CREATE TABLE people AS SELECT 'p' || i AS name, i FROM range(9) r(i)")
        connection.execute("CREATE VIEW adults AS SELECT * FROM people WHERE i > 4")
        connection.execute(f"CREATE MACRO m_table() AS TABLE FROM {text}")
        connection.execute(f"CREATE MACRO m_scalar() AS (SELECT content FROM {text})")
        connection.execute("CREATE MACRO m_nested() AS TABLE FROM m_table()")
        connection.execute("CREATE MACRO m_query(q) AS TABLE FROM query(q)")
        connection.execute("CREATE MACRO m_later() AS TABLE SELECT 1 AS a")
        for name, query in hostile_queries(folder).items():
            connection.execute(f"CREATE VIEW v_{name} AS {query}")
            made.append(f"v_{name}")
        connection.execute(f"CREATE OR REPLACE MACRO m_later() AS TABLE FROM {text}")
        for name in ("secret_variable", "ref"):
            connection.execute(f"CREATE OR REPLACE TABLE {name} (a INTEGER)")
            connection.execute(f"CREATE VIEW v_python_{name} AS FROM {name}")
            connection.execute(f"DROP TABLE {name}")
            made.append(f"v_python_{name}")
        build_shadows(connection)
    return made
