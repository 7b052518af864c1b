"""Under which names a table is searched."""

import pytest

from pneuma_assets.core.sources.names import escape_segment
from pneuma_assets.core.tables import Column, Table, TableTerms
from pneuma_assets.core.terms.collect import names_of, table_terms


def test_names_columns_and_what_was_gathered():
    table = Table("lake/hr/payroll_march", (Column("empName", "VARCHAR"),), 1, "/lake")
    gathered = TableTerms(rows=(("Jon",),), cells=("Ann",))
    assert table_terms(table, gathered) == TableTerms(
        names=("lake", "hr", "payroll_march"),
        columns=("empName",),
        rows=(("Jon",),),
        cells=("Ann",),
    )
    assert table_terms(table, TableTerms()).rows == ()


@pytest.mark.parametrize("name", ["100%", "a/b", "line\nbreak", "\u202eevil", "é 表", "a b"])
def test_names_are_as_people_wrote_them(name):
    assert names_of(f"lake/{escape_segment(name)}") == ("lake", name)


def test_bytes_that_are_no_text_do_no_harm():
    (_, name) = names_of(f"lake/{escape_segment('caf' + chr(0xDCE9))}")
    assert name == "caf\ufffd"
