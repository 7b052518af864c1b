"""Who may read a table of PostgreSQL, as a listing tells, against what the server lets them do."""

import secrets
from collections.abc import Iterator
from contextlib import closing

import psycopg
import pytest

from pneuma_assets.core.errors import AccessRefusedError, SourceError
from pneuma_assets.core.sources.base import Source
from pneuma_assets.core.sources.privacy.source import open_private
from pneuma_assets.core.sources.sql.rows import ROWS_HIDDEN
from tests.support.postgresql_process import Server
from tests.support.postgresql_server import new_database
from tests.support.sql_database import VARIABLE, Database, listed

pytestmark = pytest.mark.integration

PASSWORD = "hunter2"


PEOPLE = ("ann", "bob", "cid", "dora")
"""Who log in: granted something by name, by a group, by a group's group, and not at all."""


@pytest.fixture(scope="module")
def server(postgresql: Server) -> Server:
    """The server, where these people are known."""
    Database(postgresql.superuser_url).run(
        "CREATE ROLE staff",
        "CREATE ROLE sales",
        *(f"CREATE ROLE {name} LOGIN PASSWORD '{PASSWORD}'" for name in PEOPLE),
        "GRANT staff TO sales",
        "GRANT staff TO bob",
        "GRANT sales TO cid",
        "CREATE ROLE seer BYPASSRLS",
    )
    return postgresql


@pytest.fixture
def database(server: Server) -> Iterator[Database]:
    with new_database(server.superuser_url) as url:
        database = Database(url)
        database.run(
            "CREATE SCHEMA hr",
            "GRANT USAGE ON SCHEMA hr TO staff",
            "CREATE TABLE hr.pay (n int)",
            "GRANT SELECT ON hr.pay TO staff, ann",
            "CREATE TABLE hr.open (n int)",
            "GRANT SELECT ON hr.open TO PUBLIC",
            "CREATE TABLE news (n int)",
            "GRANT SELECT ON news TO PUBLIC",
            "CREATE TABLE mine (n int)",
            "ALTER TABLE mine OWNER TO dora",
            "CREATE TABLE rows (n int)",
            "ALTER TABLE rows ENABLE ROW LEVEL SECURITY",
            "CREATE POLICY above ON rows USING (n > 1)",
            "GRANT ALL ON rows TO PUBLIC",
            "CREATE TABLE part (n int, m int)",
            "GRANT SELECT (n) ON part TO ann",
        )
        yield database


def test_readers_are_those_whom_the_server_lets_read_all_of_it(database):
    with closing(database.config().open(database.environ)) as source:
        refs = listed(source)
    assert refs["public/news"].readers is None
    for table, ref in refs.items():
        if ref.readers is None:
            assert table == "public/news"
            continue
        may = {name for name in PEOPLE if _may_read(database, name, table.replace("/", "."))}
        if table == "public/rows":
            may = set()  # They read some of its rows, and must not find the others.
        assert set(ref.readers) & set(PEOPLE) == may, table
    assert set(refs["hr/pay"].readers) == {"postgres", "staff", "sales", "bob", "cid"}


def test_row_level_security_leaves_those_whom_it_does_not_bind(database):
    for table in ("own", "forced"):
        database.run(
            f"CREATE TABLE {table} (n int)",
            f"ALTER TABLE {table} OWNER TO dora",
            f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY",
            f"GRANT SELECT ON {table} TO PUBLIC",
        )
    database.run("ALTER TABLE forced FORCE ROW LEVEL SECURITY")
    with closing(database.config().open(database.environ)) as source:
        refs = listed(source)
    assert set(refs["public/own"].readers) == {"dora", "postgres", "seer"}
    assert set(refs["public/forced"].readers) == {"postgres", "seer"}


