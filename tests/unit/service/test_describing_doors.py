"""Correcting, rejecting and looking at descriptions, from Python and on the command line."""

import getpass
import json
import shutil
from functools import partial
from pathlib import Path

import pytest

from pneuma_assets import ConfigError, open_workspace
from pneuma_assets.core.config.load import load_deployment
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.dagster_manifest import read_manifest
from tests.support.doors import fails, succeeds
from tests.support.fake_model import FakeLanguageModel
from tests.support.indexed_home import make_home
from tests.support.stages import run_stages

RAIN = "lake/rain"


@pytest.fixture(scope="module")
def indexed(tmp_path_factory) -> Path:
    """A lake with one table that was indexed, for each test to copy."""
    lake = {
        "lake/rain.csv": rain("station_name,mm,weather_kind"),
        "lake/rain.md": "## Columns\n\n- mm: Gauge reading, in litres\n",
    }
    return make_home(tmp_path_factory.mktemp("indexed"), lake).parent


@pytest.fixture(autouse=True)
def lake(here, indexed) -> None:
    shutil.copytree(indexed, here, dirs_exist_ok=True)


def rain(header: str, *, more: int = 0) -> str:
    rows = "\n".join(f"s{n % 7},{n + more},{'wet' if n % 2 else 'dry'}" for n in range(40))
    return f"{header}\n{rows}\n"


def index() -> None:
    run_stages(load_deployment())


run = partial(succeeds, "describe")
refused = partial(fails, 1, "describe")
misused = partial(fails, 2, "describe")


def said(*args: str) -> dict:
    return {one["column"]: one for one in json.loads(run(*args, "--json"))}


def found(question: str) -> str:
    """The texts that answers show, and those of the blocks behind them."""
    with open_workspace() as workspace:
        shown = [one.text for one in workspace.ask(question)]
        blocks = [one.block.text for one in workspace.search_index.blocks()]
    return " ".join([*shown, *blocks])


def test_a_correction_is_shown_at_once_and_found_after_the_next_run(here):
    before = said(RAIN)
    assert list(before) == [None, "station_name", "mm", "weather_kind"]
    assert (before["mm"]["by"], before["mm"]["source"]) == ("document", "rain.md")
    assert before["weather_kind"]["by"] == "profile"
    assert "Gauge reading" in found("gauge")
    run(RAIN, "mm", "--text", "Precipitation within a day", "--author", "Ann")
    run(RAIN, "--text", "Downpours of the Alps", "--author", "Ann")
    after = said(RAIN)
    assert (after["mm"]["by"], after["mm"]["source"]) == ("correction", "Ann")
    assert after["mm"]["said_at"]
    assert RAIN in run()
    assert after[None]["text"] == "Downpours of the Alps"
    assert "Ann" in run(RAIN)
    index()
    assert "Precipitation within a day" in found("precipitation")
    assert "Downpours of the Alps" in found("downpours")
    with open_workspace() as workspace:
        status = workspace.status()
    assert [one.column for one in status.corrections] == [None, "mm"]
    assert status.to_dict()["corrections"][1]["text"] == "Precipitation within a day"
    assert "corrected by people: 2 descriptions (" in succeeds("status")


def test_a_table_is_said_to_be_what_its_page_says(here, read_here):
    (here / "lake/rain.md").write_text("# Rain\n\nRain by station.\n\n- mm: litres\n")
    with open_workspace() as workspace:
        workspace.index()  # by Dagster, which has pages
    (page,) = read_manifest(load_deployment(), {}).tables
    table = said(RAIN)[None]
    assert (table["text"], table["by"]) == (page.description, "document")
    assert table["text"].startswith("Rain by station.")
    run(RAIN, "--reject", "--author", "Bo")
    assert said(RAIN)[None]["text"] == ""
    run(RAIN, "--reset")
    assert said(RAIN)[None] == table
    (here / "lake/rain.md").unlink()
    with open_workspace() as workspace:
        workspace.add_context(RAIN, "wiki", "Gauged by hand.")
    index()
    table = said(RAIN)[None]
    assert (table["text"], table["by"], table["source"]) == ("Gauged by hand.", "person", "wiki")


def test_what_was_corrected_and_taken_back_is_others_again(here):
    """At once as far as people and documents wrote it; the rest the next run finds."""
    header, *rows = rain("station_name,mm,weather_kind").splitlines()
    longer = [f"{header},remark", *(f"{row},r{at}." for at, row in enumerate(rows))]
    (here / "lake/rain.csv").write_text("\n".join(longer))
    index()
    before = said(RAIN)
    assert before["remark"]["text"] == ""
    for column in ("station_name", "mm", "weather_kind"):
        run(RAIN, column, *(["--reject"] if column == "weather_kind" else ["--text", "It is."]))
    assert not any(one["pending"] for one in said(RAIN).values())
    index()
    for column in ("station_name", "mm", "weather_kind"):
        run(RAIN, column, "--reset")
    withdrawn = said(RAIN)
    assert (withdrawn["mm"], withdrawn["remark"]) == (before["mm"], before["remark"])
    for column in ("station_name", "weather_kind"):
        assert (withdrawn[column]["text"], withdrawn[column]["pending"]) == ("", True)
        assert "known after the next run" in run(RAIN, column)
    index()
    assert said(RAIN) == before


