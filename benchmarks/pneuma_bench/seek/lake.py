"""The lake that the needs of the suite are about: the demo, families and traps, a warehouse.

Whole tables of which the lake has parts alone lie beside it, for the answers.
"""

import importlib
import sys
from collections.abc import Mapping
from pathlib import Path

import duckdb

DEMO = Path(__file__).resolve().parents[3] / "examples/demo"

FAMILIES: Mapping[str, str] = {
    "people/gapminder.jsonl": "year",
    "climate/seattle-weather.csv": "year(date)",
    "industry/iowa-electricity.csv": "year(year)",
}
"""Tables that the lake has as yearly files, and their year."""

TRAPS: Mapping[str, str] = {
    # A country is in up to three organisations, so a join repeats it.
    "people/memberships": """
        SELECT country, 'organisation ' || n AS organisation
        FROM (SELECT DISTINCT country FROM 'people/gapminder.jsonl'), range(1, 4) AS r(n)
        WHERE length(country) % 4 >= n""",
    # States in capitals, with blanks behind.
    "people/state_budget": """
        SELECT upper(state) || '  ' AS state, 100 + 7 * length(state) AS police_budget
        FROM 'people/statecrime.csv'""",
    # Weights as texts, in two units.
    "transport/fleet": """
        SELECT "Name" AS model, "Origin" AS origin, CASE WHEN "Cylinders" > 4 THEN 'lb' ELSE 'kg'
        END AS weight_unit, replace(format('{:,.1f}', CASE WHEN "Cylinders" > 4 THEN
        "Weight_in_lbs" ELSE "Weight_in_lbs" * 0.45359237 END), ',', ' ') AS weight
        FROM 'transport/cars.jsonl'""",
    # Prices in three currencies.
    "economy/trades": """
        SELECT symbol, strptime(date, '%b %-d %Y')::DATE AS traded, price AS amount,
        CASE symbol WHEN 'AAPL' THEN 'EUR' WHEN 'IBM' THEN 'GBP' ELSE 'USD' END AS currency
        FROM 'economy/stocks.csv'""",
    "economy/exchange_rates": """
        SELECT * FROM (VALUES ('USD', 1.0), ('EUR', 1.25), ('GBP', 1.5)) AS r(currency, in_dollars)
        """,
    # Species as somebody else spells them.
    "nature/conservation": """
        SELECT * FROM (VALUES ('Adélie penguin (Pygoscelis adeliae)', 'least concern'),
        ('chinstrap penguins (Pygoscelis antarctica)', 'declining'),
        ('Gentoo Pengiun (Pygoscelis papua)', 'growing')) AS s(species, status)""",
}
"""Tables that look harmless, made of those of the demo by these statements."""


def build(folder: Path, warehouse: Path | None = None) -> Path:
    """Make `lake` and `whole` below a folder, and return the lake; what is there is kept.

    Args:
        folder: Where.
        warehouse: A folder of `NAME.sql`, each of which makes the schema NAME; they are run as
            they are, in DuckDB.
    """
    lake, whole = folder / "lake", folder / "whole"
    if not lake.exists():
        _demo(whole)
        _demo(lake)
        with duckdb.connect() as connection:
            connection.execute(f"SET file_search_path = '{whole}'")
            for name, sql in TRAPS.items():
                connection.execute(f"COPY ({sql}) TO '{lake / name}.csv'")
            for file, year in FAMILIES.items():
                _split(connection, lake, file, year)
        for dump in sorted(warehouse.glob("*.sql")) if warehouse else ():
            _load(dump, lake / "warehouse" / dump.stem)
    return lake


def _demo(folder: Path) -> None:
    if str(DEMO) not in sys.path:
        sys.path.append(str(DEMO))
    importlib.import_module("prepare").build_lake(folder)


def _split(connection: duckdb.DuckDBPyConnection, lake: Path, file: str, year: str) -> None:
    stem = file.partition(".")[0]
    for (one,) in connection.execute(f"SELECT DISTINCT {year} FROM '{file}'").fetchall():
        rows = f"SELECT * FROM '{file}' WHERE {year} = {one}"
        connection.execute(f"COPY ({rows}) TO '{lake / stem}_{one}.csv'")
    for known in lake.glob(f"{stem}.*"):
        known.unlink()


def _load(dump: Path, folder: Path) -> None:
    folder.mkdir(parents=True)
    with duckdb.connect() as connection:
        connection.execute("CREATE TEMP MACRO to_char(day, _) AS monthname(day)")
        connection.execute(dump.read_text(encoding="utf-8"))
        connection.execute("USE main")
        found = connection.execute("SELECT table_name FROM duckdb_tables() WHERE NOT temporary")
        for (name,) in found.fetchall():
            connection.execute(f"COPY {dump.stem}.\"{name}\" TO '{folder / name}.parquet'")
