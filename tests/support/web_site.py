"""A small lake served in a thread, and a browser that reports whatever goes wrong on a page."""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.served_home import local_app
from tests.support.served_port import serving

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)

STATIONS = ("Kiel", "Rostock", "Gdynia", "Riga", "Tallinn", "Turku")
LAKE: Mapping[str, str] = {
    "lake/climate/rain.csv": "station,measured,rain_mm\n"
    + "".join(
        f"{STATIONS[n % 6]},2020-{n % 12 + 1:02}-01,{(n * 37 % 90) / 10}\n" for n in range(72)
    ),
    "lake/climate/rain.md": "Rain that fell at harbours of the Baltic, in millimetres a month.",
    "lake/climate/stations.csv": "station,country,height_m\n"
    + "".join(f"{name},{'DE' if n < 2 else 'EE'},{n * 3}\n" for n, name in enumerate(STATIONS)),
    "lake/people/teams.csv": "team,lead,members\nblue,Ana,4\nred,Ben,7\n",
    "lake/people/wages.csv": "team,month,wage\nblue,2020-01,4000\nred,2020-01,4100\n",
    **{f"lake/many/t{n:02}.csv": f"word,number\nbird{n},{n}\n" for n in range(35)},
}


def local_site(file: Path) -> AbstractContextManager[str]:
    return serving(local_app(file))


@contextmanager
def browsing() -> Iterator[Any]:
    """Start the machine's own Chromium; the test is skipped where there is none."""
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@contextmanager
def new_page(browser: Any, address: str, **options: Any) -> Iterator[Any]:
    """Open a page; errors, warnings and reports of the CSP in its console fail the test."""
    context = browser.new_context(base_url=address, **options)
    context.set_default_timeout(60_000)
    page, faults = context.new_page(), []
    page.on(
        "console", lambda one: faults.append(one.text) if one.type in ("error", "warning") else None
    )
    page.on("pageerror", lambda one: faults.append(str(one)))
    page.on("dialog", lambda one: faults.append(f"dialog: {one.message}"))
    page.expected_faults = []
    try:
        yield page
    finally:
        context.close()
    found = [one for one in faults if not any(part in one for part in page.expected_faults)]
    assert not found, found


def violations(page: Any) -> list[str]:
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    return [f"{one['id']}: {one['nodes'][0]['html'][:200]}" for one in found]
