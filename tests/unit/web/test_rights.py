"""Users x tables over HTTP, on the embedded engine."""

import pytest

from tests.support.indexed_home import make_home
from tests.support.served_home import FILE, LAKE
from tests.support.served_rights import check_hidden_is_absent, check_nothing_is_told, users_of


@pytest.fixture(scope="module")
def users(tmp_path_factory, small_encoder, read_here):
    with users_of(make_home(tmp_path_factory.mktemp("rights"), LAKE, FILE)) as every:
        yield every


def test_nothing_is_told_of_what_somebody_may_not_see(users, caplog):
    check_nothing_is_told(users, caplog)


def test_a_hidden_table_is_as_one_that_never_was(users):
    check_hidden_is_absent(users)
