"""Search as people type, browse, share an address, and do all of that by keys alone."""

import re

import pytest

from tests.support.indexed_home import make_home
from tests.support.web_site import local_site, new_page, violations

pytestmark = pytest.mark.integration

RAIN = "rain at harbours of the Baltic"


def search_for(page, text: str) -> None:
    """Type a question, and wait until all of its results are there."""
    page.locator("#q").press_sequentially(text, delay=5)
    page.wait_for_function(
        "text => new URLSearchParams(location.search).get('q') === text"
        " && document.querySelector('#results').getAttribute('aria-busy') === 'false'",
        arg=text,
    )


def first_table(page) -> str:
    return page.locator("#results article h3").first.inner_text()


def test_results_come_while_typing_and_are_announced(page):
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto("/")
    assert page.get_by_role("heading", name="39 tables").is_visible()
    search_for(page, RAIN)
    results = [one for one in asked if "/results?" in one]
    assert results
    assert all("&words=1" in one or "&typed=1" in one for one in results)  # no judge is asked
    assert first_table(page) == "rain"
    card = page.locator("#results article").first
    assert "Baltic" in card.locator("mark").all_inner_texts()
    assert "Meaning" in card.get_by_label("What speaks for this table").inner_text()
    page.wait_for_function("() => document.querySelector('#live').textContent.includes('Nearest')")


def test_an_address_is_all_of_a_search_and_back_leads_back(page, browser, site):
    page.goto("/?q=wage")
    assert first_table(page) == "wages"
    page.get_by_role("checkbox", name=re.compile("^climate")).check()
    page.wait_for_function("() => location.search.includes('schema=climate')")
    page.wait_for_function("() => !document.querySelector('#results').innerText.includes('wages')")
    shared = page.url
    page.go_back()
    page.wait_for_function("() => !location.search.includes('schema')")
    page.wait_for_selector("#results article >> text=wages")
    with new_page(browser, site) as other:
        other.goto(shared)
        assert other.get_by_role("checkbox", name=re.compile("^climate")).is_checked()
        assert "wages" not in other.locator("#results").inner_text()


def test_folders_are_chosen_that_are_not_shown_at_once(browser, words, tmp_path):
    lake = {f"lake/f{n:02}/t.csv": f"word,number\nbird{n},{n}\n" for n in range(12)}
    made = make_home(tmp_path, lake | {"lake/top.csv": "word,number\nbird,1\n"})
    with local_site(made) as address, new_page(browser, address) as page:
        page.goto("/")
        folder = page.get_by_role("checkbox", name=re.compile("^f11"))
        assert not folder.is_visible()
        page.get_by_text("5 more").click()
        assert violations(page) == []
        folder.check()
        page.wait_for_function("() => location.search.includes('schema=f11')")
        page.get_by_role("heading", name="1 table", exact=True).wait_for()
        page.get_by_role("checkbox", name=re.compile("^f10")).check()  # what was opened stays so
        page.get_by_role("heading", name="2 tables").wait_for()
        page.goto("/")
        page.get_by_role("checkbox", name=re.compile("^none")).check()
        page.get_by_role("heading", name="1 table", exact=True).wait_for()
        assert first_table(page) == "top"


def test_suggestions_are_chosen_by_keys(page):
    page.goto("/")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "q"
    page.keyboard.type("stat", delay=5)
    box, options = page.locator("#q"), page.locator("#suggestions li")
    options.first.wait_for()
    assert box.get_attribute("aria-expanded") == "true"
    page.keyboard.press("ArrowDown")
    chosen = page.locator(f"#{box.get_attribute('aria-activedescendant')}")
    assert chosen.get_attribute("aria-selected") == "true"
    page.keyboard.press("Escape")
    assert box.get_attribute("aria-expanded") == "false"
    page.keyboard.type("i", delay=5)
    options.first.wait_for()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/tables/lake/climate/stations")


def test_one_letter_suggests_nothing_and_the_key_can_be_switched_off(page):
    page.goto("/")
    page.locator("#slash").uncheck()
    page.reload()
    page.locator("h1").click()
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") != "q"
    with page.expect_request("**/suggestions?q=st"):  # the only one
        page.locator("#q").press_sequentially("s", delay=0)
        page.wait_for_timeout(400)
        assert page.locator("#suggestions li").count() == 0
        page.locator("#q").press_sequentially("t", delay=0)