def test_rows_that_a_policy_may_hide_are_told_to_be_missing(database):
    database.run(
        "INSERT INTO rows VALUES (1), (0)",
        "CREATE TABLE all_shown (n int)",
        "CREATE VIEW of_owner AS SELECT * FROM rows",
        "CREATE VIEW of_asker WITH (security_invoker) AS SELECT * FROM rows",
        "CREATE VIEW of_ann AS SELECT * FROM rows",
        "ALTER VIEW of_ann OWNER TO ann",
        "GRANT SELECT ON all_shown, of_owner, of_asker, of_ann TO ann",
    )
    found = {}
    for user, password in (("ann", PASSWORD), (None, database.environ[VARIABLE])):
        with closing(database.config(user).open({VARIABLE: password})) as source:
            refs = listed(source)
            for name in ("rows", "all_shown", "of_owner", "of_asker", "of_ann"):
                table = source.profile(refs[f"public/{name}"])
                found[user, name] = table.row_count, ROWS_HIDDEN in table.notes
    assert found == {
        ("ann", "rows"): (0, True),
        ("ann", "all_shown"): (0, False),
        ("ann", "of_owner"): (2, False),
        ("ann", "of_asker"): (0, True),
        ("ann", "of_ann"): (0, True),
        (None, "rows"): (2, False),
        (None, "all_shown"): (0, False),
        (None, "of_owner"): (2, False),
        (None, "of_asker"): (2, False),
        (None, "of_ann"): (0, True),
    }


def test_a_table_is_read_again_when_a_policy_may_hide_rows_of_it(database):
    with closing(database.config("ann").open({VARIABLE: PASSWORD})) as source:
        before = listed(source)["public/news"]
        database.run("ALTER TABLE news ENABLE ROW LEVEL SECURITY")
        after = listed(source)["public/news"]
    assert after.version != before.version


def test_a_view_shows_nobody_what_the_server_would_not_show_them(database):
    """Views that ask on behalf of whoever reads them, and views of rows that a policy decides on.

    Our own user reads them with rights that their readers do not have.
    """
    database.run(
        "GRANT CREATE ON SCHEMA public TO ann",
        "CREATE VIEW asking WITH (security_invoker = on) AS SELECT * FROM hr.pay",
        "CREATE VIEW twice WITH (security_invoker) AS SELECT * FROM asking",
        "CREATE VIEW through AS SELECT * FROM asking",
        "CREATE VIEW all_rows AS SELECT * FROM rows",
        "CREATE VIEW asked_rows WITH (security_invoker) AS SELECT * FROM rows",
        "CREATE VIEW her_rows AS SELECT * FROM rows",
        "ALTER VIEW her_rows OWNER TO ann",
        "CREATE VIEW of_hers AS SELECT * FROM her_rows",
        "GRANT SELECT ON asking, twice, through, all_rows, asked_rows, her_rows, of_hers TO PUBLIC",
    )
    with closing(database.config().open(database.environ)) as source:
        readers = {name: ref.readers for name, ref in listed(source).items()}
    for view in ("asking", "twice", "through"):
        may = {name for name in PEOPLE if _may_read(database, name, f"public.{view}")}
        assert may == {"ann", "bob", "cid"}
        # Who may not enter its schema reads the table through a view all the same.
        assert set(readers[f"public/{view}"]) & set(PEOPLE) == may
    # It asks for its owner, who reads all.
    assert all(_may_read(database, name, "public.all_rows") for name in PEOPLE)
    assert readers["public/all_rows"] is None
    for view in ("asked_rows", "her_rows", "of_hers"):
        assert set(readers[f"public/{view}"]) == {"postgres", "seer"}, view


def test_a_role_whose_name_is_no_text_hides_nothing_and_sees_nothing(server, database):
    with new_database(server.superuser_url, "SQL_ASCII") as url:
        Database(url).run_bytes(b'CREATE ROLE "caf\xe9"')
        try:
            database.run(
                "DO $$ BEGIN EXECUTE (SELECT 'GRANT SELECT ON mine TO ' || r.oid::regrole"
                " FROM pg_roles r WHERE r.rolname LIKE 'caf%'); END $$"
            )
            with closing(database.config().open(database.environ)) as source:
                assert listed(source)["public/mine"].readers == ("dora", "postgres")
        finally:
            database.run("DROP TABLE mine")
            Database(url).run_bytes(b'DROP ROLE "caf\xe9"')


