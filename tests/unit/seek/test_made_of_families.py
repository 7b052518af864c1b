"""Steps over families, steps of Python, and what is read and kept of tables that exist."""

import pyarrow as pa
import pytest

from pneuma_assets.core.sandbox.run import why_unavailable
from pneuma_assets.core.seek.materialize import materialize, probe
from pneuma_assets.core.seek.operators import code
from pneuma_assets.core.seek.results import BOUNDS, MakeBounds, StepFailedError
from pneuma_assets.core.seek.skeptic.before_making import check
from pneuma_assets.core.seek.state import read_state
from tests.support.arrow_relations import ArrowRelations, state_of, texts

YEARS = [f"lake/rain_{year}" for year in range(2001, 2023)]


def family():
    tables = {
        one: texts(day=["1", "2"], rain=[at, "n/a" if at == 7 else 2], hidden=["x", "y"])
        for at, one in enumerate(YEARS)
    }
    tables[YEARS[0]] = tables[YEARS[0]].append_column("member", pa.array(["a", "b"]))
    types = {one: {"day": "BIGINT", "rain": "VARCHAR" if at == 7 else "BIGINT"}
             for at, one in enumerate(YEARS)}  # fmt: skip
    return ArrowRelations(tables, types)


def sql(code, *reads, makes="t"):
    return {"operator": "sql", "reads": reads, "makes": makes, "code": code}


def test_22_yearly_files_are_one_table_and_only_what_is_read_is_asked_for():
    relations = family()
    step = sql("SELECT table_member AS year, sum(day) AS days FROM rain GROUP BY 1", "rain")
    (made,) = materialize(state_of(step, rain=YEARS), relations)
    assert made.rows.num_rows == 22
    assert made.rows.sort_by("year").to_pylist()[0] == {"year": "2001", "days": 3}
    assert {columns for _, columns in relations.reads} == {("day",)}
    told = {one.rule: one.text for one in made.findings}
    assert (
        "'rain' is BIGINT in 21, VARCHAR in 1 of the tables, such as '2008'" in told["types differ"]
    )
    assert "'member' is NULL in 21 of 22 tables" in told["columns differ"]


@pytest.mark.slow
def test_a_statement_over_22_tables_is_checked_whole():
    years = {f"y{at}": pa.table({"n": [at], "m": [0]}) for at in range(22)}
    parts = [f"SELECT n / m AS r FROM {one} WHERE n <> 99" for one in years]
    step = sql(" UNION ALL ".join(parts), *years)
    state = state_of(step, **{one: [one] for one in years})
    (made,) = materialize(state, ArrowRelations(years))
    assert made.rows.num_rows == 22
    assert [one.rule for one in made.findings].count("denominator") == 22
    assert {one.rule for one in check(state, ArrowRelations(years))} == {"denominator"}


@pytest.mark.slow
def test_a_member_that_lacks_what_is_read_keeps_its_rows_and_its_other_columns():
    tables = {"s/1": pa.table({"a": [1, 2]}), "s/2": pa.table({"b": [3], "a": [4]})}
    code = "SELECT sum(b) AS b, count(*) AS n FROM s WHERE b IS NULL OR b > 0"
    steps = (sql(code, "s", makes="first"), sql("SELECT sum(a) AS a FROM s", "s"))
    (made,) = materialize(state_of(*steps, s=list(tables)), ArrowRelations(tables))
    assert made.rows.to_pydict() == {"a": [7]}


@pytest.mark.slow
def test_many_members_are_read_in_several_statements():
    many = {f"s/part_{at:03}": pa.table({"n": [at]}) for at in range(120)}
    many["s/part_003"] = texts(n=["x"])
    found = probe("SELECT count(*), count(DISTINCT member), max(n) FROM parts",
                  state_of(sql("SELECT n FROM parts", "parts"), parts=list(many)),
                  ArrowRelations(many))  # fmt: skip
    assert found.rows == ((120, 120, "x"),)


