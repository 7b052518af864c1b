"""A source behind rules: what it shows of hidden columns, of rows and of errors."""

import pickle
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pneuma_assets.core.config.small_sections import PrivacyConfig
from pneuma_assets.core.errors import AccessRefusedError, TableReadError
from pneuma_assets.core.sources.base import UNALIGNED, Contexts, Listing, SampledRow, Source
from pneuma_assets.core.sources.duckdb.database import DuckDBFileSource
from pneuma_assets.core.sources.files.folder import FolderStorage
from pneuma_assets.core.sources.files.source import FileSource
from pneuma_assets.core.sources.privacy.redact import redact_error, redact_table
from pneuma_assets.core.sources.privacy.rules import Rules
from pneuma_assets.core.sources.privacy.source import PrivateSource
from pneuma_assets.core.tables import (
    Column,
    Definition,
    ForeignKey,
    RowMark,
    Table,
    TableRef,
    TableTerms,
)
from pneuma_assets.core.terms.collect import CollectedTerms, TermCollector

SECRETS = [f"secret{n}" for n in range(30)]


def private(source, **rules) -> PrivateSource:
    return PrivateSource(source, Rules(PrivacyConfig.model_validate(rules)))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lake = tmp_path / "lake"
    lake.mkdir()
    lines = "\n".join(f"{n},{secret},name {n}" for n, secret in enumerate(SECRETS))
    (lake / "people.csv").write_text(f"id,ssn,name\n{lines}\n")
    table = pa.table({"id": range(30), "ssn": SECRETS, "name": [f"name {n}" for n in range(30)]})
    pq.write_table(table, lake / "staff.parquet")
    return lake


def files(folder: Path, **rules) -> PrivateSource:
    return private(FileSource("lake", FolderStorage(folder)), **rules)


def ref_of(source, table_id: str) -> TableRef:
    (ref,) = (one for one in source.list_tables().tables if one.table_id == table_id)
    return ref


@pytest.mark.parametrize("table", ["people", "staff"])
def test_no_hidden_cell_is_given_by_any_method(folder, table):
    source = files(folder, hidden_columns=["ssn"])
    ref = ref_of(source, f"lake/{table}")
    given = [
        source.profile(ref),
        source.sample(ref, 5, 0),
        source.evidence(ref, 0),
        [batch.to_pydict() for batch in source.scan(ref)],
        source.contexts(ref),
    ]
    said = repr(given)
    assert "secret" not in said
    assert "name 7" in said
    assert "hidden=True" in said
    source.close()


def test_what_is_not_hidden_is_as_without_rules(folder):
    source, plain = files(folder, hidden_columns=["ssn"]), files(folder)
    ref = ref_of(source, "lake/people")
    assert [r.mark.position for r in source.sample(ref, 5, 3)] == [
        row.mark.position for row in plain.sample(ref, 5, 3)
    ]
    ours, all_of_it = source.evidence(ref, 3).terms, plain.evidence(ref, 3).terms
    assert [(row[0], row[2]) for row in ours.rows] == [(row[0], row[2]) for row in all_of_it.rows]
    assert all(row[1] is None for row in ours.rows)


@pytest.mark.parametrize(
    ("method", "given"), [("sample", (5, 0)), ("evidence", (0,)), ("scan", ())]
)
def test_rows_are_asked_for_in_a_process_that_has_not_seen_the_profile(folder, method, given):
    ref = ref_of(files(folder), "lake/people")
    found = getattr(files(folder, hidden_columns=["ssn"]), method)(ref, *given)
    if method == "scan":
        found = [batch.to_pydict() for batch in found]
    assert "secret" not in repr(found)


def test_a_sample_is_as_it_was_while_what_is_shown_of_it_is(folder):
    source = files(folder, hidden_columns=["ssn"])
    ref = ref_of(source, "lake/people")
    marks = [row.mark for row in source.sample(ref, 5, 0)]
    assert source.sample(ref, 5, 0, marks) is None
    people = folder / "people.csv"
    people.write_text(people.read_text().replace("secret", "other"))
    assert source.sample(ref_of(source, "lake/people"), 5, 0, marks) is None
    people.write_text(people.read_text().replace("name", "person"))
    again = source.sample(ref_of(source, "lake/people"), 5, 0, marks)
    assert [row.mark.position for row in again] == [mark.position for mark in marks]
    assert {row.mark.key for row in again}.isdisjoint(mark.key for mark in marks)


def test_a_row_is_named_by_what_is_shown_of_it(folder):
    before = files(folder, hidden_columns=["ssn"])
    marks = [row.mark for row in before.sample(ref_of(before, "lake/people"), 5, 0)]
    plain = [row.mark for row in files(folder).sample(ref_of(before, "lake/people"), 5, 0)]
    assert {mark.key for mark in marks}.isdisjoint(mark.key for mark in plain)


