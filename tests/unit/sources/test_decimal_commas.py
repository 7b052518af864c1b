"""Which columns of text files are numbers with a decimal comma, and what becomes of their cells."""

import openpyxl
import pytest

from tests.support.lake_tables import only_table, rows_in


def written(folder, cells, delimiter=";"):
    lines = [delimiter.join((f"n{i}", f'"{cell}"')) for i, cell in enumerate(cells)]
    (folder / "a.csv").write_text("\n".join([f"name{delimiter}amount", *lines]) + "\n")


def type_and_cells(lake):
    ref = only_table(lake)
    cells = [cell for _, cell in rows_in(lake, ref)]
    return lake.profile(ref).columns[1].type, cells


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["1.234,56", "3,5", "7", "-0,25"], ["1234.56", "3.5", "7", "-0.25"]),
        (["3,5", "4,25", "1,234"], ["3.5", "4.25", "1.234"]),
        (["1.234.567,8", "1.000"], ["1234567.8", "1000"]),
        (["0,017710299999999998", "0,1"], ["0.017710299999999998", "0.1"]),
        (["52,520008", "13,404954"], ["52.520008", "13.404954"]),
        (["0,123", "0,456"], ["0.123", "0.456"]),
        (["3,5", "NA", "", "2,5"], ["3.5", "NA", None, "2.5"]),
    ],
)
def test_numbers_with_a_decimal_comma(lake, folder, cells, numbers, delimiter):
    written(folder, cells, delimiter)
    assert type_and_cells(lake) == ("DOUBLE", numbers)


@pytest.mark.parametrize("delimiter", [";", "\t", ","])
@pytest.mark.parametrize(
    "cells",
    [
        ["1,234", "12,345", "999"],  # thousands
        ["37,000", "105,400"],
        ["1,234", "1,234,567"],
        ["1,2", "3,4,5", "6"],  # lists
        ["1, 2", "3, 4"],
        ["a,5", "3,5"],
        ["030,123456", "040,98765"],  # a code with a nought in front
        ["31.12,5", "1,5"],
        ["3,5 %", "4,5 %"],
        ["3,5", "2.5"],  # two ways to write it
    ],
)
def test_what_may_be_anything_else_stays_text(lake, folder, cells, delimiter):
    written(folder, cells, delimiter)
    assert type_and_cells(lake) == ("VARCHAR", cells)


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["3,5", "4,7"], "VARCHAR"),  # pairs, in a file that is parted by commas
        (["1.234,56", "3,5"], "DOUBLE"),
        (["3,05", "4,50"], "DOUBLE"),
    ],
)
def test_in_a_file_parted_by_commas_no_pair_is_a_number(lake, folder, cells, kind):
    written(folder, cells, ",")
    assert type_and_cells(lake)[0] == kind


def test_a_late_cell_of_another_kind_counts(lake, folder):
    written(folder, [*["3,5"] * 40_000, "by hand"])
    ref = only_table(lake)
    assert lake.profile(ref).columns[1].type == "VARCHAR"
    assert {row.cells[1] for row in lake.sample(ref, 5, 0)} == {"3,5"}


def test_a_sheet_with_numbers_that_were_typed_as_text(lake, folder):
    book = openpyxl.Workbook()
    for row in (["name", "amount"], ["a", "1.234,56"], ["b", "3,5"]):
        book.active.append(row)
    book.save(folder / "b.xlsx")
    assert type_and_cells(lake) == ("DOUBLE", ["1234.56", "3.5"])


def test_files_of_one_table(lake, folder):
    for day, cells in (("1", "a;3,5\nb;7,25\n"), ("2", "a;4\nb;5\n")):
        (folder / "t" / f"day={day}").mkdir(parents=True)
        (folder / "t" / f"day={day}" / "x.csv").write_text(f"name;amount\n{cells}")
    ref = only_table(lake)
    assert lake.profile(ref).columns[1].type == "DOUBLE"
    assert sorted(row[1] for row in rows_in(lake, ref)) == ["3.5", "4", "5", "7.25"]


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
@pytest.mark.parametrize("width", [2, 5])
def test_a_file_in_which_every_cell_has_a_comma_keeps_its_header(lake, folder, delimiter, width):
    names = [f"col{at}" for at in range(width)]
    rows = [[f"{row + at},{row + 10}" for at in range(width)] for row in range(30)]
    (folder / "a.csv").write_text("\n".join(delimiter.join(line) for line in [names, *rows]))
    table = lake.profile(only_table(lake))
    assert [(column.name, column.type) for column in table.columns] == [
        (name, "DOUBLE") for name in names
    ]
    assert table.row_count == 30
