"""Tables that lie in no database are called so that a model can write it and tell them apart."""

import pytest

from pneuma_assets.core.service.answer_sources import plain_names


@pytest.mark.parametrize(
    ("names", "wanted"),
    [
        (["lake/orders"], ["orders"]),
        (["lake/v1.2"], ["v1_2"]),
        (["lake/sales.csv", "lake/sales"], ["sales_csv", "sales"]),
        (["lake/2019/sales", "lake/2020/sales"], ["sales_2019", "sales_2020"]),
        (["lake/2019/eu/sales", "lake/2020/eu/Sales"], ["sales_2019", "Sales_2020"]),
        (["lake/sales", "lake/2020/sales"], ["sales", "sales_2020"]),
        (["lake/a/1/t", "lake/a/2/t", "lake/b/1/t"], ["t_a_1", "t_a_2", "t_b_1"]),
        (["north/sales", "south/sales"], ["sales_north", "sales_south"]),
        (["lake/x.xlsx/Sheet1"], ["x_Sheet1"]),
        (["lake/x.xlsx/Sheet1", "lake/y.xlsx/Sheet1"], ["x_Sheet1", "y_Sheet1"]),
        (["lake/a/x.xlsx/S", "lake/b/x.xlsx/S"], ["x_S_a", "x_S_b"]),
        (["lake/x.csv/part"], ["part"]),
        (["lake/my sales (final)"], ["my_sales_final"]),
        (["lake/---", "lake/!!!"], ["data", "data"]),
        (["lake/a.csv.gz"], ["a"]),
    ],
)
def test_names_say_in_what_tables_differ(names, wanted):
    assert list(plain_names(names).values()) == wanted


def test_each_table_has_a_name_however_often_it_is_given():
    assert plain_names(["lake/a", "lake/a"]) == {"lake/a": "a"}
    assert plain_names([]) == {}