def test_a_table_without_a_hidden_column_is_left_alone(folder):
    source, plain = files(folder, hidden_columns=["other"]), files(folder)
    ref = ref_of(source, "lake/people")
    assert source.sample(ref, 5, 0) == plain.sample(ref, 5, 0)
    assert source.evidence(ref, 0) == plain.evidence(ref, 0)
    assert source.profile(ref) == plain.profile(ref)


def test_of_a_source_of_schemas_alone_rows_are_counted_and_not_read(folder):
    source = files(folder, schema_only=True)
    ref = ref_of(source, "lake/people")
    assert source.profile(ref).row_count == 30
    assert source.sample(ref, 5, 0) == []
    assert source.evidence(ref, 0) == CollectedTerms(TableTerms(), None)
    assert "secret" not in repr([batch.to_pydict() for batch in source.scan(ref)])


def test_where_cells_may_stand_in_other_columns_all_are_hidden(tmp_path):
    lines = ["1,Smith,secret1", "2,Smith, Anna,secret2", "3,Miller,secret3", "4,Jones, Bo,secret4"]
    (tmp_path / "people.csv").write_text("\n".join(["id,name,ssn", *lines]) + "\n")
    plain = files(tmp_path)
    ref = ref_of(plain, "lake/people")
    assert plain.profile(ref).notes == (UNALIGNED,)
    assert "secret" in repr(plain.sample(ref, 5, 0))
    source = files(tmp_path, hidden_columns=["ssn"])
    assert all(column.hidden for column in source.profile(ref).columns)
    assert source.sample(ref, 5, 0) == []


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "a.duckdb"
    with duckdb.connect(str(path)) as db:
        db.execute("CREATE TYPE kind AS ENUM ('secret1', 'it''s secret2')")
        db.execute("CREATE TABLE people (id INTEGER, ssn VARCHAR, kind kind, nick VARCHAR)")
        db.execute("INSERT INTO people VALUES (1, 'secret3', 'secret1', 'secret4')")
        db.execute("COMMENT ON COLUMN people.nick IS 'What friends say. @pii'")
        db.execute("CREATE VIEW wrong AS SELECT id, ssn::INTEGER AS n FROM people")
    return path


def test_types_lose_the_values_that_they_list(database):
    source = private(DuckDBFileSource("db", database), hidden_columns=["kind"])
    columns = source.profile(ref_of(source, "db/main/people")).columns
    assert [c.type for c in columns if c.hidden] == ["ENUM"]


@pytest.mark.parametrize(
    ("kind", "left"),
    [
        ("enum('secret','b')", "enum"),
        ("set('secret','it''s secret')", "set"),
        ("LowCardinality(Enum8('secret' = 1))", "LowCardinality(Enum8)"),
        ("varchar(20)", "varchar(20)"),
    ],
)
def test_types_of_other_engines_lose_them_too(kind, left):
    table = Table("a/b", (Column("kind", kind),), 0, "here")
    assert redact_table(table, {0}, Rules()).columns[0].type == left


def test_names_go_where_that_is_wanted(database):
    source = private(DuckDBFileSource("db", database), hidden_tags=["pii"], hide_names=True)
    ref = ref_of(source, "db/main/people")
    columns = source.profile(ref).columns
    assert [(c.name, c.comment) for c in columns if c.hidden] == [("hidden_4", "")]
    assert "nick" not in repr(source.contexts(ref))


def test_a_view_that_fails_quotes_no_cell(database):
    plain = DuckDBFileSource("db", database)
    ref = ref_of(plain, "db/main/wrong")
    with pytest.raises(TableReadError, match="secret3"):
        plain.evidence(ref, 0)
    source = private(plain, hidden_columns=["ssn"])
    with pytest.raises(TableReadError, match=r"main\.wrong.*ConversionException") as caught:
        source.evidence(ref, 0)
    assert "secret" not in str(caught.value)


def test_a_missing_file_is_said_to_be_missing(folder):
    source = files(folder, hidden_columns=["ssn"])
    ref = ref_of(source, "lake/people")
    (folder / "people.csv").unlink()
    with pytest.raises(TableReadError, match="it is gone"):
        source.profile(ref)


