"""One small deployment for all tests of the server, which change nothing that others see."""

import pytest

from tests.support.doors import use_word_encoder
from tests.support.served_home import client_of, guarded_app, local_app, make_home


@pytest.fixture(scope="session")
def deployment(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        use_word_encoder(patch)
        yield make_home(tmp_path_factory.mktemp("served"))


@pytest.fixture(scope="session")
def app(deployment):
    return local_app(deployment)


@pytest.fixture(scope="session")
def client(app):
    with client_of(app) as one:
        yield one


@pytest.fixture
def guarded(deployment):
    return guarded_app(deployment)