@pytest.mark.slow
def test_rows_are_kept_between_statements_where_there_is_room():
    tables = {"a": pa.table({"n": range(5), "m": range(5)})}
    step = sql("SELECT sum(n) / count(*) AS r FROM a WHERE m > 2", "a")
    for room, times in ((1 << 20, 1), (10, 2)):
        relations = ArrowRelations(tables)
        (made,) = materialize(
            state_of(step, a=["a"]), relations, bounds=MakeBounds(kept_bytes=room)
        )
        assert made.rows.to_pydict() == {"r": [3.5]}
        assert len(relations.reads) == times


@pytest.mark.slow
def test_each_table_is_made_behind_those_that_it_is_made_of():
    given = read_state(
        {
            "sources": [{"name": "a", "table_ids": ["a"]}],
            "tables": [
                {"name": "third", "steps": [sql("SELECT n FROM second", "second", makes="third")]},
                {"name": "first", "steps": [sql("SELECT n FROM a", "a", makes="first")]},
                {"name": "second", "steps": [sql("SELECT n FROM First", "first", makes="second")]},
            ],
        }
    )
    made = list(materialize(given, ArrowRelations({"a": pa.table({"n": [1]})})))
    assert [one.table for one in made] == ["first", "second", "third"]
    assert made[-1].rows.to_pydict() == {"n": [1]}


PYTHON = {"operator": "python", "reads": ["a"], "makes": "t", "code": "result = a[a.n > 1]"}


@pytest.mark.skipif(why_unavailable() is not None, reason=f"no sandbox: {why_unavailable()}")
class TestPython:
    def test_it_makes_a_table_that_sql_goes_on_with(self):
        steps = (
            {**PYTHON, "makes": "p", "code": "result = a.assign(w=a.name.str.upper())"},
            sql("SELECT w, n + 1 AS m FROM p ORDER BY n", "p"),
        )
        relations = ArrowRelations({"a": texts(name=["x", "y"], n=[1, 2])}, {"a": {"n": "BIGINT"}})
        (made,) = materialize(state_of(*steps, a=["a"]), relations)
        assert made.rows.to_pydict() == {"w": ["X", "Y"], "m": [2, 3]}

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("program", "said"),
        [
            ("result = a.nothing", "AttributeError (line 1)"),
            ("result = pd.DataFrame({'n': [np.nothing]})", "has no attribute 'nothing'"),
            ("x = 1", "assign the table"),
            ("result = {'x': a, 'y': a}", "result is 2 tables"),
            ("open('/etc/passwd')", "PermissionError"),
        ],
    )
    def test_what_fails_is_told_with_its_line_and_what_it_reads(self, program, said):
        relations = ArrowRelations({"a": pa.table({"n": [1]})})
        with pytest.raises(StepFailedError) as caught:
            list(materialize(state_of({**PYTHON, "code": program}, a=["a"]), relations))
        assert said in str(caught.value)
        assert "It reads a (n BIGINT)" in str(caught.value)


def test_where_nothing_confines_python_it_is_refused_and_sql_goes_on(monkeypatch):
    monkeypatch.setattr(code, "why_unavailable", lambda: "the kernel lacks Landlock")
    relations = ArrowRelations({"a": pa.table({"n": [1, 2]})})
    with pytest.raises(StepFailedError, match="lacks Landlock; use SQL"):
        list(materialize(state_of(PYTHON, a=["a"]), relations))
    (finding,) = check(state_of(PYTHON, a=["a"]), relations)
    assert "lacks Landlock" in finding.text
    (made,) = materialize(state_of(sql("SELECT n FROM a", "a"), a=["a"]), relations, bounds=BOUNDS)
    assert made.rows.num_rows == 2
    monkeypatch.setattr(code, "installed", lambda *_: False)
    with pytest.raises(StepFailedError, match=r"pneuma-assets\[seek\]"):
        list(materialize(state_of(PYTHON, a=["a"]), relations))
