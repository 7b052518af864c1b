"""Lists, counts and suggestions of all tables, read from the state alone."""

import time

import numpy as np
import pytest

from pneuma_assets import open_workspace
from pneuma_assets.core.errors import QueryError, StateError
from pneuma_assets.core.service import catalog as live
from pneuma_assets.core.service.catalog_names import NameIndex
from pneuma_assets.core.service.catalog_types import Facets, Suggestion
from tests.support.catalog_rows import DAY, link, own, remove, row, write

YEARS = {"family": "lake/trade/exports_2019"}


def rows(now: float):
    yield row("lake/hr/employee_salaries", "full name", "salaryBand", updated_at=now - DAY / 2)
    yield row("lake/hr/Employees", "name", "größe", format="parquet", updated_at=now - 20 * DAY)
    yield row("lake/hr/Employees_backup", "name", copy_of="lake/hr/Employees", row_count=None)
    yield row("lake/trade/exports_2019", "port", "value", **YEARS, updated_at=now - 500 * DAY)
    yield row("lake/trade/exports_2020", "port", "value", **YEARS, updated_at=now - 300 * DAY)
    yield row("w/public/orders", "id", "amount", format="table", row_count=90)
    yield row("w/public/returns", "id", format="table", state="pending", indexed_at=None)


@pytest.fixture
def desk(here):
    (here / "pneuma.yaml").write_text(
        "home: home\n"
        "dagster: {owners: ['team:data']}\n"
        "sources: [{type: folder, name: lake, path: lake, owners: [ana@example.com]}]\n"
    )
    with open_workspace() as workspace:
        write(workspace.store, rows(time.time()))
        link(
            workspace.store,
            ("lake/hr/Employees", "lake/hr/employee_salaries"),
            ("lake/hr/Employees", "w/public/orders"),
        )
        own(workspace.store, "w/public/orders", "team:sales", "team:data")
        yield workspace


def look_at_once(monkeypatch) -> None:
    monkeypatch.setattr(live, "LOOKED_AT_S", 0.0)
    monkeypatch.setattr(live, "_BUSY_SHARE", 0.0)


def names(listing) -> list[str]:
    return [one.table_id.split("/")[-1] for one in listing.tables]


def counts(listing, facet: str) -> dict[str, int]:
    return {one.value: one.tables for one in listing.facets[facet]}


def test_a_card_says_what_is_known_of_a_table(desk):
    cards = {one.name: one for one in desk.browse().tables}
    assert list(cards) == sorted(cards, key=str.casefold), "by name, capitals aside"
    orders, backup = cards["orders"], cards["Employees_backup"]
    assert (orders.source, orders.schema, orders.format) == ("w", "public", "table")
    assert (orders.rows, orders.columns) == (90, 2)
    assert orders.owners == ("team:sales", "team:data")
    assert cards["Employees"].owners == ("ana@example.com", "team:data")
    assert cards["Employees"].feeds == 2
    assert (backup.copy_of, backup.rows) == ("lake/hr/Employees", None)
    assert cards["exports_2020"].family == "lake/trade/exports_*"
    assert cards["returns"].state == "pending"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"text": "empl hr"}, ["employee_salaries", "Employees", "Employees_backup"]),
        ({"text": "TRADE/exp"}, ["exports_2019", "exports_2020"]),
        ({"text": "nothing like it"}, []),
        ({"facets": Facets(formats=("parquet", "table"))}, ["Employees", "orders", "returns"]),
        ({"facets": Facets(sources=("w",), owners=("team:sales",))}, ["orders"]),
        (
            {"facets": Facets(schemas=("trade",)), "sort": "updated"},
            ["exports_2020", "exports_2019"],
        ),
        ({"facets": Facets(updated_within_days=1)}, ["employee_salaries"]),
        ({"facets": Facets(sources=("w",), schemas=("trade",))}, []),
        ({"sort": "rows", "limit": 1}, ["orders"]),
        ({"sort": "name", "offset": 6}, ["returns"]),
        ({"offset": 99}, []),
    ],
)
def test_filters_orders_and_parts(desk, options, expected):
    assert names(desk.browse(**options)) == expected


def test_each_facet_is_counted_with_the_filters_of_the_others(desk):
    found = desk.browse(facets=Facets(sources=("lake",), formats=("csv",)), limit=1)
    assert (found.total, found.limit, len(found.tables)) == (4, 1, 1)
    assert counts(found, "source") == {"lake": 4}
    assert counts(found, "format") == {"csv": 4, "parquet": 1}
    assert counts(found, "schema") == {"hr": 2, "trade": 2}
    assert counts(found, "owner") == {"ana@example.com": 4, "team:data": 4}
    ages = {"1": 1, "7": 1, "30": 1, "365": 2, "older": 1, "unknown": 1}
    assert counts(found, "freshness") == ages
    week = desk.browse(facets=Facets(updated_within_days=7))
    assert week.total == counts(week, "freshness")["7"], "a count says what its filter leaves"
    assert counts(week, "source") == {"lake": 1}


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("empl", ["Employees", "Employees_backup", "employee_salaries"]),
        ("sal", ["salaryBand", "employee_salaries"]),
        ("band sal", ["salaryBand"]),
        ("exports_20", ["exports_2019", "exports_2020"]),
        ("gro", ["größe"]),
        ("GRÖ", ["größe"]),
        ("exprots", ["exports_2019", "exports_2020"]),
        ("port", ["port"]),
        ("xyzzy", []),
        ("!?", []),
        ("", []),
    ],
)
def test_names_are_suggested_by_the_beginnings_of_their_words(desk, typed, expected):
    assert [one.text for one in desk.suggest(typed)] == expected