class Odd(Source):
    """A source of an installed package: it gathers and fails in its own ways."""

    name = "odd"

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error

    def list_tables(self, known=()) -> Listing:
        return Listing([TableRef("odd/t", "odd", "t", "odd", "1")])

    def profile(self, ref: TableRef, kept: Sequence[RowMark] = ()) -> Table:
        if self.error is not None:
            raise self.error
        key = ForeignKey(("ssn",), ("main", "people"), ("ssn",))
        query = Definition(
            """SELECT "it's", ssn FROM t WHERE a = 'secret0' AND b1 > 123""", "duckdb"
        )
        columns = (Column("id", "INTEGER"), Column("ssn", "VARCHAR", "of him"))
        return Table(ref.table_id, columns, 1, "t", "", (), ("ssn",), (key,), query)

    def sample(self, ref, rows, seed, kept=()) -> list[SampledRow]:
        return [SampledRow(RowMark(0, 99), (1, "secret1"))]

    def evidence(self, ref, seed) -> CollectedTerms:
        return CollectedTerms(TableTerms(rows=(("1", "secret1"),), cells=("secret2",)), None)

    def scan(self, ref, batch_rows=10_000):
        yield pa.record_batch({"id": [1], "ssn": ["secret1"]})

    def contexts(self, ref) -> Contexts:
        return Contexts(["A text.\nssn: of him"])

    def close(self) -> None:
        """Nothing is open."""


def odd(error: Exception | None = None, **rules) -> tuple[PrivateSource, TableRef]:
    source = private(Odd(error), hidden_columns=["ssn"], **rules)
    (ref,) = source.list_tables().tables
    return source, ref


def test_what_a_source_gathers_in_its_own_way_is_gathered_anew():
    source, ref = odd()
    gatherer = TermCollector(0)
    gatherer.add(pa.record_batch({"id": ["1"], "ssn": pa.nulls(1, pa.string())}))
    found, expected = source.evidence(ref, 0), gatherer.collected()
    assert found == replace(expected, profiles=(expected.profiles[0], None))


def test_constants_leave_queries_and_names_stay_in_them():
    source, ref = odd()
    definition = source.profile(ref).definition
    assert definition.sql == """SELECT "it's", ssn FROM t WHERE a = '' AND b1 > 0"""


@pytest.mark.parametrize(
    ("dialect", "query", "left"),
    [
        ("duckdb", r"SELECT a FROM t WHERE a = 'C:\' AND b = 'secret'", "a = '' AND b = ''"),
        ("sqlite", "SELECT a -- don't\nFROM t WHERE b = 'secret'", "SELECT a FROM t WHERE b = ''"),
        ("sqlite", 'SELECT t."b" FROM "t" WHERE b = "secret"', '"t" WHERE b = "hidden"'),
        ("sqlite", "SELECT a FROM t WHERE b = 0x5ec8e7 /* secret */", "WHERE b = ''"),
        (
            "postgres",
            "SELECT $a$secret$a$, E'it\\'s secret', a FROM t1",
            "SELECT '', '', a FROM t1",
        ),
        ("oracle", "SELECT q'[it's secret]' FROM t", "SELECT '' FROM t"),
        ("hive", "SELECT 58L, a1 FROM t", "SELECT 0, a1 FROM t"),
        ("snowflake", "SELECT $1, 58 FROM t", "SELECT $1, 0 FROM t"),
        ("duckdb", "SELECT a FROM t WHERE b = 'secret", ""),
    ],
)
def test_no_dialect_hides_a_constant_in_its_quotes(dialect, query, left):
    table = Table("odd/t", (Column("a", "VARCHAR"),), 1, "t", definition=Definition(query, dialect))
    definition = redact_table(table, (), Rules()).definition
    assert left in definition.sql
    assert not any(text in definition.sql for text in ("secret", "5ec8e7", "58"))


def test_keys_and_queries_tell_no_hidden_name():
    source, ref = odd(hide_names=True)
    table = source.profile(ref)
    assert table.primary_key == ("hidden_2",)
    assert table.foreign_keys == (ForeignKey(("hidden_2",), ("main", "people"), ("hidden",)),)
    assert table.definition is None
    assert source.contexts(ref).texts == ["A text."]


@pytest.mark.parametrize(
    "error",
    [ValueError("secret1"), TableReadError("secret1"), OSError("secret1"), KeyError("secret1")],
)
def test_an_error_of_others_is_told_by_its_kind(error):
    source, ref = odd(error)
    with pytest.raises(TableReadError, match=type(error).__name__) as caught:
        source.profile(ref)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("error", [AccessRefusedError("secret1"), MemoryError()])
def test_a_refusal_stays_one_and_memory_that_runs_out_is_for_the_process_to_tell(error):
    source, ref = odd(error)
    with pytest.raises(type(error)):
        source.profile(ref)


def quoting() -> None:
    try:
        int("secret1")
    except ValueError as cause:
        raise TableReadError(f"no: {cause}") from None


def test_an_error_that_hides_its_cause_is_looked_behind():
    with pytest.raises(TableReadError, match="secret") as caught:
        quoting()
    assert "secret" not in str(redact_error(caught.value, "t"))


def test_rules_are_known_of_a_source_and_can_be_sent():
    rules = Rules(PrivacyConfig(schema_only=True))
    assert PrivateSource(Odd(), rules).rules == rules
    assert Odd().rules == Rules()
    assert pickle.loads(pickle.dumps(rules.config)) == rules.config