def test_what_has_left_is_listed_and_can_be_taken_back(here):
    run(RAIN, "mm", "--text", "Precipitation", "--author", "Ann")
    another = rain("station_name,depth,weather_kind", more=1000)  # not another name of `mm`
    (here / "lake/rain.csv").write_text(another)
    index()
    assert said(RAIN)["mm"]["present"] is False
    assert "not there now" in run()
    assert "1 of them of what is not there now" in succeeds("status")
    (here / "lake/rain.csv").unlink()
    (here / "lake/snow.csv").write_text("mm\n1\n")
    index()
    (one,) = json.loads(run("--json"))
    assert (one["table_id"], one["column"], one["present"]) == (RAIN, "mm", False)
    (here / "lake/rain.csv").write_text(rain("station_name,mm,weather_kind"))
    index()
    assert said(RAIN)["mm"]["text"] == "Precipitation"
    (here / "lake/rain.csv").unlink()
    index()
    run(RAIN, "mm", "--reset")
    assert "No corrections." in run()


def test_names_that_do_not_exist_are_refused_with_the_nearest(here):
    assert "did you mean lake/rain?" in refused("lake/rian", "mm", "--text", "x")
    line = refused(RAIN, "wether_kind", "--reject")
    assert "unknown column 'wether_kind' of lake/rain; did you mean weather_kind?" in line
    assert line.endswith("? (a new column is known after the next run)")
    for asked in ([], ["--text", "new"]):
        assert " (a new column is known after the next run)" in refused(RAIN, "zz9", *asked)
    assert "it has: station_name, mm, weather_kind" in refused(RAIN, "zzz", "--reject")
    assert "did you mean weather_kind?" in refused(RAIN, "weather")
    assert "did you mean lake/rain?" in refused("rain")
    assert "unknown table 'nosuch'; `pneuma-assets status --tables` lists" in refused("nosuch")
    assert "`pneuma-assets describe lake/rain` lists them" in refused(RAIN, "nosuch")
    run(RAIN, "mm", "--reject")
    assert "corrected are: 'mm'" in refused(RAIN, "depth", "--reset")
    assert "give one of" in misused(RAIN, "mm", "--reject", "--text", "x")
    assert "--author goes with" in misused(RAIN, "mm", "--author", "Ann")
    assert "name the table" in misused("--reject")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (" ", "needs a text"),
        ("two\nlines", "is one line; to say more, add a context"),
        ("\u202e\u200b", "shows nothing"),
        ("x" * 1001, "more than 1000 characters"),
        ("x" * 10_000_000, "more than 1000 characters"),
        (7, "must be a str, not int"),
    ],
    ids=["blank", "lines", "invisible", "long", "huge", "number"],
)
def test_texts_that_cannot_be_kept(here, text, message):
    with open_workspace() as workspace:
        with pytest.raises(ConfigError, match=message):
            workspace.describe(RAIN, "mm", text)
        assert workspace.descriptions() == []


def test_hostile_text_is_one_harmless_line(here):
    text = "a\x1b[2J\tb\u202ec*/ <|im_end|> | x: 'y' \ud800\0 <script>"
    with open_workspace() as workspace:
        workspace.describe(RAIN, "mm", text, author="\x1b]0;Eve\n")
        (one,) = workspace.descriptions()
        assert "\n" not in one.text + one.source
        run_stages(workspace.loaded)
    assert run(RAIN, "mm").replace("\n", "").isprintable()
    assert "<script>" in said(RAIN)["mm"]["text"]  # kept as text; pages escape it


def test_the_author_is_who_is_logged_in(here, monkeypatch):
    monkeypatch.setenv("LOGNAME", "ann")
    run(RAIN, "mm", "--reject")
    assert said(RAIN)["mm"]["rejected_by"] == getpass.getuser() == "ann"

    def nobody() -> str:
        raise KeyError("getpwuid(): uid not found")

    monkeypatch.setattr(getpass, "getuser", nobody)
    assert "--author" in refused(RAIN, "mm", "--reject")


def test_a_column_of_a_table_that_was_never_read(here):
    with Store(here / "home/state.db") as store:
        store.queue.mark_pending([RAIN])
    (here / "lake/new.csv").write_text("")
    index()
    assert "was not read yet" in refused("lake/new", "x", "--reject")


def test_what_a_model_says_of_a_table_stands_in_for_what_people_wrote_and_is_found(here):
    (here / "lake/snow.csv").write_text(rain("station_name,mm,weather_kind"))
    model = FakeLanguageModel("writer")
    run_stages(load_deployment(), model=model)
    (table,) = (one for key, one in said("lake/snow").items() if key is None)
    assert (table["by"], table["source"]) == ("model", "writer")
    assert table["text"].startswith("One row is one of them (")
    assert table["said_at"]
    assert "model: writer" in run("lake/snow")
    assert table["text"] in found(table["text"])
    with open_workspace() as workspace:
        documents = workspace.table("lake/snow").documents
    assert ("summary", table["text"]) in [(one.kind, one.text) for one in documents]

    (here / "lake/snow.md").write_text("Snow of the Alps, in centimetres.")
    run_stages(load_deployment(), model=model)
    own = said("lake/snow")[None]
    assert (own["by"], own["text"]) == ("document", "Snow of the Alps, in centimetres.")
    assert table["text"] in found(table["text"]), "it is searched beside the document"

    run("lake/snow", "--reject", "--author", "Ann")
    assert said("lake/snow")[None]["text"] == ""
    run_stages(load_deployment(), model=model)
    assert table["text"] not in found(table["text"])
    assert len(model.prompts) == 2, "of each table once"
