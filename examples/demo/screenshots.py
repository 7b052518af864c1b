"""Takes the pictures of the page that the documentation shows, of a demo that is being served.

Run `pneuma-assets --home .demo/home serve`, and beside it
`python examples/demo/screenshots.py --out docs/images`. It needs playwright and Chromium.
"""

import argparse
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

SEARCH = "/?q=How warm was the sea off the coast of Peru in each month?"
TABLE = "/tables/lake/economy/macrodata?q=quarterly unemployment and treasury bills"
ANSWER = "/answer?q=How long do people live in Afghanistan?"
STATEMENT = """SELECT year, lifeExp
FROM gapminder
WHERE country = 'Afghanistan'
ORDER BY year"""

NEED = "water of the Nile and sunspots in each year"
SEEK = Path(__file__).parents[2] / "docs" / "seek.md"
ORIGINS = {
    "year": ("nile", "year"),
    "volume": ("nile", "volume"),
    "spots": ("sunspots", "SUNACTIVITY"),
}


def show(address: str) -> Callable[[Page], object]:
    """Return what opens an address."""
    return lambda page: page.goto(address)


def run_statement(page: Page) -> None:
    """Write a statement about the nearest tables, and run it."""
    page.goto(ANSWER)
    page.get_by_text("Write a statement about the nearest tables").click()
    page.get_by_label("Statement").first.fill(STATEMENT)
    page.get_by_role("button", name="Run", exact=True).first.click()
    page.wait_for_url("**/answer/run?**")


def converse(page: Page) -> None:
    """Have the conversation of `docs/seek.md`, with the origin of each column."""
    state = json.loads(re.findall(r"```json\n(.*?)```", SEEK.read_text("utf-8"), re.DOTALL)[0])
    for column in state["tables"][0]["columns"]:
        source, name = ORIGINS[column["name"]]
        column["origins"] = [{"source": source, "columns": [name]}]
    page.goto("/seek")
    page.get_by_label("What do you need?").fill(NEED)
    page.get_by_role("button", name="Start", exact=True).click()
    page.get_by_text("Edit the state").click()
    page.get_by_label("The state as JSON").fill(json.dumps(state))
    page.get_by_role("button", name="Save the state").click()
    page.get_by_role("button", name="Confirm the plan and make it").click()
    page.get_by_role("group", name="Result of by_activity").wait_for()
    page.get_by_label("What was said").evaluate("one => one.scrollTo(0, -one.scrollHeight)")


PICTURES: dict[str, tuple[Callable[[Page], object], dict[str, Any]]] = {
    "seek": (converse, {"viewport": {"width": 1280, "height": 960}}),
    "web-search": (show(SEARCH), {}),
    "web-table": (show(TABLE), {}),
    "web-answer": (run_statement, {"viewport": {"width": 1180, "height": 1120}}),
}


def main() -> None:
    """Take all pictures."""
    parser = argparse.ArgumentParser(description="Take the pictures of the page.")
    parser.add_argument("--url", default="http://127.0.0.1:8765")
    parser.add_argument("--out", type=Path, default=Path("docs/images"))
    asked = parser.parse_args()
    with sync_playwright() as playwright:
        chromium = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name, (act, options) in PICTURES.items():
            size = {"viewport": {"width": 1180, "height": 860}}
            page = browser.new_page(base_url=asked.url, **(size | options))
            act(page)
            page.screenshot(path=asked.out / f"{name}.png")
            page.close()
        browser.close()


if __name__ == "__main__":
    main()
