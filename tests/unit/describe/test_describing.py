"""What is shown of a column: people's own words, a model's, or plain facts."""

import pytest

from pneuma_assets.core.describe.columns import (
    SAMPLED,
    SEEN,
    added_descriptions,
    best_descriptions,
    fact_descriptions,
    read_descriptions,
    searched_text,
)
from pneuma_assets.core.describe.texts import GUESSED, SPELT, column_text, spelt_out
from pneuma_assets.core.dictionaries.lines import Glossary
from pneuma_assets.core.tables import Column, Description, Provenance, Table


def table(*columns: tuple[str, str], rows: int = 4) -> Table:
    return Table("lake/t", tuple(Column(*column) for column in columns), rows, "/t.csv")


@pytest.mark.parametrize(
    ("name", "words", "confidence"),
    [
        ("age", "", SPELT),
        ("AGE", "", SPELT),
        ("body mass", "", SPELT),
        ("body_mass", "body mass", SPELT),
        ("midParentHeight", "mid parent height", SPELT),
        ("cust_addr", "customer address", GUESSED),
        ("qty", "quantity", GUESSED),
        ("crtd_ts", "created timestamp", GUESSED),
        ("start_dt", "start date", GUESSED),
        ("startdt", "start date", GUESSED),
        ("lastUpdtDttm", "last updated date and time", GUESSED),
        ("gdpPercap", "gross domestic product per capita", GUESSED),
        ("zip_code", "postal code", GUESSED),
        ("zip", "postal code", GUESSED),
        ("zipcode", "postal code", GUESSED),
        ("zip_code_type", "postal code type", GUESSED),
        ("date_dob", "date of birth", GUESSED),
        ("phone_phn_nbr", "phone number", GUESSED),
        ("lat_latitude", "latitude", GUESSED),
        ("code_zip_code", "code postal code", GUESSED),
        ("bora_bora", "bora bora", SPELT),
        ("", "", SPELT),
        ("\u5e74\u9f62", "", SPELT),
        ("no", "", SPELT),
        ("V20", "", SPELT),
        ("x_136", "", SPELT),
        ("duration_min", "duration min", SPELT),
        ("wavelength_nm", "wavelength nm", SPELT),
        ("school_dist", "school dist", SPELT),
        ("park_ave", "park ave", SPELT),
        ("tmp", "", SPELT),
        ("HR", "", SPELT),
    ],
)
def test_a_name_is_spelt_out(name, words, confidence):
    assert spelt_out(name) == (words, confidence)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("weight_kg", "weight in kilograms"),
        ("Flipper Length (mm)", "flipper length in millimeters"),
        ("speed [km/h]", "speed in kilometers per hour"),
        ("amount (in USD)", "amount in US dollars"),
        ("Weight_in_lbs", "weight in pounds"),
        ("tot_amt_eur", "total amount in euros"),
        ("share (%)", "share in percent"),
        ("trip_dur_mins", "trip duration in minutes"),
        ("duration_min", None),
        ("length_m", None),
        ("share_pct", "share percent"),
        ("ci_lb", None),
        ("author(s)", None),
        ("goals (H)", None),
        ("per game (G)", None),
        ("temp (min)", None),
        ("mass (g)", "mass in grams"),
        ("temp (max)", None),
        ("kg", "kilograms"),
        ("body_mass", None),
        ("CustomerId", None),
        ("venueid", None),
        ("venuename", None),
        ("cust_id", "customer identifier"),
        ("sal_usd", "in US dollars"),
        ("emp_no", None),
        ("whse_cd", None),
        ("whse_nm", None),
        ("qty_chg", None),
        ("act_dep_ts", None),
        ("elev_ft", None),
        ("", None),
    ],
)
def test_units_are_told_where_names_show_them_and_names_never_again(name, said):
    found = fact_descriptions(table((name, "DOUBLE")), [("1.5",), ("2",)], all_rows=False)
    assert [one.text for one in found.values()] == ([said] if said else [])
    told = fact_descriptions(table((name, "VARCHAR")), [("one",), ("two",)], all_rows=False)
    assert not any(" in " in one.text for one in told.values())


