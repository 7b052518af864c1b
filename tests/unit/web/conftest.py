"""One small deployment for all tests of the server, which change nothing that others see."""

import pytest

from tests.support.doors import use_word_encoder
from tests.support.served_home import client_of, guarded_app, local_app, make_home


@pytest.fixture(scope="session")
def indexed(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        use_word_encoder(patch)
        return make_home(tmp_path_factory.mktemp("served"))


@pytest.fixture(scope="module")
def deployment(indexed):
    """The file; what is patched is so within these modules alone."""
    with pytest.MonkeyPatch.context() as patch:
        use_word_encoder(patch)
        yield indexed


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