def test_a_changed_grant_is_told_and_is_no_other_version(database):
    with closing(database.config().open(database.environ)) as source:
        before = listed(source)["hr/pay"]
        database.run("REVOKE SELECT ON hr.pay FROM staff")
        after = listed(source)["hr/pay"]
    assert set(after.readers) == {"postgres"}
    assert after.version == before.version


def test_what_our_user_may_not_read_is_listed_only_if_it_could_before(database):
    config = database.config("bob")
    with closing(config.open({"SHOP_PASSWORD": PASSWORD})) as source:
        refs = listed(source)
        assert refs.keys() == {"hr/pay", "hr/open", "public/news", "public/rows"}
        database.run("REVOKE SELECT ON hr.pay FROM staff")
        known = {(ref.location, ref.format): ref.table_id for ref in refs.values()}
        again = {ref.table_id: ref for ref in source.list_tables(known).tables}
        assert len(again) == 4
        lost = again["shop/hr/pay"]
        assert lost.version != refs["hr/pay"].version
        with pytest.raises(AccessRefusedError, match="permission denied for table pay"):
            source.profile(lost)
        assert list(source.list_tables(known).tables) == list(again.values())
        database.run("DROP TABLE hr.pay")
        assert len(source.list_tables(known).tables) == 3
        assert len(source.list_tables().tables) == 3


def test_a_wrong_password_is_explained_and_never_shown(database):
    wrong = secrets.token_hex(8)
    with (
        closing(database.config("ann").open({"SHOP_PASSWORD": wrong})) as source,
        pytest.raises(SourceError, match="password authentication failed") as caught,
    ):
        source.list_tables()
    assert "check that the server runs" in str(caught.value)
    assert wrong not in str(caught.value)


RULES = {"none": {}, "some": {"hidden_columns": ["*ssn*"]}}


@pytest.fixture(params=RULES)
def source(database: Database, request) -> Iterator[Source]:
    """What Ann reads of the database, with rules of privacy or none."""
    database.run("CREATE TABLE people AS SELECT 1 AS id", "GRANT SELECT ON people TO ann")
    config = database.config("ann", privacy=RULES[request.param])
    with closing(open_private(config, {VARIABLE: PASSWORD})) as source:
        yield source


def test_a_missing_grant_is_named(source, database):
    ref = listed(source)["public/people"]
    database.run("REVOKE SELECT ON people FROM ann")
    with pytest.raises(AccessRefusedError, match="grant its user SELECT on it and USAGE") as caught:
        source.profile(ref)
    assert ref.location in str(caught.value)


def test_words_that_come_with_a_refusal_are_not_repeated_where_they_may_quote(source, database):
    database.run(
        "CREATE FUNCTION peep() RETURNS int LANGUAGE plpgsql AS $$ BEGIN"
        " RAISE insufficient_privilege USING MESSAGE = 'secret1'; END $$",
        "CREATE VIEW told AS SELECT peep() AS ssn",
        "GRANT SELECT ON told TO ann",
    )
    ref = listed(source)["public/told"]
    with pytest.raises(AccessRefusedError, match="grant its user SELECT") as caught:
        source.profile(ref)
    assert ("secret1" in str(caught.value)) is (not source.rules.hide_anything)


def _may_read(database: Database, name: str, table: str) -> bool:
    url = database.url.set(drivername="postgresql", username=name, password=PASSWORD)
    with psycopg.connect(url.render_as_string(hide_password=False)) as connection:
        try:
            connection.execute(f"SELECT * FROM {table}")
        except psycopg.errors.InsufficientPrivilege:
            return False
    return True