def test_a_name_says_nothing_that_the_type_denies():
    found = fact_descriptions(table(("ts", "TIMESTAMP")), [("2024-01-01",)], all_rows=False)
    assert [one.text for one in found.values()] == ["timestamp"]
    assert fact_descriptions(table(("ts", "tsvector")), [("'a':1",)], all_rows=False) == {}


@pytest.mark.timeout(120)  # it ends at once, or not at all
@pytest.mark.parametrize("name", ["x" * 100_000, "(" * 100_000, "_in" * 50_000, "1 " * 50_000])
def test_hostile_names_and_cells_are_soon_read(name):
    fact_descriptions(table((name, "VARCHAR")), [(name,)] * 50, all_rows=True)


@pytest.mark.parametrize(
    ("text", "provenance", "indexed"),
    [
        ("from -1.5 to 2e+20", "profile", ""),
        (
            "body mass index; from 1999-12-31 10:00:00 to 2001-02-03 00:00:00",
            "profile",
            "body mass index",
        ),
        ("weight in kilograms; such as 1, 2", "profile", "weight in kilograms; such as 1, 2"),
        ("age; from 1 to 9", "document", "age; from 1 to 9"),
    ],
)
def test_ranges_are_shown_and_not_indexed(text, provenance, indexed):
    assert searched_text(Description(text, Provenance(provenance), "")) == indexed


def test_what_a_document_repeats_is_no_description():
    glossary = Glossary("t.md", [("GNP", "GNP"), ("gdp", "GDP of a year")], about_columns=True)
    found = read_descriptions(table(("GNP", "DOUBLE"), ("gdp", "DOUBLE")), [glossary])
    assert [d.text for _, d in found if d.provenance is Provenance.DOCUMENT] == ["GDP of a year"]


@pytest.mark.parametrize(
    ("column", "values", "all_rows", "said"),
    [
        (("sex", "VARCHAR"), ["m", "f", "m", "f"], True, "one of f, m"),
        (("sex", "VARCHAR"), ["m", "f", "m", "f"], False, "such as f, m"),
        (("is_new", "BOOLEAN"), ["yes", None, "yes", ""], True, "yes where known"),
        (("is_new", "BOOLEAN"), ["yes", "yes", "yes", "yes"], True, "always yes"),
        (("sex", "VARCHAR"), [None, "m", "m", " "], True, "m where known"),
        (("sex", "VARCHAR"), ["m", "m", "m", "m"], False, "such as m"),
        (("stage", "VARCHAR"), ["egg, 1", "egg, 1"] * 2, True, 'always "egg, 1"'),
        (("stage", "VARCHAR"), ["egg, 1", "egg, 1"] * 2, False, 'such as "egg, 1"'),
        (("stage", "VARCHAR"), ["egg, 1", "moth"] * 2, True, 'one of "egg, 1", "moth"'),
        (("stage", "VARCHAR"), ["egg; 1", "moth"] * 2, False, 'such as "egg; 1", "moth"'),
        (("sex", "VARCHAR"), ["FEMALE", "MALE", "NA"] * 2, True, "such as FEMALE, MALE"),
        (("sex", "VARCHAR"), ["M", "NA", "F", "n/a"] * 2, True, "such as F, M"),
        (("new", "VARCHAR"), ["NO", "YES", "NA"] * 2, True, "such as NO, YES"),
        (("sex", "VARCHAR"), ["female", "null"] * 2, True, "female where known"),
        (("country", "VARCHAR"), ["DE", "NA", "FR"] * 2, True, "one of DE, FR, NA"),
        (("country", "VARCHAR"), ["DE", "NA", "NULL"] * 2, True, "such as DE, NA"),
        (("pain", "VARCHAR"), ["High", "None", "Mild"] * 2, True, "one of High, Mild, None"),
        (("sex", "VARCHAR"), ["NA", "NULL"] * 2, True, None),
        (("sex", "VARCHAR"), ["m", "f", "x", "y"], True, None),
        (("sex", "VARCHAR"), [None, None, None, None], True, None),
        (("sex", "BIGINT"), ["1", "2", "1", "2"], True, "one of 1, 2"),
        (("grade", "INTEGER"), ["10", "9", "-1"] * 2, False, "such as -1, 9, 10"),
        (("deaths", "BIGINT"), ["0"] * 4, False, None),
        (("price", "DECIMAL(8,2)"), ["1", "2", "1", "2"], False, None),
        (("price", "DECIMAL(8,2)"), ["1", "12.5", "nan", "7"], True, "from 1 to 12.5"),
        (
            ("born", "DATE"),
            ["2001-02-03", "1999-12-31", None],
            True,
            "from 1999-12-31 to 2001-02-03",
        ),
        (("born", "DATE"), ["2001-02-03"] * 3, True, "always 2001-02-03"),
        (("size", "DOUBLE"), ["1.5", "2.5"], False, None),
        (("body_mass", "DOUBLE"), ["1.5", "2.5"], False, None),
        (("weight", "VARCHAR"), ["12 kg", "9.5 kg", "1 kg"], False, "in kilograms"),
        (("weight", "VARCHAR"), ["12 kg", "9.5 lb", "1 kg"], False, None),
        (("tax", "VARCHAR"), ["19%", "7%", "0%"], False, "in percent"),
        (("run", "VARCHAR"), ["12 x", "9 x", "1 x"], False, None),
        (("note", "VARCHAR"), ["x" * 31] * 4, True, None),
        (("sex", "VARCHAR"), ["a\nb\x1b[0m", "c"] * 2, True, "one of a b [0m, c"),
    ],
)
def test_few_values_are_told(column, values, all_rows, said):
    found = fact_descriptions(table(column), [(v,) for v in values], all_rows=all_rows)
    assert [one.text for one in found.values()] == ([] if said is None else [said])
    whole = said is not None and any(word in said for word in ("always", "one of", "from"))
    assert all(one.confidence == (SEEN if whole else SAMPLED) for one in found.values())


