"""Statements that no model may get to run: each is refused by the guard that is there for it."""

import pytest

from pneuma_assets.core.answers.guard import checked
from pneuma_assets.core.errors import SqlRefusedError
from tests.support.hostile_sql import HOSTILE, TABLES

CASES = [(case, dialect) for case in HOSTILE for dialect in case.holds]


@pytest.mark.parametrize(
    ("case", "dialect"), CASES, ids=lambda one: repr(getattr(one, "sql", one))[:60]
)
def test_a_guard_refuses_it(case, dialect):
    sql = case.sql.format(file="/secrets/file.csv", folder="/secrets")
    with pytest.raises(SqlRefusedError) as caught:
        checked(sql, TABLES, dialect, 10)
    assert (caught.value.guard, len(str(caught.value)) < 400) == (case.guard, True)
    assert "\n" not in str(caught.value)
