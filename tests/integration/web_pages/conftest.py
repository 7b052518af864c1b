"""One site and one browser for the tests of the pages; who edits something undoes it."""

from contextlib import contextmanager

import pytest

from tests.support.doors import use_word_encoder
from tests.support.reading import reading_here
from tests.support.web_site import LAKE, browsing, local_site, make_site, new_page


@contextmanager
def _words():
    with reading_here(), pytest.MonkeyPatch.context() as patch:
        use_word_encoder(patch)
        yield


@pytest.fixture(scope="session")
def made_site(tmp_path_factory):
    with _words():
        return make_site(tmp_path_factory.mktemp("site"), LAKE)


@pytest.fixture(scope="module")
def words():
    """No model is loaded, and sources are read in this process, within these modules alone."""
    with _words():
        yield


@pytest.fixture(scope="module")
def site(words, made_site):
    """The address of a site that one person uses, who may do all."""
    with local_site(made_site) as address:
        yield address


@pytest.fixture(scope="module")
def browser():
    with browsing() as one:
        yield one


@pytest.fixture
def page(browser, site):
    with new_page(browser, site, viewport={"width": 1280, "height": 900}) as one:
        yield one
