"""The page of a table, and what people say on it."""

import re

import pytest

from tests.support.web_site import new_page, violations

pytestmark = pytest.mark.integration

RAIN = "/tables/lake/climate/rain"


def column(page, name: str):
    return page.locator(f"#column-{name}")


def done(page) -> str:
    """What the page says was done; it is announced, too."""
    said = page.locator("#done p").inner_text()
    page.wait_for_function("said => document.querySelector('#live').textContent === said", arg=said)
    return said


def test_a_column_has_its_type_its_profile_and_who_described_it(page):
    page.goto(RAIN)
    rain = column(page, "rain_mm").inner_text()
    assert "0.0 to 8.9" in rain
    assert "% NULL" in rain
    assert column(page, "rain_mm").locator("svg rect").count() > 3
    assert "from its name and values" in rain
    assert "Rain that fell at harbours" in page.locator("main").inner_text()


def test_some_rows_are_shown(page):
    page.goto(RAIN)
    rows = page.get_by_role("group", name="10 rows of 72")
    assert rows.locator("tbody tr").count() == 10
    assert rows.get_by_role("columnheader").all_inner_texts() == ["station", "measured", "rain_mm"]


def test_joins_are_drawn_with_links_and_told_as_a_list(page):
    page.goto(RAIN)
    drawn = page.get_by_role("group", name="Joins")
    drawn.get_by_role("link", name=re.compile("stations")).click()
    page.wait_for_url("**/tables/lake/climate/stations")
    assert "station = station" in page.locator("section", has=page.locator("#joins")).inner_text()


def test_code_to_read_it_is_copied(browser, site):
    with new_page(browser, site, permissions=["clipboard-read", "clipboard-write"]) as page:
        page.goto(RAIN)
        for kind in ("sql", "pandas"):
            page.locator(f"[data-copy=snippet-{kind}]").click()
            page.wait_for_selector(f"[data-copy=snippet-{kind}] >> text=Copied")
            text = page.locator(f"#snippet-{kind}").inner_text()
            assert page.evaluate("navigator.clipboard.readText()").split() == text.split()
            assert "rain" in text


def test_a_description_is_corrected_rejected_and_taken_back(page):
    page.goto(RAIN)
    cell = column(page, "measured")
    cell.get_by_text(re.compile("^(Correct|Describe)")).click()
    cell.get_by_label("Description, one line").fill("First day of the month")
    assert violations(page) == []
    cell.get_by_role("button", name="Save").click()
    assert "Your description stands" in done(page)
    assert page.url.endswith("#column-measured")
    assert "First day of the month" in cell.inner_text()
    assert "corrected by" in cell.inner_text()
    cell.get_by_text(re.compile("^Correct")).click()
    cell.get_by_role("button", name="Take the correction back").click()
    assert "removed" in done(page)
    assert "First day of the month" not in cell.inner_text()


def test_a_document_is_added_and_removed(page):
    page.goto(RAIN)
    page.get_by_text("Add a document").click()
    page.get_by_label("Name").fill("how to read")
    page.get_by_label("Text").fill("Sums of a month.\nAsk Ana.")
    page.get_by_role("button", name="Add", exact=True).click()
    assert "The document is added" in done(page)
    added = page.locator("article", has_text="how to read")
    assert "Sums of a month." in added.inner_text()
    added.get_by_role("button", name=re.compile("Remove")).click()
    assert "removed" in done(page)
    assert page.locator("article", has_text="how to read").count() == 0


def test_a_join_is_confirmed_and_rejected(page):
    page.goto(RAIN)
    joins = page.locator("section", has=page.locator("#joins"))
    joins.get_by_role("button", name=re.compile("Confirm")).first.click()
    assert "confirmed" in done(page)
    assert "confirmed by a person" in joins.inner_text()


def test_a_right_answer_is_shown_to_who_asks_the_like_and_a_wrong_one_is_not(page):
    question = "/?q=how much rain falls at harbours"
    page.goto(question)
    card = page.locator("#results article", has_text="rain").first
    card.get_by_role("button", name=re.compile("^Yes")).click()
    assert "Thank you" in done(page)
    page.goto(question)
    confirmed = page.get_by_role("group", name="Confirmed answer")
    assert "lake/climate/rain" in confirmed.inner_text()
    assert violations(page) == []
    confirmed.get_by_role("button", name="Forget").click()
    assert "forgotten" in done(page)
    page.goto(question)
    assert confirmed.count() == 0


def test_what_is_refused_is_said(page):
    page.expected_faults = ["status of 404", "status of 422"]
    page.goto(RAIN)
    cell = column(page, "measured")
    cell.get_by_text(re.compile("^(Correct|Describe)")).click()
    cell.get_by_label("Description, one line").fill(" ")
    cell.get_by_role("button", name="Save").click()
    assert "needs a text" in page.get_by_role("alert").inner_text()


def test_forms_work_without_scripts(browser, site):
    with new_page(browser, site, java_script_enabled=False) as page:
        page.goto("/tables/lake/people/teams")
        page.get_by_text("Add a document").click()
        page.get_by_label("Name").fill("note")
        page.get_by_label("Text").fill("Teams of 2020")
        page.get_by_role("button", name="Add", exact=True).click()
        assert "The document is added" in page.locator("#done").inner_text()
        page.get_by_role("button", name=re.compile("Remove")).click()
        assert "removed" in page.locator("#done").inner_text()
