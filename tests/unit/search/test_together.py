"""Copies and families are one result, and a backup stands behind what it is of."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from pneuma_assets.core.config.query import QueryOptions
from pneuma_assets.core.index.base import IndexFilter, TableContents
from pneuma_assets.core.search.query import QueryEngine
from pneuma_assets.core.tables import Block, DocumentKind, TableFacts, TableTerms
from tests.support.counting_index import CountingIndex
from tests.support.index_blocks import embedded
from tests.support.word_encoder import WordEncoder

COLUMNS = ("order", "customer", "amount")
ROWS = (("1", "Jon Smith", "20"), ("2", "Ann Lee", "35"))
QUESTION = "amount that a customer paid for an order"


class Shop:
    """An index of tables that are alike, and what is known of them."""

    def __init__(self, index: CountingIndex) -> None:
        self.index = index
        self.engine = QueryEngine(index, WordEncoder(), defaults=QueryOptions(trust=0.0))

    def add(self, table_id, text, facts=None, rows=ROWS, columns=COLUMNS):
        blocks = embedded([Block(table_id, DocumentKind.SCHEMA, text)])[table_id]
        evidence = TableTerms(tuple(table_id.split("/")), columns, rows=rows)
        self.index.replace_tables(
            {table_id: TableContents(blocks, evidence, facts or TableFacts())}
        )

    def ask(self, question=QUESTION, **options):
        found = self.engine.ask(question, **options)
        return [(one.table_id, one.copies) for one in found]


@pytest.fixture
def shop(tmp_path) -> Iterator[Shop]:
    encoder = WordEncoder()
    with closing(CountingIndex(tmp_path / "index", encoder.name, encoder.dimension)) as index:
        shop = Shop(index)
        shop.add("lake/sales/orders", "order | customer | amount")
        shop.add("lake/hr/wages", "employee | wage", columns=("employee", "wage"), rows=())
        yield shop


COPY = TableFacts(copy_of="lake/sales/orders")


def test_copies_are_one_result_and_the_original_stands_where_the_best_would(shop):
    shop.add("lake/other/payments", "amount that a customer paid for an order", COPY)
    shop.add("lake/sales/orders_2", "order | customer", COPY)

    found = shop.ask()

    assert found[0] == ("lake/sales/orders", ("lake/other/payments", "lake/sales/orders_2"))
    assert [table_id for table_id, _ in found] == ["lake/sales/orders", "lake/hr/wages"]


@pytest.mark.parametrize("copy", ["Copy of orders", "Kopie von orders", "Copie de orders"])
@pytest.mark.parametrize("word", ["of", "von", "de"])
def test_little_words_beside_a_mark_ask_for_no_copy(shop, copy, word):
    shop.add(f"lake/sales/{copy}", f"amount paid {word} a customer for an order", COPY)
    found = shop.ask(f"amount {word} a customer")
    assert found[0] == ("lake/sales/orders", (f"lake/sales/{copy}",))
    assert all(f"lake/sales/{copy}" != table_id for table_id, _ in found)


@pytest.mark.parametrize("question", [QUESTION, "wages", "order"])
def test_scores_descend(shop, question):
    shop.add("lake/other/payments", "amount that a customer paid for an order", COPY)
    shop.add("lake/tmp/orders_bak", "amount that a customer paid for an order")
    scores = [one.score for one in shop.engine.ask(question)]
    assert scores == sorted(scores, reverse=True)


def test_an_original_that_was_not_proposed_is_looked_up(shop):
    for number in range(6):
        shop.add(f"lake/other/copy_{number}", f"{QUESTION} {number}", COPY)

    first, copies = shop.ask(k=1, n=1)[0]

    assert first == "lake/sales/orders"
    assert copies


def test_the_copy_alone_is_shown_to_a_filter_that_names_it(shop):
    shop.add("lake/sales/orders_backup", "order | customer", COPY)

    only = IndexFilter(tables=("lake/sales/orders_backup",))
    both = IndexFilter(tables=("lake/sales/orders_backup", "lake/sales/orders"))

    assert shop.ask(where=only) == [("lake/sales/orders_backup", ())]
    assert {table_id for table_id, _ in shop.ask(where=both)} == {*both.tables}


@pytest.mark.parametrize("question", ["orders_backup", "sales.orders_backup", "payments"])
def test_whoever_asks_for_the_backup_gets_it_first(shop, question):
    name = question.removeprefix("sales.")
    shop.add(f"lake/sales/{name}", "order | customer", COPY)

    assert shop.ask(question)[0] == (f"lake/sales/{name}", ())


@pytest.mark.parametrize("mark", ["backup", "bak", "bkp"])
@pytest.mark.parametrize("word", ["backup", "bak", "sicherung"])
def test_whoever_asks_for_a_backup_in_words_is_shown_both(shop, mark, word):
    shop.add(f"lake/sales/orders_{mark}", "order | customer", COPY)

    found = shop.ask(f"the {word} of the orders")

    assert {(f"lake/sales/orders_{mark}", ()), ("lake/sales/orders", ())} <= {*found}


def test_a_backup_that_is_asked_for_in_words_stands_before_its_original(shop):
    shop.add("lake/backup/orders_old", "x", COPY)
    shop.add("lake/far/orders", "backup of the orders")

    found = shop.ask("backup of the orders")
    order = [table_id for table_id, _ in found]

    assert order.index("lake/backup/orders_old") == order.index("lake/sales/orders") - 1
    assert [copies for _, copies in found] == [()] * len(found)


def test_the_name_of_the_original_finds_the_original(shop):
    shop.add("lake/sales/orders_backup", "order | customer", COPY)

    assert shop.ask("orders")[0] == ("lake/sales/orders", ("lake/sales/orders_backup",))


def test_a_version_that_is_asked_for_by_its_words_stays_where_it_is(shop):
    shop.add("lake/sales/orders_old", f"old {QUESTION}")
    assert shop.ask(f"{QUESTION} in the old orders")[0][0] == "lake/sales/orders_old"
    for other in ("", ", old or new, of orders", ", too old to archive orders"):
        assert shop.ask(f"{QUESTION}{other}")[0][0] == "lake/sales/orders"


@pytest.mark.parametrize(
    "table_id",
    [
        "lake/sales/orders_old",
        "lake/sales/tmp_orders",
        "lake/backup/orders",
        "lake/sales/orders_2023_01_31",
        "lake/sales/Copy of orders",
        "lake/sales/orders_v2",
        "lake/sales/shadow_orders",
        "lake/sales/orders_r34",
    ],
)
def test_what_a_name_calls_old_stands_behind_although_it_matches_better(shop, table_id):
    shop.add(table_id, QUESTION, rows=(("9", "Al Kay", "7"),))

    assert [i for i, _ in shop.ask()][:2] == ["lake/sales/orders", table_id]


def test_the_backup_draws_no_other_table_of_its_name_with_the_original(shop):
    shop.add("lake/backup/orders", QUESTION, rows=(("9", "Al Kay", "7"),))
    shop.add("lake/hr/bills", "amount that a customer paid", rows=(("8", "Bo", "6"),))
    shop.add("lake/far/orders", "x", rows=(("7", "Cy", "5"),))

    found = [i for i, _ in shop.ask()]

    assert found[:2] == ["lake/sales/orders", "lake/backup/orders"]
    assert found.index("lake/hr/bills") < found.index("lake/far/orders")


def test_a_table_without_rows_stands_behind_the_one_that_has_some(shop):
    shop.add("lake/landing/orders", QUESTION, rows=())

    assert [i for i, _ in shop.ask()][:2] == ["lake/sales/orders", "lake/landing/orders"]


@pytest.mark.parametrize("table_id", ["lake/sales/orders_2024", "lake/test/contracts"])
def test_other_tables_stay_where_they_are(shop, table_id):
    shop.add(table_id, QUESTION, rows=(("9", "Al Kay", "7"),))

    assert shop.ask()[0][0] == table_id


def test_a_backup_of_other_columns_stays_where_it_is(shop):
    shop.add("lake/sales/orders_old", QUESTION, rows=(), columns=("amount", "year", "paid"))

    assert shop.ask()[0][0] == "lake/sales/orders_old"


def test_copies_of_a_hidden_table_are_one_and_name_what_is_seen_alone(shop):
    orders = "lake/sales/orders"
    shop.index.set_facts({orders: TableFacts(readers=("boss",))})
    for name, reader in (("a", "clerk"), ("b", "clerk"), ("c", "boss")):
        facts = TableFacts((reader,), copy_of=orders)
        shop.add(f"lake/other/{name}", QUESTION, facts)

    clerk = shop.ask(where=IndexFilter(readers=("clerk",)))
    boss = shop.ask(where=IndexFilter(readers=("boss",)))
    anybody = shop.ask()

    assert clerk[0] == ("lake/other/a", ("lake/other/b",))
    assert "orders" not in str(clerk)
    assert boss[0] == (orders, ("lake/other/c",))
    assert len(anybody[0][1]) == 3


def test_what_hidden_tables_make_of_a_table_is_no_matter_of_trust(shop):
    facts = TableFacts(feeds=50)
    trusting = QueryEngine(shop.index, WordEncoder(), defaults=QueryOptions(trust=0.2))

    def found(readers):
        return trusting.ask("customer amount", where=IndexFilter(readers=readers))

    shop.add("lake/sales/sold", "order | customer | amount")
    before = found(("clerk",))
    shop.index.set_facts({"lake/sales/sold": facts})

    assert found(("clerk",)) == before
    assert found(None) != before


def test_trust_moves_no_confidence(shop):
    facts = TableFacts(owned=True, documented=1.0, feeds=50)
    shop.add("lake/sales/sold", "order | customer | amount", facts)
    trusting = QueryEngine(shop.index, WordEncoder(), defaults=QueryOptions(trust=0.2))
    before, after = (one.ask("customer amount") for one in (shop.engine, trusting))

    assert [one.table_id for one in before][:2] == ["lake/sales/orders", "lake/sales/sold"]
    assert [one.table_id for one in after][:2] == ["lake/sales/sold", "lake/sales/orders"]
    for key in ("confidence", "answerable"):
        assert {one.table_id: getattr(one, key) for one in before} == {
            one.table_id: getattr(one, key) for one in after
        }
    for one in after:
        assert one.parts.lexical + one.parts.semantic + one.parts.trust == pytest.approx(one.score)


YEARS = range(2001, 2031)


@pytest.fixture
def years(shop):
    """The shop with a table a year, which leaves little room for others, and one more."""
    for year in YEARS:
        facts = TableFacts(family="lake/sales/paid_2001")
        shop.add(f"lake/sales/paid_{year}", QUESTION, facts, rows=(("1", f"Ann {year}", "2"),))
    shop.add("lake/far/bills", "amount of a bill", columns=("bill",), rows=())
    return shop


def families(shop, question=QUESTION, **options):
    return {one.table_id: one.family for one in shop.engine.ask(question, **options)}


def test_a_family_is_one_result_with_its_newest_member(years):
    found = years.engine.ask(QUESTION, k=3, n=1)
    (one,) = [one for one in found if one.family is not None]
    family = one.family

    assert one.table_id == "lake/sales/paid_2030"
    assert {"lake/sales/orders", "lake/far/bills"} <= {one.table_id for one in found}
    assert (family.name, family.tables) == ("lake/sales/paid_*", len(YEARS))
    assert (family.first, family.last) == ("lake/sales/paid_2001", "lake/sales/paid_2030")
    assert family.members[0] == "lake/sales/paid_2029"
    assert one.to_dict()["family"]["tables"] == len(YEARS)


def test_a_family_of_any_words_leaves_room_too_and_shows_its_best_member(shop, monkeypatch):
    words = [f"{one}{other}t" for one in "bcdfghkmprs" for other in "aeiou"]
    for word in words:
        facts = TableFacts(family="lake/sales/paid_each_shop_bat")
        said = QUESTION if word == "cet" else QUESTION.replace("amount", "sum")
        shop.add(f"lake/sales/paid_each_shop_{word}", said, facts, rows=(("1", "Ann", "2"),))
    found = families(shop, k=3, n=1)
    assert next(iter(found)) == "lake/sales/paid_each_shop_cet"
    assert found["lake/sales/paid_each_shop_cet"].tables == len(words)
    assert "lake/sales/orders" in found
    assert next(iter(families(shop, f"{QUESTION} in gut"))) == "lake/sales/paid_each_shop_gut"
    asked, search = [], shop.index.search
    monkeypatch.setattr(shop.index, "search", lambda *a: asked.append(a[2]) or search(*a))
    families(shop, k=5, n=1)
    assert asked[-1].but_families == ("lake/sales/paid_each_shop_bat",), "others are looked for"


@pytest.mark.parametrize("k", range(1, 6))
@pytest.mark.parametrize("known", [COPY, TableFacts(family="lake/sales/paid_2001")])
def test_there_are_as_many_results_as_are_asked_for_if_there_are_so_many_tables(shop, known, k):
    for year in (2001, 2002, 2003):
        shop.add(f"lake/sales/paid_{year}", f"{QUESTION} {year}", known)
    for number, word in enumerate(("bill", "age", "name", "place")):
        shop.add(f"lake/far/{word}", word, columns=(word,), rows=((str(number),),))

    assert len(shop.ask(k=k, n=1)) == k


def test_the_member_that_a_question_names_is_shown_with_the_others_that_it_names(years):
    found = families(years, f"{QUESTION} in 2007 and 2003")

    assert [one for one in found if "paid" in one] == ["lake/sales/paid_2007"]
    assert found["lake/sales/paid_2007"].members == ("lake/sales/paid_2003",)
    assert next(iter(families(years, "paid_2004"))) == "lake/sales/paid_2004"
    assert next(iter(families(years, "what Ann 2005 paid"))) == "lake/sales/paid_2005"


def test_members_that_a_filter_names_are_results_of_their_own(years):
    two = ("lake/sales/paid_2002", "lake/sales/paid_2009")
    assert families(years, where=IndexFilter(tables=two)) == dict.fromkeys(two)


def test_members_that_the_asker_may_not_see_are_neither_named_nor_counted(years):
    for year in YEARS[3:]:
        facts = TableFacts(readers=("boss",), family="lake/sales/paid_2001")
        years.index.set_facts({f"lake/sales/paid_{year}": facts})
    clerk = families(years, f"{QUESTION} in 2007", where=IndexFilter(readers=("clerk",)))
    family = clerk["lake/sales/paid_2003"]

    assert (family.tables, family.last) == (3, "lake/sales/paid_2003")
    assert "paid_2007" not in str(clerk)
    assert family.absent == ("2007",)  # as of a year that no table is of
    hidden = TableFacts(readers=("boss",), family="lake/sales/paid_2001")
    years.index.set_facts(dict.fromkeys((f"lake/sales/paid_{one}" for one in (2001, 2002)), hidden))
    assert families(years, where=IndexFilter(readers=("clerk",)))["lake/sales/paid_2003"] is None


def test_sets_are_made_of_several_members_and_of_those_a_search_shows(years):
    groups = years.engine.find_groups(QUESTION, k=10)
    members = dict.fromkeys(i for one in groups for i in one.tables if "lake/sales/paid" in i)
    assert len(members) == 5
    shown = next(i for i, family in families(years, k=3, n=1).items() if family is not None)
    assert next(iter(members)) == shown


def test_a_rare_word_counts_also_where_a_family_leaves_no_room(years):
    years.add("lake/far/codes", "x", columns=("code",), rows=(("Zyxwv",),))
    found = {one.table_id: one.parts.signals for one in years.engine.ask("Ann Zyxwv", k=6, n=1)}
    assert found["lake/far/codes"]["rare"] > 0
