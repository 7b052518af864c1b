"""One site and one browser for the tests of the pages; who edits something undoes it."""

import pytest

from tests.support.doors import use_word_encoder
from tests.support.reading import reading_here
from tests.support.web_site import LAKE, browsing, local_site, make_site, new_page


@pytest.fixture(scope="package")
def words():
    """No model is loaded, and sources are read in this process."""
    with reading_here(), pytest.MonkeyPatch.context() as patch:
        use_word_encoder(patch)
        yield


@pytest.fixture(scope="package")
def site(words, tmp_path_factory):
    """The address of a site that one person uses, who may do all."""
    file = make_site(tmp_path_factory.mktemp("site"), LAKE)
    with local_site(file) as address:
        yield address


@pytest.fixture(scope="package")
def browser():
    with browsing() as one:
        yield one


@pytest.fixture
def page(browser, site):
    with new_page(browser, site, viewport={"width": 1280, "height": 900}) as one:
        yield one
