"""Which tables are parts of one thing, and which of them a question means."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pneuma_assets.core.relations.families import (
    families_by_word,
    family_of,
    find_families,
    name_of_family,
)
from pneuma_assets.core.relations.part_names import meant, order_of

DAYS = [f"web/ga/ga_sessions_2017{month}{day:02}" for month in ("07", "08") for day in (1, 2, 30)]
SHARDS = [f"s/t_{number}" for number in range(1_500, 2_500)]
STATES = ["shop/orders_ca", "shop/orders_or", "shop/orders_tx", "shop/orders_new_york"]


def families(*names: str, columns=frozenset(range(10)), **other: frozenset[int]):
    return find_families({name: other.get(name, columns) for name in names})


@pytest.mark.parametrize(
    ("names", "name"),
    [
        (["s/sales_2019", "s/sales_2020", "s/sales_2022"], "s/sales_*"),
        (["s/a/water-testing-2002", "s/a/water-testing-2003"], "s/a/water-testing-*"),
        (["s/gsod1929", "s/gsod1930"], "s/gsod*"),
        (["s/2019/sales", "s/2020/sales"], "s/*/sales"),
        (["s/salesJan2019", "s/salesFeb2019", "s/salesJan2020"], "s/sales*"),
        (["s/part-0001", "s/part-0002", "s/part-0004", "s/part-0003"], "s/part-*"),
        (["s/level1_r3", "s/level1_r4", "s/level1_r5"], "s/level1_r*"),
        (["s/2019_q1", "s/2019_q2", "s/2020_q1"], "s/*"),
        (DAYS, "web/ga/ga_sessions_*"),
        (STATES, "shop/orders_*"),
        (SHARDS, "s/t_*"),
        (["s/ordersCA", "s/ordersTX", "s/ordersNY"], "s/orders*"),
        (["s/CAOrders", "s/TXOrders"], "s/*Orders"),
        (["s/germany_sales", "s/south_korea_sales"], "s/*_sales"),
        (["s/sales_north", "s/sales_south", "s/sales_east"], "s/sales_*"),
        (["s/EMEA sales", "s/APAC sales"], "s/* sales"),
        (["s/texas/orders", "s/ohio/orders"], "s/*/orders"),
        (["s/2019/01/sales", "s/2019/02/sales", "s/2020/01/sales"], "s/*/sales"),
        (["s/FY2019/sales", "s/FY2020/sales"], "s/FY*/sales"),
        (["s/a_15_01_2019", "s/a_31_01_2019", "s/a_01_02_2019"], "s/a_*_2019"),
        (["s/games_2010_11", "s/games_2011_12", "s/games_2012_13"], "s/games_*"),
        (["s/a_2019_W52", "s/a_2020_W01"], "s/a_*"),
        (["s/2019_W07/a", "s/2019_W08/a"], "s/2019_W*/a"),
        (["s/sales3Q19", "s/sales4Q19", "s/sales1Q20"], "s/sales*"),
        (["s/t_98", "s/t_99", "s/t_00", "s/t_01"], "s/t_*"),
    ],
)
def test_parts_of_one_thing_are_a_family(names, name):
    assert families(*names) == dict.fromkeys(sorted(names), min(names))
    assert name_of_family(names) == name


@pytest.mark.parametrize(
    "names",
    [
        ["s/orders", "s/orders_2020"],
        ["s/sales_2019", "s/returns_2020"],
        ["s/a/sales_2019", "s/b/sales_2020"],
        ["s/sales_2019", "t/sales_2020"],
        ["s/order_17", "s/order_245"],
        ["s/cbsa_1yr", "s/cbsa_3yr", "s/cbsa_5yr"],
        ["s/no2_summary", "s/so2_summary"],
        ["s/phases", "s/cities"],
        ["s/2019/🎺", "s/2019/🎻"],
        ["s/plan_a", "s/plan_b"],
        ["s/2-1801-2", "s/2-9824-1"],
        ["s/waterNO2", "s/waterSO2"],
        ["s/form_w2", "s/form_w4"],
        ["s/report_2_q3", "s/report_4_q3"],
        ["s/a_13_14_2019", "s/b_31_31_2019"],
        ["s/samples_level_2", "s/samples_level_3"],
        ["s/form_940", "s/form_941", "s/form_1040"],
        ["s/ordersca", "s/orderstx"],
        ["s/1984", "s/1985", "s/2275", "s/10655", "s/77"],
    ],
)
def test_others_are_none(names):
    assert families(*names) == {}


RAIN = [f"s/rain_by_month_{city}" for city in ("bergen", "lima", "oslo", "rome")]
COMMON = {f"s/other{n}": frozenset([0, 1, 2, 3, 100 + n]) for n in range(4)}
"""Tables of four kinds that have the same four columns."""


def by_word(*names: str, columns=frozenset(range(50, 55)), **other: frozenset[int]):
    known = {name: other.get(name, columns) for name in names} | COMMON
    return families_by_word(known, find_families(known))


def test_four_tables_of_equal_columns_are_a_family_whatever_their_last_words():
    assert by_word(*RAIN) == dict.fromkeys(RAIN, RAIN[0])
    assert name_of_family(RAIN) == "s/rain_by_month_*"
    assert meant("How much did it rain in Oslo in May?", RAIN) == [RAIN[2]]
    assert meant("How much did it rain in May?", RAIN) == RAIN
    years = ["s/rain_by_month_2019", "s/rain_by_month_2020"]
    assert by_word(*RAIN, *years) == dict.fromkeys(RAIN, RAIN[0])
    assert by_word(*RAIN, *COMMON, "s/rain_by_month_raw") == dict.fromkeys(RAIN, RAIN[0])


@pytest.mark.parametrize(
    ("names", "columns"),
    [
        (RAIN[:3], {}),
        (RAIN, {RAIN[0]: frozenset(range(50, 56))}),
        ([*RAIN[:3], "s/a/rain_by_month_lima"], {}),
        (["s/dim_customer", "s/dim_product", "s/dim_store", "s/dim_day"], {}),
        ([f"s/shop_orders_{one}" for one in ("bronze", "silver", "gold", "raw")], {}),
        ([f"s/shop_orders_{one}" for one in ("copy", "old", "tmp", "notes", "backup")], {}),
        ([f"s/shop_orders_{one}" for one in ("2018", "2019", "2020", "2021", "notes")], {}),
        ([f"s/{one}_daily_summary" for one in ("lead", "ozone", "wind", "voc")], {}),
        ([f"s/posts_{one}" for one in ("questions", "answers", "wikis", "nominations")], {}),
        (RAIN, dict.fromkeys(RAIN, frozenset(range(4)))),
        (RAIN, dict.fromkeys(RAIN, frozenset([0, 1, 50, 51]))),
    ],
)
def test_what_may_be_different_things_is_no_family_by_words(names, columns):
    assert by_word(*names, **columns) == {}


def test_more_members_need_fewer_columns_that_tell_of_one_thing():
    many = [f"s/rain_by_month_{chr(97 + n)}{chr(97 + n)}t" for n in range(12)]
    assert by_word(*many, columns=frozenset([0, 1, 50])) == dict.fromkeys(many, many[0])


def test_among_numbered_tables_a_year_is_a_number_where_it_counts_through_with_them():
    few = ["s/part-1", "s/part-2", "s/part-3"]
    assert families(*few, "s/part-2019") == dict.fromkeys(few, few[0])
    assert sorted(SHARDS, key=order_of) == SHARDS


@pytest.mark.timeout(30)
def test_numbers_that_count_through_are_parts_beside_others():
    many = [
        f"s/part_{300_000_000 + 20 * at + number}" for at in range(10_000) for number in (1, 2, 3)
    ]
    assert len(families(*many)) == len(many)
    few = ["s/report_1", "s/report_2", "s/report_3"]
    assert families(*few, "s/report_1040") == dict.fromkeys(few, few[0])


def test_members_have_nearly_the_same_columns_and_new_ones_change_nothing():
    newer, other = frozenset(range(1, 11)), frozenset(range(5, 15))
    names = ["s/sales_2018", "s/sales_2019", "s/sales_2020", "s/sales_2021", "s/sales_2022"]
    columns = {"s/sales_2019": newer, "s/sales_2021": other, "s/sales_2022": other}
    found = families(*names, **columns)
    assert found == dict.fromkeys(names[:3], names[0]) | dict.fromkeys(names[3:], names[3])
    assert families(*names[:2], columns=frozenset()) == {}
    assert families(*DAYS).items() <= families(*DAYS, "web/ga/ga_sessions_20170831").items()


@pytest.mark.parametrize(
    ("question", "days"),
    [
        ("How many sessions were there in August 2017?", DAYS[3:]),
        ("sessions of 2017-07-30", DAYS[2:3]),
        ("sessions on August 1, 2017", DAYS[3:4]),
        ("sessions on 2 jul 2017", DAYS[1:2]),
        ("sessions on August 1st, 2017", DAYS[3:4]),
        ("sessions on the 2nd of July 2017", DAYS[1:2]),
        ("sessions in 2017", DAYS),
        ("sessions in 2018", DAYS),
        ("the 2 longest sessions", DAYS),
    ],
)
def test_a_question_means_the_days_that_it_names(question, days):
    assert meant(question, DAYS) == days


@pytest.mark.parametrize(
    ("question", "states"),
    [
        ("orders in California", STATES[:1]),
        ("orders from TX or CA", [STATES[0], STATES[2]]),
        ("orders in new york", STATES[3:]),
        ("orders or returns", STATES),
        ("new orders", STATES),
    ],
)
def test_a_question_means_the_states_that_it_names(question, states):
    assert meant(question, STATES) == states


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("orders in South Korea", ["s/a_kr", "s/a_za", "s/a_de"]),
        ("orders in week 7 of 2019", ["s/a_2019_W07", "s/a_2019_W08", "s/a_2018_W07"]),
        ("sales in Q3 2019", ["s/a_3Q19", "s/a_2Q19", "s/a_3Q18"]),
        ("orders in Canada", ["s/a_ca", "s/a_us"]),
        ("orders in Germany", ["s/a_de", "s/a_fr"]),
        ("sales in Q3 2019", ["s/a_2019_q3", "s/a_2019_q2", "s/a_2018_q3"]),
        ("sales in 2019", ["s/a_19", "s/a_18", "s/a_20"]),
        ("sales in fiscal year 2019", ["s/a_FY19", "s/a_FY20"]),
        ("visits on May 3, 2019", ["s/a_03_05_2019", "s/a_13_05_2019"]),
        ("visits on May 13, 2019", ["s/a_05132019", "s/a_05122019"]),
        ("the report 13 14 2019", ["s/a_13_14_2019", "s/a_13_14_2020"]),
    ],
)
def test_a_question_means_the_part_that_it_says_in_other_words(question, names):
    assert meant(question, names) == names[:1]


@pytest.mark.parametrize(
    ("question", "names", "absent"),
    [
        ("sales in 2015 and 2014", ["s/a_2013", "s/a_2014"], ("2015",)),
        ("sales in May 2015", ["s/a_2014_05", "s/a_2014_06"], ("2015",)),
        ("sales in 2020", ["s/a_2018_19", "s/a_2019_20"], ()),
        ("sales in 2017", ["s/a_2010_2015", "s/a_2015_2020"], ()),
        ("sales in 2019", ["s/a_18", "s/a_19"], ()),
        ("sales in 2015", ["s/a_tx", "s/a_2014_ca"], ()),
        ("the best sales", ["s/a_2013", "s/a_2014"], ()),
    ],
)
def test_years_that_no_part_is_of_are_told(question, names, absent):
    assert family_of(names[0], names, names, question).absent == absent


def test_numbers_of_two_digits_that_begin_at_one_are_no_years():
    shards = [f"s/part_{number:02}" for number in range(1, 25)]
    assert meant("sales in 2019", shards) == shards


@pytest.mark.parametrize(
    "named", [("va", "wv", "nc"), ("virginia", "west_virginia", "NorthCarolina")]
)
def test_a_state_of_several_words_is_meant_by_all_of_them(named):
    names = [f"shop/orders_{one}" for one in named]
    assert meant("orders in Virginia", names) == names[:1]
    assert meant("orders in west virginia", names) == names[1:2]
    assert meant("orders in Virginia and North Carolina", names) == [names[0], names[2]]
    assert meant("orders from the west", names) == names


def test_members_are_ordered_by_what_their_names_say():
    names = ["s/a_2019_feb", "s/a_2018_mar", "s/a_2019_jan", "s/a_2019_10", "s/a_2019_9"]
    assert sorted(names, key=order_of) == [names[i] for i in (1, 4, 2, 0, 3)]
    family = family_of(names[0], sorted(names, key=order_of, reverse=True), [names[2], names[0]])
    assert (family.tables, family.first, family.last) == (5, names[1], names[3])
    assert (family.name, family.members) == ("s/a_*", (names[2],))


@given(st.lists(st.text(), max_size=8), st.text())
def test_any_names_and_questions_are_read(names, question):
    found = families(*names)
    assert found.keys() <= set(names)
    assert set(meant(question, names)) <= set(names)


@pytest.mark.timeout(120)  # compared by pairs they would take much longer
def test_ten_thousand_shards_and_hostile_names_take_no_longer_than_they_must():
    first = date(1990, 1, 1)
    shards = [f"s/events_{first + timedelta(days):%Y%m%d}" for days in range(10_000)]
    hostile = ["s/" + "1a" * 50_000, "s/" + "2017 " * 20_000, "s/" + "9" * 100_000]
    assert len(families(*shards, *hostile)) == len(shards)
    meant("events of May 2011", shards)
