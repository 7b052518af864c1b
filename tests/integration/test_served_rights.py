"""Users x tables over HTTP, on Elasticsearch."""

import pytest

from tests.support.indexed_home import make_home
from tests.support.served_home import FILE, LAKE
from tests.support.served_rights import check_hidden_is_absent, check_nothing_is_told, users_of

pytestmark = pytest.mark.integration


@pytest.fixture
def users(tmp_path, elasticsearch_url, index_name, small_encoder):
    index = f"index: {{engine: elasticsearch, elasticsearch: {{urls: [{elasticsearch_url}], "
    index += f"name: {index_name}, replicas: 0}}}}\n"
    with users_of(make_home(tmp_path, LAKE, FILE + index)) as every:
        yield every


def test_nothing_is_told_of_what_somebody_may_not_see(users, caplog):
    check_nothing_is_told(users, caplog)
    check_hidden_is_absent(users)
