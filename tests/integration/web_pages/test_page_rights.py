"""Who may not see, change or operate is told so, and shown nothing of it."""

import re

import pytest

from pneuma_assets.core.service.access_keys import create_key
from pneuma_assets.workspace import open_workspace
from tests.support.indexed_home import make_home
from tests.support.served_home import FILE, LAKE, guarded_app
from tests.support.served_port import serving
from tests.support.web_site import new_page, violations

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def keys(words, tmp_path_factory):
    """The address of a site that wants keys, and a key that reads and one that edits."""
    file = make_home(tmp_path_factory.mktemp("guarded"), LAKE, FILE)
    with open_workspace(config=file) as workspace:
        _, reads = create_key(workspace.store, "rita", ("finance",))
        _, edits = create_key(workspace.store, "eddy", ("finance",), may_edit=True)
    with serving(guarded_app(file)) as address:
        yield address, reads, edits


def log_in(page, key: str) -> None:
    page.get_by_label("API key").fill(key)
    page.get_by_role("button", name="Log in").click()


def test_a_browser_logs_in_and_out(browser, keys):
    address, reads, _ = keys
    with new_page(browser, address) as page:
        page.expected_faults = ["status of 403"]
        page.goto("/?q=salaries")
        assert page.url.endswith("/login?next=%2F%3Fq%3Dsalaries")
        log_in(page, "pneuma_wrong_key")
        assert "wrong" in page.get_by_role("alert").inner_text()
        assert violations(page) == []
        log_in(page, reads)
        page.wait_for_url("**/?q=salaries")
        assert "Signed in as rita" in page.locator("footer").inner_text()
        page.get_by_role("button", name="Log out").click()
        page.wait_for_url("**/login")


def test_who_reads_is_offered_no_change_and_no_hidden_table(browser, keys):
    address, reads, _ = keys
    with new_page(browser, address) as page:
        page.expected_faults = ["status of 40"]
        page.goto("/")
        log_in(page, reads)
        page.wait_for_url("**/")
        assert page.get_by_role("heading", name="3 tables").is_visible()
        assert "vault" not in page.locator("body").inner_text()
        page.goto("/tables/finance/salaries?q=wages")
        assert page.locator("main form").count() == 0
        assert page.get_by_role("link", name="Status").count() == 0
        hidden = page.goto("/tables/vault/keys")
        told = page.get_by_role("alert").inner_text().replace("vault/keys", "X")
        absent = page.goto("/tables/vault/nothing")
        assert hidden.status == absent.status == 404
        assert told == page.get_by_role("alert").inner_text().replace("vault/nothing", "X")
        for operators in ("/status", "/failing"):
            assert page.goto(operators).status == 403
            assert "You may not do this" in page.get_by_role("alert").inner_text()


def test_a_change_needs_the_right_and_the_token(browser, keys):
    address, reads, edits = keys
    form = {"table_id": "open/nature/rivers", "name": "n", "text": "t", "action": "add"}
    for key, with_token, status in ((reads, True, 403), (edits, False, 403), (edits, True, 303)):
        with new_page(browser, address) as page:
            page.goto("/login")
            log_in(page, key)
            page.wait_for_url("**/")
            page.goto("/tables/open/nature/rivers")
            token = page.locator("footer [name=csrf_token]").get_attribute("value")
            answer = page.request.post(
                "/edit/document",
                form=form | ({"csrf_token": token} if with_token else {}),
                max_redirects=0,
            )
            assert answer.status == status


def test_who_edits_does_so_by_the_page(browser, keys):
    address, _, edits = keys
    with new_page(browser, address) as page:
        page.goto("/login")
        log_in(page, edits)
        page.goto("/tables/open/nature/rivers")
        river = page.locator("#column-river")
        river.get_by_text(re.compile("^(Correct|Describe)")).click()
        river.get_by_label("Description, one line").fill("Name of the river")
        river.get_by_role("button", name="Save").click()
        page.wait_for_url("**done=described**")
        assert "corrected by eddy" in river.inner_text()
