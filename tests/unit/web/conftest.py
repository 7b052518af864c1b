"""One small deployment for all tests of the server, which change nothing that others see."""

import pytest

from tests.support.indexed_home import make_home
from tests.support.served_home import FILE, LAKE, client_of, guarded_app, local_app


@pytest.fixture(scope="session")
def indexed(tmp_path_factory):
    return make_home(tmp_path_factory.mktemp("served"), LAKE, FILE)


@pytest.fixture(scope="module")
def deployment(indexed, small_encoder, read_here):
    """The file; no model is loaded, and sources are read in this process."""
    return indexed


@pytest.fixture(scope="module")
def app(deployment):
    return local_app(deployment)


@pytest.fixture(scope="module")
def client(app):
    with client_of(app) as one:
        yield one


@pytest.fixture
def guarded(deployment):
    return guarded_app(deployment)
