"""What PostgreSQL makes its source say when it refuses a table or is restarted, rules or none."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from pneuma_assets.core.config.sections import PrivacyConfig
from pneuma_assets.core.errors import AccessRefusedError, TableReadError
from pneuma_assets.core.sources.base import Source
from pneuma_assets.core.sources.privacy.source import open_private
from tests.support.postgresql_process import Server
from tests.support.sql_database import Database, listed

pytestmark = pytest.mark.integration

RULES = {"none": PrivacyConfig(), "some": PrivacyConfig(hidden_columns=["*ssn*"])}


@pytest.fixture
def owner(postgresql_server: Server) -> Database:
    database = Database(postgresql_server.superuser_url)
    database.run(
        "CREATE TABLE people AS SELECT g AS id, repeat('x', 500) AS note"
        " FROM generate_series(1, 60000) g",
        "GRANT SELECT ON people TO pneuma",
    )
    return database


@pytest.fixture(params=RULES)
def source(postgresql_server: Server, owner: Database, request) -> Iterator[Source]:
    url = Database(postgresql_server.url).url.set(database=owner.url.database)
    reader = Database(url.render_as_string(hide_password=False))
    config = reader.config().model_copy(update={"privacy": RULES[request.param]})
    with closing(open_private(config, reader.environ)) as source:
        yield source


def test_a_missing_grant_is_named(source, owner):
    ref = listed(source)["public/people"]
    owner.run("REVOKE SELECT ON people FROM pneuma")
    with pytest.raises(AccessRefusedError, match="grant its user SELECT on it and USAGE") as caught:
        source.profile(ref)
    assert ref.location in str(caught.value)


def test_words_that_come_with_a_refusal_are_not_repeated_where_they_may_quote(source, owner):
    owner.run(
        "CREATE FUNCTION peep() RETURNS int LANGUAGE plpgsql AS $$ BEGIN"
        " RAISE insufficient_privilege USING MESSAGE = 'secret1'; END $$",
        "CREATE VIEW told AS SELECT peep() AS ssn",
        "GRANT SELECT ON told TO pneuma",
    )
    ref = listed(source)["public/told"]
    with pytest.raises(AccessRefusedError, match="grant its user SELECT") as caught:
        source.profile(ref)
    assert ("secret1" in str(caught.value)) is (not source.rules.hide_anything)


@pytest.mark.slow
def test_a_server_that_is_restarted_is_named_and_reached_again(source, postgresql_server):
    ref = listed(source)["public/people"]
    batches = source.scan(ref, 1000)
    next(batches)
    postgresql_server.kill()
    with pytest.raises(TableReadError, match=r"the connection was lost.*run again") as caught:
        list(batches)
    assert "view" not in str(caught.value)
    with pytest.raises(TableReadError, match="check that the server runs") as caught:
        source.sample(ref, 5, 0)
    assert "view" not in str(caught.value)
    postgresql_server.restart()
    assert source.profile(ref).row_count == 60000
