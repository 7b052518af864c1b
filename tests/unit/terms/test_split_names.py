"""What glued and shortened names are taken to say."""

import random
from string import ascii_lowercase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pneuma_assets.core.tables import TableTerms
from pneuma_assets.core.terms.fields import name_parts
from pneuma_assets.core.terms.split_names import (
    in_words,
    name_prefixes,
    parted,
    shared_prefix,
    singular,
    spell_out,
    without_prefix,
)


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ("paperkeyphrase", ["paper", "key", "phrase"]),
        ("joindate", ["join", "date"]),
        ("religiousness", ["religiousness"]),
        ("mpg", ["mpg"]),
        ("bücher", ["bücher"]),
        ("kundennummer", ["kunden", "nummer"]),
        ("rechnungsdatum", ["rechnungs", "datum"]),
        ("gebäudenr", ["gebäude", "nr"]),
        ("custaddr", ["cust", "addr"]),
        ("x" * 1000, ["x" * 1000]),
        ("", [""]),
    ],
)
def test_glued_words_are_parted(part: str, words: list[str]) -> None:
    assert list(parted(part)) == words


@pytest.mark.parametrize(
    ("names", "prefix"),
    [
        ("sbTxId sbTxCustId sbTransaction", "sb"),
        ("sbcustid sbcustname sbcustomer", "sb"),
        ("tblcustomer tblorder tblorderitems", "tbl"),
        ("c_id c_name c_phone", "c"),
        ("customerid customername customer", ""),
        ("sbcustid sbcustname", ""),
        ("area avenue aid", ""),
        ("a a a", ""),
        ("", ""),
    ],
)
def test_what_is_put_before_all_names_is_told_from_them(names: str, prefix: str) -> None:
    assert shared_prefix([name_parts(name) for name in names.split()]) == prefix


@pytest.mark.parametrize("name", ["sb_cust_name", "sbCustName", "sbcustname"])
def test_a_prefix_is_no_word_and_parts_what_is_glued_to_it(name: str) -> None:
    assert "".join(without_prefix(name_parts(name), "sb")) == "custname"
    assert parted("sbcustname", {"sb"}) == ("sb", "cust", "name")
    assert without_prefix(["order", "id"], "order") == ["order", "id"], "that is a word"
    assert without_prefix(["sb"], "sb") == ["sb"], "nothing would be left"


@pytest.mark.parametrize(
    ("prefix", "names"),
    [
        ("xx", "xxcustomer xxorderitem xxfclt | xx_txn_hist"),
        ("tbl", "tblcustomer tblorderitems tblorders | orders"),
        ("ab", "aborders abcustomers abpayments | about"),
        ("sales", "salesorders salesitems salesfclt"),
        ("hotel", "hotelcustomer hotelorders hotelitems hotelrooms"),
        ("", " | tblcustomer tblorderitems orders"),
        ("", " | xxcustomer xxorders xxitems orders customers items"),
        ("", " | olist_items olist_orders olist_sellers"),
        ("", " | stock store staff"),
        ("", " | tfclt tlat tmbb"),
        ("", " | a a_ _ 1"),
    ],
)
def test_tables_of_a_schema_tell_what_their_names_are_glued_to(prefix: str, names: str) -> None:
    tables = {name: ("lake", "shop", name) for name in names.split() if name != "|"}
    assert name_prefixes(tables) == dict.fromkeys(names.partition("|")[0].split(), prefix)


def test_each_schema_has_a_prefix_of_its_own() -> None:
    names = [("s", "xx", f"xx{one}") for one in ("customers", "orders", "payments")]
    names += [("s", "tbl", f"tbl{one}") for one in ("customers", "orders", "payments")]
    names += [("s", "few", "xxcustomers"), ("s", "few", "xxorders")]
    tables = {"/".join(one): one for one in names}
    expected = {i: place for i, (_, place, _) in tables.items() if place != "few"}
    assert name_prefixes(tables) == expected


@pytest.mark.parametrize(
    ("name", "spelled"),
    [
        ("xxfclt", "xx fclt"),
        ("xxtxnhist", "xx txnhist txn hist transaction history"),
        ("xx_customer", ""),
        ("customer", ""),
    ],
)
def test_a_prefix_is_parted_off_whatever_stands_behind_it(name: str, spelled: str) -> None:
    assert spell_out(TableTerms(names=("lake", name)), [], "xx").spelled_names == spelled


