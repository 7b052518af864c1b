"""What a conversation made is made again by one script, without this project."""

import ast
import subprocess
import sys

import pyarrow.csv
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pneuma_assets.core.errors import PneumaError
from pneuma_assets.core.seek.script import _readable, as_script
from pneuma_assets.core.seek.state import read_state
from tests.support.arrow_relations import texts
from tests.unit.seek.test_tariffs import IMPACT, RELATIONS, rise, state


def run(script, tmp_path):
    """Run a script where this project cannot be imported; return what it prints."""
    file = tmp_path / "made.py"
    blocked = "import sys\nsys.modules['pneuma_assets'] = None\n"
    file.write_text(blocked + script)
    command = [sys.executable, "-I", str(file)]
    found = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert not found.returncode, found.stderr
    return found.stdout


def places(tables, tmp_path):
    found = {}
    for key, table in tables.items():
        file = tmp_path / f"{key.replace('/', '_')}.csv"
        pyarrow.csv.write_csv(table, file)
        found[key] = f"read_csv('{file}')"
    return found


def test_the_tariffs_are_computed_again(tmp_path):
    cents = IMPACT.replace("SELECT ", "SELECT CAST(").replace(" AS rise", " AS DECIMAL(9, 2)) AS r")
    script = as_script(state([("rise", cents)]), places(RELATIONS.tables, tmp_path))
    assert f"{rise():.2f}" in run(script, tmp_path)


STEPS = [
    {"operator": "unpivot", "reads": ["sales"], "makes": "long",
     "options": {"keep": ["member", "shop"], "name": "quarter", "value": "amount"}},
    {"operator": "python", "reads": ["long"], "makes": "doubled",
     "code": "made = long.amount * 2\nresult = long.assign(amount=made)\n"},
    {"operator": "pivot", "reads": ["doubled"], "makes": "wide", "options": {
        "rows": ["shop"], "column": "quarter", "value": "amount", "aggregate": "sum"}},
    {"operator": "sql", "reads": ["wide"], "makes": "totals",
     "code": "SELECT shop, q1 + q2 AS total FROM wide;"},
]  # fmt: skip


def test_families_and_every_kind_of_step_are_in_it(tmp_path):
    tables = {
        f"lake/sales_{year}": texts(shop=["a", "b"], q1=[year, 1], q2=[2, 3])
        for year in (2019, 2020)
    }
    given = read_state(
        {
            "sources": [{"name": "sales", "table_ids": list(tables)}],
            "tables": [
                {
                    "name": "totals",
                    "columns": [{"name": "shop"}, {"name": "total", "type": "number"}],
                    "steps": STEPS,
                }
            ],
            "queries": [
                {"name": "one", "sql": "SELECT total AS t FROM totals WHERE shop = 'a'"},
                {"name": "two", "sql": "SELECT count(*) + 1000 AS n FROM totals"},
            ],
        }
    )
    printed = run(as_script(given, places(tables, tmp_path)), tmp_path)
    assert str(2 * (2019 + 2 + 2020 + 2)) in printed
    assert "1002" in printed


@given(st.text(st.characters(codec="utf-8"), max_size=30))
@example('a\n"""\nimport os')
@example("a\n\\")
@example('a\n"')
@example("a\r\nb\x00")
def test_code_in_a_script_is_the_code(code):
    assert ast.literal_eval(_readable(code)) == code


def test_a_source_without_a_place_is_named():
    with pytest.raises(PneumaError, match="web/tariffs lies"):
        as_script(state(), {"erp/orders": "'a'", "erp/suppliers": "'b'"})