def test_what_matched_is_still_marked_after_the_click(page):
    page.goto(f"/?q={RAIN}")
    page.locator("#results article h3 a").first.click()
    page.wait_for_url("**/tables/lake/climate/rain?q=*")
    assert "Baltic" in page.locator("main mark").all_inner_texts()
    page.get_by_role("link", name=re.compile("Results for")).click()
    page.wait_for_url("**/?q=*")


def test_columns_and_sets_of_tables_are_results_of_their_own(page):
    page.goto("/?q=rain in millimetres at each station and its country")
    page.get_by_role("link", name="Columns", exact=True).click()
    page.wait_for_url("**tab=columns**")
    assert "station" in page.locator("#results article h3").all_inner_texts()
    page.get_by_role("link", name="Tables together").click()
    page.wait_for_url("**tab=groups**")
    page.get_by_text("Statement that joins them").first.click()
    assert 'JOIN "' in page.get_by_label("Statement").first.input_value()
    page.get_by_role("button", name="Run", exact=True).first.click()
    page.wait_for_url("**/answer/run?**")
    assert page.get_by_role("columnheader", name="rain_mm").is_visible()


def test_browsing_has_pages_an_order_and_a_total(page):
    page.goto("/")
    assert page.locator("#results article").count() == 30
    page.get_by_role("link", name="Next").click()
    page.wait_for_url("**page=2**")
    assert page.locator("#results article").count() == 9
    assert "31 to 39 of 39" in page.locator("#results").inner_text()
    page.goto("/?page=9")
    assert "No tables yet" not in page.locator("#results").inner_text()
    page.goto("/")
    page.get_by_label("Order").select_option("rows")
    page.wait_for_function("() => location.search.includes('sort=rows')")
    page.wait_for_selector("#results article:nth-of-type(1) >> text=rain")
    assert first_table(page) == "rain"


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("/?q=zzyzx quuxly", "No confident match"),
        ("/?q=zzyzx quuxly&tab=groups", "No confident match"),
        ("/?q=!!!", "The question has no words"),
        ("/?schema=nowhere", "unknown schema 'nowhere'; there are, say: climate, many, people."),
        ("/?q=rain&schema=peopl", "did you mean people?. Remove the filters"),
        ("/?q=rain&tab=columns&schema=people", "No column found"),
    ],
)
def test_what_is_not_found_is_said_plainly(page, address, says):
    page.goto(address)
    assert says in page.locator("main").inner_text()


@pytest.mark.parametrize(
    ("address", "status", "says"),
    [
        ("/tables/lake/climate/rainn", 404, "did you mean lake/climate/rain,"),
        ("/nothing", 404, "Not found"),
        ("/?page=0", 422, "This cannot be asked so"),
    ],
)
def test_errors_are_pages_with_a_way_on(page, address, status, says):
    page.expected_faults = [f"status of {status}"]
    assert page.goto(address).status == status
    assert says in page.get_by_role("alert").inner_text()
    page.get_by_role("link", name="Search tables").click()
    page.wait_for_url("**/")


def test_a_search_that_fails_says_so(page):
    page.expected_faults = ["503"]
    page.goto("/?q=rain")
    page.route(
        "**/results?*",
        lambda route: route.fulfill(
            status=503, body="<p role=alert>Too many ask at once; ask again.</p>"
        ),
    )
    page.get_by_role("checkbox", name=re.compile("^climate")).check()
    page.wait_for_selector("text=Too many ask at once")
    assert page.locator("body.busy").count() == 0
    assert first_table(page) == "rain"


def test_all_works_without_scripts(browser, site):
    with new_page(browser, site, java_script_enabled=False) as page:
        page.goto("/")
        page.locator("#q").fill("wage")
        page.get_by_role("button", name="Search", exact=True).click()
        assert first_table(page) == "wages"
        page.get_by_role("checkbox", name=re.compile("^people")).check()
        page.get_by_role("button", name="Apply filters").click()
        assert page.get_by_role("checkbox", name=re.compile("^people")).is_checked()
        assert first_table(page) == "wages"
        assert page.locator("[data-copy]:visible, #theme:visible").count() == 0