def test_words_that_stand_alone_in_other_names_part_what_is_glued() -> None:
    names = TableTerms(columns=("fclt_room", "fcltcity"))
    assert spell_out(names, []).spelled_columns == "fclt city"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("youngkidsCost", "young kids cost"),
        ("WeekofPurchase", "week of purchase"),
        ("neighborhood", "neighborhood"),
        ("arabica", "arabica"),
        ("endorsee", "endorsee"),
        ("sbcustjoindate", "sbcustjoindate"),
        ("petal_length", "petal length"),
        ("paperid", "paper id"),
        ("startdt", "start dt"),
        ("interestamt", "interest amt"),
        ("regdt", "regdt"),
        ("txcustid", "tx cust id"),
    ],
)
def test_people_are_shown_sure_words_only(name: str, words: str) -> None:
    assert in_words([name]) == words


@pytest.mark.parametrize(
    ("column", "text", "spelled"),
    [
        ("cust_no", "One row a customer.", "customer"),
        ("cust_no", "One row a sale.", "customer"),
        ("inv_txn_hist", "One row an inventory.", "inventory transaction history"),
        ("crtd_ts", "", "created timestamp"),
        ("hrbr_no", "One row a sale.", ""),
        ("custjoindate", "when customers joined", "cust join date customers"),
        ("qty", "the quantity sold", "quantity"),
        ("qnty", "qnty | quantity ordered", "quantity"),
        ("age", "average of ages", ""),
        ("cstmr_no", "customers, a customer, colonists in summer", "customers"),
        ("hbr", "a harbour, each harbour; hbrx, hbrxyz once", "hbrxyz"),
        ("education", "of education", ""),
    ],
)
def test_short_names_are_spelt_by_what_was_written_of_their_table(
    column: str, text: str, spelled: str
) -> None:
    assert spell_out(TableTerms(columns=(column,)), [text]).spelled_columns == spelled


def random_words(count: int, length: int, first: str = "") -> list[str]:
    letters = random.Random(count)
    return [first + "".join(letters.choices(ascii_lowercase, k=length)) for _ in range(count)]


@pytest.mark.timeout(120)
def test_many_names_and_much_that_was_written_take_little_time() -> None:
    """All short parts against all words would be 10,000 times 5,000 comparisons."""
    columns = tuple(random_words(10_000, 4, "a"))
    written = " ".join(random_words(5_000, 8, "a"))
    spell_out(TableTerms(columns=("warm",)), ["warming"])
    spelled = spell_out(TableTerms(columns=columns), [written]).spelled_columns
    assert spelled


def test_a_part_that_comes_often_is_looked_for_once() -> None:
    columns = tuple(f"cust_{number}" for number in range(5_000))
    spelled = spell_out(TableTerms(columns=(*columns, "hrbr")), ["customer at the harbour"])
    assert spelled.spelled_columns == "customer harbour"


@given(st.lists(st.text(max_size=30), max_size=5), st.lists(st.text(max_size=200), max_size=3))
def test_any_names_and_texts_can_be_spelt(names: list[str], texts: list[str]) -> None:
    evidence = TableTerms(names=tuple(names), columns=tuple(names))
    prefixes = name_prefixes({str(at): ("place", name) for at, name in enumerate(names)})
    for prefix in {"", *prefixes.values()}:
        assert spell_out(evidence, texts, prefix).names == tuple(names)


@pytest.mark.parametrize(
    ("word", "one"),
    [("categories", "category"), ("users", "user"), ("statuses", "status"), ("status", "status"),
     ("addresses", "address"), ("address", "address"), ("boxes", "box"), ("bus", "bus"),
     ("analysis", "analysis"), ("ids", "id"), ("courses", "course"), ("is", "is"),
     ("movies", "movy"), ("movie", "movy"), ("tie", "tie"), ("ties", "tie")],
)  # fmt: skip
def test_words_are_compared_in_the_singular(word: str, one: str) -> None:
    assert singular(word) == one


@pytest.mark.parametrize(
    ("one", "several"),
    [("warehouse", "warehouses"), ("house", "houses"), ("muse", "muses"), ("use", "uses"),
     ("cache", "caches"), ("ache", "aches"), ("batch", "batches"), ("axe", "axes"),
     ("annexe", "annexes"), ("impasse", "impasses"), ("class", "classes"), ("bus", "buses"),
     ("wish", "wishes"), ("base", "bases"), ("she", "shes")],
)  # fmt: skip
def test_one_and_several_are_one_word_which_stays_as_it_is(one: str, several: str) -> None:
    assert singular(several) == singular(one) == singular(singular(one))
