"""Questions about the tables of a clinic that were answered wrongly, by a newcomer's own trial."""

import pytest

from pneuma_assets.core.answers.tables import NoDraft
from pneuma_assets.core.answers.templates import draft
from pneuma_assets.core.text.analysis import ENGLISH
from tests.support.answer_tables import answer_set, answer_table
from tests.unit.answers.test_templates import answered

PATIENTS = answer_table(
    "patients",
    {"patient_id": "BIGINT", "first_name": "VARCHAR", "last_name": "VARCHAR", "birth_date": "DATE",
     "blood_type": "VARCHAR"},
    [("1", "Clara", "Smith", "1990-05-01", "O-"), ("2", "Clara", "Smith", "2009-05-01", "O+"),
     ("3", "Maria", "Smith", "2009-06-01", "O+"), ("4", "Anna", "Brown", "1950-06-01", "B+")],
)  # fmt: skip
DOCTORS = answer_table(
    "doctors",
    {"doctor_id": "BIGINT", "name": "VARCHAR", "hired_on": "DATE", "salary": "DOUBLE"},
    [("1", "Zoe", "2006-12-01", "50.5"), ("2", "Tom", "2011-04-02", "70")],
)
VISITS = answer_table(
    "visits_2022",
    {"visit_id": "BIGINT", "patient_id": "BIGINT", "doctor_id": "BIGINT", "visit_date": "DATE",
     "status": "VARCHAR"},
    [("51", "1", "1", "2022-03-01", "no-show"), ("52", "2", "1", "2022-03-05", "on hold"),
     ("53", "2", "1", "2022-04-05", "done"), ("54", "4", "2", "2022-05-01", "no-show")],
)  # fmt: skip
INVOICES = answer_table(
    "invoices",
    {"invoice_no": "VARCHAR", "issued_on": "DATE", "paid": "BOOLEAN", "paid_on": "DATE"},
    [("I1", "2023-01-01", "true", "2024-01-01"), ("I2", "2023-02-01", "false", None),
     ("I3", "2022-02-01", "true", "2022-03-01")],
)  # fmt: skip
PRESCRIPTIONS = answer_table(
    "prescriptions",
    {"prescription_id": "BIGINT", "drug": "VARCHAR", "quantity": "BIGINT"},
    [("7", "Aspirin", "30"), ("8", "Aspirin", "20"), ("9", "Insulin", "5")],
)
TESTS = answer_table(
    "lab results",
    {"Test Name": "VARCHAR", "order": "VARCHAR", "Taken On": "DATE"},
    [("Glucose", "urgent", "2022-01-01"), ("Glucose", "urgent", "2022-02-01"),
     ("Ferritin", "routine", "2022-03-01")],
)  # fmt: skip
ROOMS = answer_table(
    "rooms",
    {"room": "VARCHAR", "department": "VARCHAR", "# beds": "BIGINT"},
    [("A1", "Cardiology", "2"), ("A2", "Cardiology", "4"), ("B1", "Neurology", "1")],
)
CLINIC = answer_set(
    VISITS, PATIENTS, DOCTORS,
    joins=["visits_2022.patient_id = patients.patient_id",
           "visits_2022.doctor_id = doctors.doctor_id"],
)  # fmt: skip
CLARA, OTHER, MARIA = ("Clara", "Smith"), ("Clara", "Smith"), ("Maria", "Smith")


@pytest.mark.parametrize(
    ("question", "tables", "rows"),
    [
        ("how many patients have blood type O+", answer_set(PATIENTS), [(2,)]),
        ("how many patients have blood type B", answer_set(PATIENTS), [(1,)]),
        ("patients with blood type 'O-'", answer_set(PATIENTS), [CLARA]),
        ("how many patients named Clara", answer_set(PATIENTS), [(2,)]),
        ("patients called Anna", answer_set(PATIENTS), [("Anna", "Brown")]),
        ("patients born in 2009", answer_set(PATIENTS), [OTHER, MARIA]),
        ("how many prescriptions", answer_set(PRESCRIPTIONS), [(3,)]),
        ("how many prescriptions of Aspirin", answer_set(PRESCRIPTIONS), [(2,)]),
        ("how many invoices were paid in 2023", answer_set(INVOICES), [(1,)]),
        ("paid invoices in 2023", answer_set(INVOICES), [("I1",)]),
        ("who has the highest salary", answer_set(DOCTORS), [("Tom", 70.0)]),
        ("doctors hired after 2010", answer_set(DOCTORS), [("Tom",)]),
        ("doctors hired in 2011", answer_set(DOCTORS), [("Tom",)]),
        ("how many visits were there", answer_set(VISITS), [(4,)]),
        ("how many visits were no-show", answer_set(VISITS), [(2,)]),
        ("how many different tests are there", answer_set(TESTS), [(2,)]),
        ("which patients saw Zoe in 2022", CLINIC, [(1, *CLARA), (2, *OTHER)]),
        ("which patients have more than 1 visits", CLINIC, [(2, *OTHER, 2)]),
        ("which doctors treated Clara Smith in 2022", CLINIC, [(1, "Zoe")]),
    ],
)
def test_what_is_asked_is_what_is_told(question, tables, rows):
    found = answered(question, tables)
    assert found is not None, draft(question, tables, "duckdb", ENGLISH)
    assert sorted(found[1]) in (rows, [row[1:] for row in rows])


@pytest.mark.parametrize(
    ("question", "tables", "why"),
    [
        ("how many patients have blood type A-", answer_set(PATIENTS), "no cell is 'A-'"),
        ("patients with blood type O", answer_set(PATIENTS), "'o' may be a value"),
        ("how many doctors are named Maria", CLINIC, "none of these is named 'Maria'"),
        ("first patient", answer_set(PATIENTS), "no column says for sure what is first"),
        ("last patient", answer_set(PATIENTS), "no column says for sure what is last"),
        ("patients in 2009", answer_set(PATIENTS), "no column has dates or years"),
        ("how many lab tests were taken in 2022", answer_set(TESTS), "it is not plain what is"),
        ("how many orders are urgent", answer_set(TESTS), "it is not plain what is counted"),
        ("beds per department", answer_set(ROOMS), "it is not plain whether rows are counted"),
    ],
)
def test_what_is_not_plain_is_not_answered(question, tables, why):
    found = draft(question, tables, "duckdb", ENGLISH)
    assert isinstance(found, NoDraft)
    assert found.why.startswith(why)
