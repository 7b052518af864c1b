"""Which columns rules hide: by name, pattern, table and tag; where in doubt, more."""

import pytest
from pydantic import ValidationError

from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.config.small_sections import PrivacyConfig
from pneuma_assets.core.sources.privacy.rules import Rules
from pneuma_assets.core.tables import Column


def hidden(rules: dict[str, object], *columns: Column | str, table: str = "lake/hr/people"):
    every = [one if isinstance(one, Column) else Column(one, "VARCHAR") for one in columns]
    found = Rules(PrivacyConfig.model_validate(rules)).hidden(table, every)
    return [every[at].name for at in sorted(found)]


@pytest.mark.parametrize(
    ("pattern", "name"),
    [
        *(("ssn", "ssn"), ("ssn", "SSN"), ("SSN", " ssn "), ("*ssn*", "Customer_SSN_2")),
        *(
            ("e?mail", "E-Mail"),
            ("[ef]mail", "fmail"),
            ("a[1]", "a[1]"),
            ("price.eur", "price.eur"),
        ),
        *(("/e.?mail/", "work_email"), ("/^mail$/", "MAIL")),
        *(("ｓｓｎ", "ssn"), ("straße", "STRASSE")),  # noqa: RUF001 (wide letters)
        *(("people.name", "name"), ("hr.people.name", "name"), ("lake.*.name", "name")),
        *(("*.name", "name"), ("PEOPLE.n*", "Name")),
    ],
)
def test_a_pattern_hides(pattern, name):
    assert hidden({"hidden_columns": [pattern]}, "id", name) == [name]


@pytest.mark.parametrize(
    ("pattern", "name"),
    [
        *(("ssn", "ssn_hash"), ("email", "e_mail"), ("other.name", "name"), ("eople.name", "name")),
        *(("/^mail$/", "email"), ("people.name", "people")),
    ],
)
def test_a_pattern_leaves(pattern, name):
    assert hidden({"hidden_columns": [pattern]}, "id", name) == []


def test_a_second_column_of_one_name_is_hidden_with_the_first_if_there_is_one():
    assert hidden({"hidden_columns": ["ssn"]}, "ssn", "ssn_1", "other_1") == ["ssn", "ssn_1"]
    assert hidden({"hidden_columns": ["line"]}, "line_1", "line_2") == []


@pytest.mark.parametrize(
    "kind",
    [
        'STRUCT("name" VARCHAR, ssn VARCHAR)',
        "STRUCT(who STRUCT(ssn VARCHAR)[])",
        "MAP(VARCHAR, STRUCT(ssn INTEGER))",
        "struct<name: string, ssn: string>",
        'STRUCT("a ""b"" c" INTEGER, "SSN" VARCHAR)',
        "STRUCT(a0 VARCHAR, a1 VARCHAR, a2 VARCH…",
        "STRUCT(a ENUM('x', 'record…",
        "STRUCT(a ENUM('x'), ssn ENUM('y'))",
        'STRUCT("data set (old)" VARCHAR, "an enum(" VARCHAR, ssn VARCHAR)',
    ],
)
def test_a_column_with_a_hidden_field_is_hidden_whole(kind):
    assert hidden({"hidden_columns": ["ssn"]}, Column("person", kind)) == ["person"]


def test_a_field_may_be_named_by_its_column_and_a_type_is_no_name():
    column = Column("person", "STRUCT(ssn VARCHAR)")
    assert hidden({"hidden_columns": ["person.ssn"]}, column) == ["person"]
    assert hidden({"hidden_columns": ["varchar"]}, "id") == []


@pytest.mark.parametrize(
    "kind",
    [
        "ENUM('record', 'ssn')",
        "public.state ENUM('<', 'it''s a row', 'ssn')",
        "set('map','ssn')",
        "ENUM('row', 'ss…",
        "STRUCT(by ENUM('ssn', 'phone'))",
    ],
)
def test_labels_of_enums_are_no_names_of_fields(kind):
    assert hidden({"hidden_columns": ["ssn"]}, Column("by", kind)) == []


@pytest.mark.parametrize("comment", ["@pii", "who. @PII", "[pii] who", "Who [ pii ].", "(@pii)"])
def test_a_tag_in_a_comment_hides(comment):
    columns = [Column("who", "VARCHAR", comment), Column("mail", "VARCHAR", "of x@pii.example")]
    assert hidden({"hidden_tags": ["pii"]}, *columns) == ["who"]


def test_tags_are_patterns_too():
    columns = [Column("who", "VARCHAR", "@pii.name"), Column("n", "INTEGER", "@public")]
    assert hidden({"hidden_tags": ["pii*"]}, *columns) == ["who"]


def test_schema_only_hides_every_column():
    assert hidden({"schema_only": True}, "a", "b") == ["a", "b"]


def test_no_rules_hide_nothing_and_others_have_another_digest():
    assert hidden({}, "ssn") == []
    assert Rules().digest == Rules(PrivacyConfig(hide_names=True)).digest == ""
    one, other = PrivacyConfig(hidden_columns=("a",)), PrivacyConfig(hidden_columns=("b",))
    assert Rules(one).digest != Rules(other).digest


@pytest.mark.parametrize("wrong", ["", " ", "/(/", "x" * 201])
def test_what_would_match_nothing_is_refused(wrong):
    with pytest.raises(ValidationError):
        PrivacyConfig(hidden_columns=(wrong,))


def test_rules_of_all_sources_hold_in_each_and_a_source_adds_its_own():
    deployment = Deployment.model_validate(
        {
            "privacy": {"hidden_columns": ["ssn"], "hide_names": True},
            "sources": [
                {"type": "folder", "name": "a", "path": "a"},
                {
                    "type": "folder",
                    "name": "b",
                    "path": "b",
                    "privacy": {"schema_only": True, "hidden_columns": ["mail", "ssn"]},
                },
            ],
        }
    )
    one, other = (source.privacy for source in deployment.sources)
    assert one == PrivacyConfig(hidden_columns=("ssn",), hide_names=True)
    assert other == PrivacyConfig(schema_only=True, hidden_columns=("ssn", "mail"), hide_names=True)
    again = Deployment.model_validate(deployment.model_dump(mode="json"))
    assert [source.privacy for source in again.sources] == [one, other]
