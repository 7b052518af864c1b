"""What a deployment file wants of a real PostgreSQL, and what of it is not there."""

from contextlib import closing

import pytest

from pneuma_assets.core.errors import SourceError
from tests.support.sql_database import Database, listed

pytestmark = pytest.mark.integration


@pytest.fixture
def database(postgresql_database):
    database = Database(postgresql_database)
    database.run(
        "CREATE SCHEMA restaurants",
        "CREATE TABLE restaurants.menu (n int)",
        "CREATE TABLE restaurants.staff (n int)",
        "CREATE SCHEMA empty",
    )
    return database


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        (
            {"include": ["restaurant.*"]},
            r"include matches none of the 2 tables, such as restaurants\.menu; "
            r"did you mean restaurants\.\*\?",
        ),
        ({"exclude": ["*.*"]}, "exclude leaves none of the 2 tables"),
        ({"schemas": ["restaurant"]}, "schemas name restaurant, which is not there; did you mean "),
        ({"schemas": ["restaurants", "sails"]}, "schemas name sails, which is not there; correct"),
        ({"schemas": ["empty"]}, "schemas name none of the 2 tables"),
        ({"schemas": ["restaurants"], "include": ["menu"]}, "include matches none of the 2 tables"),
    ],
)
def test_what_lets_nothing_through_is_an_error(database, keys, said):
    with (
        closing(database.config(**keys).open(database.environ)) as source,
        pytest.raises(SourceError, match=said),
    ):
        source.list_tables()


def test_a_schema_without_tables_is_none_beside_others(database):
    with closing(
        database.config(schemas=["restaurants", "empty"]).open(database.environ)
    ) as source:
        assert listed(source).keys() == {"restaurants/menu", "restaurants/staff"}
        database.run("DROP SCHEMA restaurants CASCADE", "CREATE SCHEMA restaurants")
        assert not listed(source)


def test_one_database_that_is_not_there_is_an_error_of_the_whole_source(database):
    names = [database.url.database, "nowhere"]
    with (
        closing(database.config(databases=names).open(database.environ)) as source,
        pytest.raises(
            SourceError, match=r'"nowhere" does not exist; .* the names of its databases'
        ),
    ):
        source.list_tables()
