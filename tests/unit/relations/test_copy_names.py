"""Names that mark a copy, and everyday names that only look as if they did."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pneuma_assets.core.relations.version_names import letters_of, plain_name


@pytest.mark.parametrize(
    ("table_id", "stem", "marks"),
    [
        ("lake/sales/orders", "orders", ()),
        ("lake/sales/orders_backup", "orders", ("backup",)),
        ("lake/sales/OrdersBackup2", "orders", ("backup", "2")),
        ("lake/sales/orders.bak", "orders", ("bak",)),
        ("lake/sales/bak_orders", "orders", ("bak",)),
        ("lake/sales/tmp_order_items", "orderitems", ("tmp",)),
        ("lake/sales/Copy of orders", "orders", ("copy", "of")),
        ("lake/sales/orders - Copy (2)", "orders", ("copy", "2")),
        ("lake/sales/Kopie von Auftr%C3%A4ge", "auftrage", ("kopie", "von")),
        ("lake/sales/orders_2023_01_31", "orders", ("2023", "01", "31")),
        ("lake/sales/orders-20230131", "orders", ("20230131",)),
        ("lake/sales/orders_2023-01-31T0930", "orders", ("2023", "01", "31", "t", "0930")),
        ("lake/sales/20230131_orders", "orders", ("20230131",)),
        ("lake/sales/orders_bak_20230131", "orders", ("20230131", "bak")),
        ("lake/backup/orders", "orders", ("backup",)),
        ("lake/sales_backup/orders", "orders", ("backup",)),
        ("lake/old/orders", "orders", ("old",)),
        ("lake/test/tmp_orders", "orders", ("tmp", "test")),
    ],
)
def test_a_mark_is_told_from_the_name_it_was_put_on(table_id, stem, marks):
    found = plain_name(table_id)

    assert (found.stem, found.marks) == (stem, marks)


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("orders_old", "orders"),
        ("old_orders", "orders"),
        ("test_orders", "orders"),
        ("orders_temp", "orders"),
        ("orders_v2", "orders"),
        ("orders_sample", "orders"),
        ("orders_archive_2", "orders"),
    ],
)
def test_everyday_words_mark_a_copy_beside_the_table_of_that_name_only(name, stem):
    assert plain_name(f"lake/sales/{name}").marks == ()
    assert plain_name(f"lake/sales/{name}", {stem}).stem == stem
    assert plain_name(f"lake/sales/{name}", {stem}).marks


@pytest.mark.parametrize(
    "name",
    [
        *("gold", "marigold", "household", "testimony", "contest", "attestation", "protest"),
        *("temporary_workers", "temperature", "template", "contemporary_art", "tempo"),
        *("old_age_pension", "old_faithful", "blood_test", "driving_tests", "devices"),
        *("copyright", "copies_sold", "backpack", "stgeorge", "archives_of_history", "samples"),
        *("backup", "tmp", "test", "copy", "old", "v2", "2023_01_31", "snapshot"),
        *("sales_2023", "sales_2023_01", "sales_202301", "sales_q1", "flight_747", "room_20239999"),
        *("orders_1", "world_cup_2018", "ip_v6", "", "%", "___"),
    ],
)
def test_real_names_bear_no_mark(name):
    found = plain_name(f"lake/data/{name}", {"orders", "sales"})

    assert found.marks == ()
    assert found.stem == letters_of(f"lake/data/{name}")


@pytest.mark.parametrize("place", ["contest", "gold", "old_age_pension", "clinical_tests", "devs"])
def test_real_places_are_no_places_of_copies(place):
    assert plain_name(f"lake/{place}/orders").marks == ()


@given(st.text(max_size=200))
def test_any_name_has_an_end_and_keeps_something_of_itself(name):
    found = plain_name(f"lake/{name}")

    assert bool(found.stem) == bool(letters_of(f"lake/{name}"))
    assert found == plain_name(f"lake/{name}")