@pytest.mark.parametrize("typed", ["carts", "xarts", "carts of"])
def test_no_unseen_name_decides_whether_a_slip_is_forgiven(typed):
    hidden = NameIndex(["carts", "warts of old"], {})
    alone = NameIndex(["warts of old"], {})
    seen, every = np.array([False, True]), np.array([True])
    told = [name for name, *_ in hidden.suggest(typed, 8, seen, hidden.seen(seen))]
    assert told == [name for name, *_ in alone.suggest(typed, 8, every, every)]
    assert told == ["warts of old"]


@pytest.mark.parametrize("at", [1e12, -1e15, 1e300, float("inf")])
def test_a_time_that_no_calendar_has_is_not_known(desk, at):
    write(desk.store, [row("w/public/refunds", updated_at=at)])
    (card,) = desk.browse(text="refunds").tables
    assert card.updated_at is None
    assert desk.table("w/public/refunds").card == card


def test_a_suggested_column_names_a_table_that_has_it(desk):
    assert desk.suggest("port") == [Suggestion("port", "column", "lake/trade/exports_2019")]
    assert desk.suggest("ord", k=1) == [Suggestion("orders", "table", "w/public/orders")]


def test_questions_with_a_confirmed_answer_are_suggested_last(desk):
    asked = {"Which ports export most?": True, "Which exports are wrong?": False}
    for question, confirmed in asked.items():
        tables = ["lake/trade/exports_2020"]
        desk.confirm_answer(question, tables, confirmed=confirmed, author="ana")
    found = desk.suggest("exp")
    assert [one.text for one in found] == [
        "exports_2019",
        "exports_2020",
        "Which ports export most?",
    ]
    assert found[-1] == Suggestion("Which ports export most?", "question", None)
    assert [one.kind for one in desk.suggest("most whi")] == ["question"]
    write(desk.store, [row("lake/trade/exports_2020", readers=("ben",))])
    with open_workspace() as other:
        assert not [one for one in other.suggest("exp", readers=("eve",)) if one.kind == "question"]
        assert [one for one in other.suggest("exp", readers=("ben",)) if one.kind == "question"]


@pytest.mark.parametrize(
    "asked",
    [
        lambda desk: desk.browse(sort="size"),
        lambda desk: desk.browse(limit=0),
        lambda desk: desk.browse(limit=1_001),
        lambda desk: desk.browse(offset=-1),
        lambda desk: desk.browse(offset=True),
        lambda desk: desk.browse(text=3),
        lambda desk: desk.browse(facets={"sources": ("w",)}),
        lambda desk: desk.browse(facets=Facets(sources="w")),
        lambda desk: desk.browse(facets=Facets(sources=("w", "nowhere"))),
        lambda desk: desk.browse(offset=10**5_000),
        lambda desk: desk.browse(facets=Facets(updated_within_days=0)),
        lambda desk: desk.browse(facets=Facets(updated_within_days=10**400)),
        lambda desk: desk.browse(readers=("",)),
        lambda desk: desk.suggest(None),
        lambda desk: desk.suggest("a", k=51),
        lambda desk: desk.sample_rows("w/public/orders", limit=0),
        lambda desk: desk.mark("a", "one text"),
    ],
)
def test_what_cannot_be_asked_is_refused(desk, asked):
    with pytest.raises(QueryError):
        asked(desk)


def test_a_change_is_seen_and_a_state_that_is_as_it_was_not_read_again(desk, monkeypatch):
    look_at_once(monkeypatch)
    monkeypatch.setattr(live, "OLDEST_S", 0.0)
    before = desk._catalog.current()
    assert desk._catalog.current() is before
    suggested = desk.suggest("port")
    desk.note_question("unicorns", "refused", door="page")
    assert desk._catalog.current() is before, "nothing that is listed was written"
    write(desk.store, [row("w/public/orders", "id", "amount", row_count=91)])
    assert desk.browse(text="orders").tables[0].rows == 91
    assert desk._catalog.current().names is before.names
    assert desk.suggest("port") == suggested
    write(desk.store, [row("w/public/refunds", "reason")])
    remove(desk.store, "w/public/returns")
    assert "refunds" in names(desk.browse(sort="updated"))
    assert desk.suggest("reas") == [Suggestion("reason", "column", "w/public/refunds")]
    assert not desk.suggest("returns")
    now = desk._catalog.current()
    texts = [one.read.texts["w/public/orders"] for one in (before, now)]
    assert texts[0] is texts[1], "what takes long is read again of tables that changed alone"
    desk.describe("w/public/refunds", None, "Money given back.", author="ana")
    assert desk.browse(text="refunds").tables[0].comment == "Money given back."


def test_who_asks_waits_for_no_reading_unless_what_there_is_has_become_too_old(desk, monkeypatch):
    look_at_once(monkeypatch)
    before = desk._catalog.current()
    write(desk.store, [row("w/public/refunds")])
    assert desk._catalog.current() is before, "another thread reads"
    until = time.monotonic() + 20
    while desk.browse().total == 7 and time.monotonic() < until:
        time.sleep(0.01)
    assert desk.browse().total == 8


def test_a_state_that_cannot_be_read_is_an_error_once_what_there_was_is_too_old(desk, monkeypatch):
    total = desk.browse().total
    look_at_once(monkeypatch)
    write(desk.store, [row("w/public/refunds")])

    def fails(*_):
        raise StateError("away")

    monkeypatch.setattr(live, "read_all", fails)
    assert desk.browse().total == total
    monkeypatch.setattr(live, "OLDEST_S", 0.0)
    with pytest.raises(StateError, match="away"):
        desk.browse()


def test_where_nothing_was_listed_there_is_nothing_and_nothing_is_made(here):
    with open_workspace(home=here / "none") as workspace:
        assert workspace.browse().total == 0
        assert workspace.suggest("a") == []
    assert not (here / "none").exists()
