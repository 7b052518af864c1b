"""What is said where nothing is indexed, a part is away, or a question failed."""

import pytest

from pneuma_assets.core.errors import ModelError
from tests.support.indexed_home import ONE_FOLDER, make_home
from tests.support.waiting import wait_until
from tests.support.web_site import LAKE, local_site, new_page
from tests.support.word_encoder import DOORS

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def empty(words, tmp_path_factory):
    """The file and the address of a deployment of which nothing is indexed."""
    file = tmp_path_factory.mktemp("empty") / "pneuma.yaml"
    file.write_text(ONE_FOLDER)
    with local_site(file) as site:
        yield file, site


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("/", "No tables yet"),
        ("/?q=rain", "No tables yet"),
        ("/status", "Nothing is indexed yet"),
        ("/failing", "No question has failed yet."),
    ],
)
def test_where_nothing_is_indexed_it_says_what_to_do(browser, empty, address, says):
    file, site = empty
    with new_page(browser, site) as page:
        page.goto(address)
        shown = page.locator("main").inner_text()
        assert says in shown
        if address != "/failing":  # whoever reads it gave no options to a command
            assert f"--home {file.parent / 'home'} --config {file} index" in shown


def test_a_part_that_is_away_is_named_beside_what_is_found(browser, words, tmp_path, monkeypatch):
    file = make_home(tmp_path, {name: LAKE[name] for name in ("lake/climate/rain.csv",)})

    def away(*_: object) -> object:
        raise ModelError("the encoder's weights cannot be read")

    for door in DOORS:
        monkeypatch.setattr(door, away)
    with local_site(file) as site, new_page(browser, site) as page:
        page.goto("/?q=rain at Kiel")
        assert page.locator("#results article h3").first.inner_text() == "rain"
        missing = page.locator(".notice.warn").first.inner_text()
        assert "Something is missing from this answer" in missing
        assert "Encoder" in missing
        assert "by words alone" in missing


def test_a_question_that_no_table_answers_fails_until_a_table_is_opened(page):
    row = page.get_by_role("row", name="blood pressure of astronauts")

    def listed() -> int:
        page.goto("/failing")
        return row.count()

    page.goto("/?q=blood pressure of astronauts")
    wait_until(listed, "it is noted")
    assert "refused" in row.inner_text()
    page.goto("/tables/lake/climate/rain?q=blood pressure of astronauts")
    wait_until(lambda: not listed(), "it is settled")