def test_rows_are_all_rows_only_if_the_table_has_no_more():
    rows = [("m",), ("f",)] * 2
    (whole,) = read_descriptions(table(("sex", "VARCHAR"), rows=4), (), rows)
    (some,) = read_descriptions(table(("sex", "VARCHAR"), rows=5), (), rows)
    assert (whole[1].text, some[1].text) == ("one of f, m", "such as f, m")


def test_people_come_before_models_and_these_before_facts():
    columns = [Column("a_b", "INT", "by hand"), Column("c_d", "INT"), Column("e_f", "INT")]
    one = Table("lake/t", (*columns, Column("qty", "INT"), Column("i", "INT")), 1, "/t")
    rows = [("a_b", "from a page"), ("c_d", "what is c"), ("x", "other")]
    glossary = Glossary("t.md", rows, about_columns=True)
    known: dict[int, dict[Provenance, Description]] = {}
    for at, description in read_descriptions(one, [glossary], [("1",) * 5]):
        known.setdefault(at, {})[description.provenance] = description
    models = {at: Description("a model's", Provenance.MODEL, "m") for at in (0, 1, 2)}
    best = best_descriptions(known, models)
    assert {at: (d.text, str(d.provenance)) for at, d in best.items()} == {
        0: ("by hand", "person"),
        1: ("what is c", "document"),
        2: ("a model's", "model"),
        3: ("quantity", "profile"),
    }


def test_lists_in_added_contexts_are_a_persons():
    one = table(("age", "INT"), ("sex", "INT"))
    found = added_descriptions(one, [("note", "- age: in years\n- sex: as told\n"), ("b", "prose")])
    assert found[0] == Description("in years", Provenance.PERSON, "note", 1.0)
    assert found[1].text == "as told"


@pytest.mark.parametrize(
    ("name", "narration", "indexed"),
    [
        ("drive_train", "one of front, rear", "drive_train: drive train; one of front, rear"),
        ("tax_rate", "in percent; always 7%", "tax_rate: tax rate; in percent; always 7%"),
        ("is_new", "yes where known", "is_new: is new; yes where known"),
        ("petal_length", "", "petal_length: petal length"),
        ("venueid", "one of 1, 2", "venueid: venue identifier; one of 1, 2"),
        ("petal_length", "how long a petal is", "petal_length: how long a petal is"),
        ("sex", "one of f, m", "sex: one of f, m"),
        ("age", "", "age"),
    ],
)
def test_names_are_indexed_in_words_where_nothing_else_says_them(name, narration, indexed):
    assert column_text(name, narration) == indexed
