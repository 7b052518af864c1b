"""Every screen without a violation that axe knows, in light and dark, wide and narrow."""

import pytest

from tests.support.web_site import new_page, violations

pytestmark = pytest.mark.integration

SCREENS = (
    "/",
    "/?schema=nowhere",
    "/?q=rain at harbours of the Baltic",
    "/?q=zzyzx quuxly",
    "/?q=station and country&tab=columns",
    "/?q=rain of each station and its country&tab=groups",
    "/answer?q=rain at Kiel",
    "/tables/lake/climate/rain?q=rain at harbours",
    "/status?check=1",
    "/failing",
    "/nothing",
)


@pytest.mark.parametrize(
    ("scheme", "width"),
    [
        ("light", 1280),
        pytest.param("light", 360, marks=pytest.mark.slow),
        pytest.param("dark", 1280, marks=pytest.mark.slow),
        pytest.param("dark", 360, marks=pytest.mark.slow),
    ],
)
def test_no_screen_has_a_violation_or_is_wider_than_the_window(browser, site, scheme, width):
    found = {}
    with new_page(
        browser, site, viewport={"width": width, "height": 800}, color_scheme=scheme
    ) as page:
        page.expected_faults = ["status of 404"]
        for screen in SCREENS:
            page.goto(screen)
            found[screen] = violations(page)
            if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                found[screen].append("wider than the window")
    assert not any(found.values()), {key: one for key, one in found.items() if one}


def test_suggestions_that_are_open_have_no_violation(page):
    page.goto("/")
    page.locator("#q").press_sequentially("stat", delay=5)
    page.locator("#suggestions li").first.wait_for()
    assert violations(page) == []


def test_keys_alone_reach_the_content_and_every_focus_is_seen(page):
    page.goto("/?q=rain")
    page.keyboard.press("Tab")
    assert page.locator(":focus").inner_text() == "Skip to content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"
    for _ in range(12):
        page.keyboard.press("Tab")
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline == "solid", page.locator(":focus").evaluate("one => one.outerHTML")


def test_nothing_moves_for_who_wants_no_motion(browser, site):
    with new_page(browser, site, reduced_motion="reduce") as page:
        page.goto("/")
        page.evaluate("document.body.classList.add('busy')")
        assert page.evaluate("getComputedStyle(document.body, '::after').animationName") == "none"


def test_colours_are_switched_and_kept(page):
    page.goto("/")
    page.get_by_role("button", name="Switch light and dark").click()
    page.goto("/status")
    assert page.locator("html").get_attribute("data-theme") == "dark"
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.get_by_role("button", name="Switch light and dark").click()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != dark


def test_nothing_jumps_while_a_page_loads(page):
    page.add_init_script(
        "window.shifts = 0; new PerformanceObserver(list => list.getEntries().forEach(one =>"
        " { if (!one.hadRecentInput) window.shifts += one.value; }))"
        ".observe({ type: 'layout-shift', buffered: true })"
    )
    for screen in ("/", "/?q=rain", "/tables/lake/climate/rain"):
        page.goto(screen)
        page.wait_for_timeout(300)
        assert page.evaluate("window.shifts") < 0.01, screen
