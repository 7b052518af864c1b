"""Who may read tables, as a deployment names them; and the names of who asks."""

from pathlib import Path

import duckdb
import pytest

from pneuma_assets.core.access_names import MOST_NAMES, names_of_asker
from pneuma_assets.core.config.small_sections import LimitsConfig
from pneuma_assets.core.errors import QueryError
from pneuma_assets.core.sources.base import Listing
from pneuma_assets.core.sources.filters import granted
from pneuma_assets.core.sources.isolation.source import IsolatedSource
from pneuma_assets.core.sources.kinds.duckdb import DuckDBSourceConfig
from pneuma_assets.core.sources.kinds.folder import FolderSourceConfig
from pneuma_assets.core.tables import TableRef

REF = TableRef("w/t", "w", "t", "table", "1")


def listed(readers: tuple[str, ...] | None, *, default: tuple[str, ...] | None = None):
    config = FolderSourceConfig(type="folder", name="w", path=Path("/x"), readers=default)
    told = TableRef(*(REF.table_id, "w", "t", "table", "1"), readers=readers)
    (found,) = granted(Listing((told,)), config).tables
    return found.readers


def test_roles_have_the_name_of_their_source_and_a_table_without_grants_its_readers():
    assert listed(("finance_ro", "hr/eu")) == ("w/finance_ro", "w/hr/eu")
    assert listed(()) == ()
    assert listed(None) is None
    assert listed(None, default=("finance", "v/analyst")) == ("finance", "v/analyst")
    assert listed((), default=("finance",)) == ()
    assert listed(("a",), default=("finance",)) == ("w/a",)


def test_every_source_is_listed_so(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    config = FolderSourceConfig(type="folder", name="w", path=tmp_path, readers=("finance",))
    source = IsolatedSource(config, {}, LimitsConfig())
    try:
        (ref,) = source.list_tables().tables
    finally:
        source.close()
    assert ref.readers == ("finance",)


def test_what_dbt_makes_while_it_builds_is_left_out_and_named_once(tmp_path):
    names = (
        "t",
        "t__dbt_tmp",
        "t__dbt_backup",
        "T__DBT_TMP20240102",
        "t__dbt_tmp_notes",
        "dbt_tmp",
    )
    with duckdb.connect(str(tmp_path / "w.duckdb")) as connection:
        for name in names:
            connection.execute(f'CREATE OR REPLACE TABLE "{name}" AS SELECT 1 AS n')
    config = DuckDBSourceConfig(type="duckdb", name="w", path=tmp_path / "w.duckdb")
    source = IsolatedSource(config, {}, LimitsConfig())
    try:
        listing = source.list_tables()
    finally:
        source.close()
    left = [ref.table_id for ref in listing.tables]
    assert left == ["w/main/dbt_tmp", "w/main/t", "w/main/t__dbt_tmp_notes"]
    (problem,) = listing.problems
    assert (problem.subject, problem.stage) == ("w/main/T__DBT_TMP20240102", "listing")
    assert "such tables left out: 3" in problem.cause


def test_a_file_that_is_called_like_what_dbt_makes_is_a_table(tmp_path):
    (tmp_path / "x__dbt_tmp.csv").write_text("a,b\n1,2\n")
    config = FolderSourceConfig(type="folder", name="w", path=tmp_path)
    source = IsolatedSource(config, {}, LimitsConfig())
    try:
        listing = source.list_tables()
    finally:
        source.close()
    assert [ref.table_id for ref in listing.tables] == ["w/x__dbt_tmp"]
    assert not listing.problems


def test_whom_a_source_knows_has_what_everybody_has_there():
    assert names_of_asker(["ana", "w/x", "w/y", "v/z/1", "ana"]) == (
        *("ana", "w/x", "w/y", "v/z/1"),
        *("w/public", "v/public"),
    )
    assert names_of_asker([]) == ()


@pytest.mark.parametrize(
    "names", [[""], [" \t"], ["x" * 1001], ["x"] + [str(n) for n in range(1000)]]
)
def test_what_is_no_name_is_refused(names):
    assert MOST_NAMES == 1000
    with pytest.raises(QueryError):
        names_of_asker(names)
