"""One site and one browser for the tests of the pages; who edits something undoes it."""

import pytest

from tests.support.indexed_home import make_home
from tests.support.web_site import LAKE, browsing, local_site, new_page


@pytest.fixture(scope="session")
def made_site(tmp_path_factory):
    return make_home(tmp_path_factory.mktemp("site"), LAKE)


@pytest.fixture(scope="module")
def words(small_encoder, read_here):
    """No model is loaded, and sources are read in this process, within these modules alone."""


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
