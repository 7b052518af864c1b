"""Names, cells and options of strangers are spelled as they are, bounded, and never run."""

import pyarrow as pa
import pytest

from pneuma_assets.core.answers.run_duckdb import RunBounds
from pneuma_assets.core.errors import SqlStoppedError
from pneuma_assets.core.seek.materialize import probe, run_queries
from pneuma_assets.core.seek.results import MakeBounds, StepFailedError
from pneuma_assets.core.seek.script import as_script
from pneuma_assets.core.seek.skeptic.statements import findings_of, values_of
from pneuma_assets.core.seek.state import read_state
from pneuma_assets.core.seek.tables import InHand, Tables
from tests.support.arrow_relations import ArrowRelations, made_by, texts

ODD = "a\"b'; DROP TABLE x; --"
CELL = "x' OR 1=1; COPY t TO '/tmp/x'; --"


def made(step, bounds=None, **tables):
    return made_by(step, bounds, **tables).rows.to_pylist()


@pytest.mark.slow
def test_odd_names_and_cells_go_through_every_operator():
    one = texts(**{ODD: [CELL, "y"], "n": ["1", "2"]})
    join = {"table": "one", "columns": [ODD], "other": "two", "other_columns": [ODD]}
    joined = made({"operator": "join", "options": {"joins": [join]}}, one=one, two=one)
    assert joined[0] == {ODD: CELL, "n": "1", "two_n": "1"}
    fuzzy = {"operator": "fuzzy_match", "options": {"column": ODD, "other_column": ODD}}
    assert made(fuzzy, one=one, two=one)[0][f"two_{ODD}"] == CELL
    union = {"operator": "union", "options": {"member": ODD + "2", "labels": {"one": CELL}}}
    assert made(union, one=one, two=one)[0][ODD + "2"] == CELL
    pivot = {"rows": ["n"], "column": ODD, "value": "n"}
    assert made({"operator": "pivot", "options": pivot}, one=one)[0][CELL] == "1"
    unpivot = {"keep": ["n"], "name": ODD + "3", "value": ODD + "4"}
    rows = made({"operator": "unpivot", "options": unpivot}, one=one)
    assert rows[0] == {"n": "1", ODD + "3": ODD, ODD + "4": CELL}
    convert = {"conversions": [{"to": "number", "column": ODD, "remove": ["'", "x' OR"]}]}
    assert made({"operator": "convert", "options": convert}, one=one)[0][ODD] is None


def test_ids_of_families_are_labels_and_nothing_else():
    ids = [f"lake/{CELL} {year}" for year in (2019, 2020)]
    tables = {one: texts(n=["1"]) for one in ids}
    given = read_state({"sources": [{"name": "s", "table_ids": ids}]})
    found = probe("SELECT member FROM s ORDER BY 1", given, ArrowRelations(tables))
    assert found.rows == (("2019",), ("2020",))
    whole = as_script(given, dict.fromkeys(ids, "'x.csv'"))
    compile(whole, "script", "exec")


def test_a_name_of_a_table_cannot_end_the_script():
    odd = '"""\nimport os; os.abort()\n"""'
    given = read_state({"sources": [{"name": "s", "file": odd}],
                        "queries": [{"name": "q", "sql": f"SELECT '{odd}' AS x"}]})  # fmt: skip
    text = as_script(given, {odd: odd})
    assert "\nimport os" not in text
    compile(text, "script", "exec")


BOUNDS = [
    ("SELECT count(*) AS n FROM one a JOIN one b ON a.n + b.n > 0 JOIN one c ON c.n + b.n > 0",
     {"seconds": 1.0}, "more than 1 s"),
    ("SELECT lpad('x', 900, 'y') AS x FROM one", {"result_bytes": 100_000}, "100,000 bytes"),
    ("SELECT sum(n) AS s FROM one", {"input_bytes": 1_000}, "more than 1,000 bytes"),
]  # fmt: skip


@pytest.mark.timeout(120)  # the first would take hours
@pytest.mark.parametrize(("sql", "bounds", "said"), BOUNDS)
def test_what_is_too_much_ends_and_says_so(sql, bounds, said):
    one = pa.table({"n": range(1, 30_000)})
    with pytest.raises(StepFailedError, match=said):
        made({"operator": "sql", "code": sql}, MakeBounds(statement=RunBounds(**bounds)), one=one)


def test_what_comes_from_large_cells_into_this_process_is_bounded():
    """Reading JSON, and comparing texts, holds up all other threads."""
    tables = Tables(MakeBounds())
    tables.put("t", InHand(pa.table({"c": [f"{n:03}{'x' * 100_000}" for n in range(200)]})))
    shown = tables.rows(tables.check("SELECT c FROM t", ["t"], 200))
    assert (len(shown.rows), shown.more) == (100, True)
    with pytest.raises(SqlStoppedError, match="too large together"):
        tables.ask("SELECT c FROM t", ["t"], 200)
    assert {len(one) for one in values_of("t", "c", tables)} == {60}
    sql = f"SELECT count(*) AS n FROM t WHERE c = '{'x' * 10_000}'"
    told = findings_of(tables.check(sql, ["t"]), "s", tables)
    assert "literal not found" in {one.rule for one in told}


def test_queries_see_t_alone():
    given = read_state({"queries": [
        {"name": "a", "sql": "SELECT * FROM s"}, {"name": "b", "sql": "SELECT * FROM '/etc/passwd'"}
    ], "sources": [{"name": "s", "table_ids": ["s"]}]})  # fmt: skip
    found = list(run_queries(given, {"t": pa.table({"n": [1]})}))
    assert [one.rows for one in found] == [(), ()]
    assert ["none of the tables it may read" in one.findings[0].text for one in found] == [True] * 2
