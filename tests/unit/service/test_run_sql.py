"""A person's own statement: what it may read, under which names, for whom."""

import pytest

from pneuma_assets.core.errors import ConfigError, QueryError, SqlRefusedError
from pneuma_assets.core.index.base import IndexFilter
from pneuma_assets.workspace import open_workspace
from tests.support.indexed_home import make_home

FILES = {
    "a/2019/sales.csv": "day,sum\n1,10\n2,20\n",
    "a/2020/sales.csv": "day,sum\n1,30\n",
    "b/secret.csv": "code\n7\n",
}
FILE = """
home: home
sources:
  - {type: folder, name: a, path: a}
  - {type: folder, name: b, path: b, readers: [boss]}
"""
OLD, NEW, SECRET = "a/2019/sales", "a/2020/sales", "b/secret"


@pytest.fixture(scope="module")
def workspace(tmp_path_factory, small_encoder, read_here):
    file = make_home(tmp_path_factory.mktemp("run"), FILES, FILE)
    with open_workspace(config=file) as one:
        yield one


def rows(workspace, sql, tables, readers=None):
    return workspace.run_sql(sql, tables, where=IndexFilter(readers=readers)).rows


@pytest.mark.parametrize(
    ("sql", "tables", "given"),
    [
        ("SELECT max(sum) FROM sales", [OLD], 20),
        ("SELECT max(sum) FROM sales_2019", [OLD], 20),  # as an answer beside the other calls it
        ("SELECT max(sum) FROM sales_2020", [OLD, NEW], 30),
        ("SELECT count(*) FROM sales_2019 JOIN sales_2020 USING (day)", [OLD, NEW], 1),
        ("WITH s AS (SELECT * FROM sales_2019) SELECT max(sum) FROM s", [OLD], 20),
    ],
)
def test_tables_are_called_as_answers_call_them(workspace, sql, tables, given):
    [[cell]] = rows(workspace, sql, tables)
    assert int(cell) == given


@pytest.mark.parametrize("sql", ["SELECT * FROM other", "SELECT * FROM sale", "SELECT * FROM b"])
def test_no_other_name_stands_for_a_table(workspace, sql):
    with pytest.raises(SqlRefusedError):
        rows(workspace, sql, [OLD])


def test_a_hidden_table_has_the_words_of_one_that_there_is_not(workspace):
    assert int(rows(workspace, "SELECT code FROM secret", [SECRET], ("boss",))[0][0]) == 7
    said = []
    for name in (SECRET, "b/sacred"):
        with pytest.raises(ConfigError) as caught:
            rows(workspace, "SELECT code FROM secret", [name], ("eve",))
        said.append(str(caught.value).replace(name, "NAME"))
    assert said[0] == said[1]


@pytest.mark.parametrize("rows", [0, 10_001, True, "9"])
def test_rows_are_bounded(workspace, rows):
    with pytest.raises(QueryError, match="from 1 to 10,000"):
        workspace.run_sql("SELECT day FROM sales", [OLD], rows=rows)
    one = workspace.run_sql("SELECT day FROM sales", [OLD], rows=1)
    assert (len(one.rows), one.more) == (1, True)


@pytest.mark.parametrize(("sql", "tables"), [(1, [OLD]), ("SELECT 1", OLD), ("SELECT 1", [1])])
def test_what_is_no_text_is_refused(workspace, sql, tables):
    with pytest.raises(QueryError):
        rows(workspace, sql, tables)
