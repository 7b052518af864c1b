"""The page of a search shows what the command line does, and every value of a filter."""

import json
import re

import pytest

from pneuma_assets.core.service.catalog_types import FacetCount
from pneuma_assets.web.pages.rendering import percent
from pneuma_assets.web.pages.search import facets_of
from tests.support.doors import succeeds
from tests.support.indexed_home import make_home
from tests.support.served_home import client_of, local_app

FOLDERS = [f"folder{n:02}" for n in range(21)]
NONE_CHOSEN = {"source": (), "schema": (), "format": (), "owner": (), "within": ()}


@pytest.fixture(scope="module")
def many(tmp_path_factory, small_encoder, read_here):
    """A lake of a table in each of 21 folders, and one in none."""
    lake = {f"lake/{one}/t.csv": f"word,n\n{one},{at}\n" for at, one in enumerate(FOLDERS)}
    lake["lake/rain.csv"] = "station,rain_mm\nKiel,12\nRiga,9\n"
    return make_home(tmp_path_factory.mktemp("many"), lake)


@pytest.fixture(scope="module")
def pages(many):
    with client_of(local_app(many)) as one:
        yield one


def articles(page: str) -> list[str]:
    return page.split("<article")[1:]


@pytest.mark.parametrize("address", ["/", "/?q=rain in Kiel"])
def test_every_folder_can_be_chosen(pages, address):
    page = pages.get(address).text
    offered = re.findall(r'name="schema" value="([^"]*)"', page)
    assert sorted(offered) == ["", *FOLDERS]
    assert re.search(r"<details><summary[^>]*>14 more</summary>", page)
    assert len(articles(pages.get("/?schema=folder17").text)) == 1
    assert len(articles(pages.get("/?schema=").text)) == 1


def test_a_table_leads_to_the_others_of_its_folder(pages):
    [card] = articles(pages.get("/?schema=folder17").text)
    [link] = re.findall(r'class="path"><a href="([^"]+)"', card)
    assert len(articles(pages.get(link.replace("&amp;", "&")).text)) == 1


def test_of_thousands_of_values_as_many_are_sent_as_a_page_can_have():
    counts = {"schema": tuple(FacetCount(f"s{n}", 1) for n in range(5_000))}
    [schema, _] = facets_of(counts, NONE_CHOSEN | {"schema": ["s4000"]})
    assert schema.shown[0].value == "s4000"
    assert len({*schema.shown, *schema.rest}) == len(schema.shown) + len(schema.rest) == 509
    assert schema.more == 5_000 - 509


@pytest.mark.parametrize("question", ["rain in Kiel", "rain at folder17", "zzyzx quuxly"])
def test_a_table_is_as_sure_as_the_command_line_says(many, pages, question):
    asked = succeeds("--config", many, "search", "-k", "20", "--json", question)
    told = {one["table_id"]: one["confidence"] for one in json.loads(asked)}
    page = pages.get("/", params={"q": question}).text
    assert f"Nearest {len(told)} of 22 tables" in page
    shown = [re.findall(r"<strong>([^<]+)</strong> sure", one) for one in articles(page)]
    assert shown == [[percent(one)] for one in told.values()]
    widths = [float(one) for one in re.findall(r'<rect width="([\d.e-]+)" height="4"', page)]
    assert widths == pytest.approx([100 * one for one in told.values()], abs=1e-3)


def test_a_line_parts_what_is_likely_from_the_rest(pages, many):
    page = pages.get("/?q=rain in Kiel").text
    above, line, below = page.partition("Less likely:")
    assert line
    assert (len(articles(above)), "rain" in articles(above)[0]) == (1, True)
    assert len(articles(below)) > 10
    nothing = pages.get("/?q=zzyzx quuxly").text
    assert "No confident match" in nothing
    assert "Less likely:" not in nothing
