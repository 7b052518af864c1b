"""What was read before it was hidden leaves the state, and what is not concerned stays."""

import numpy as np
import pytest

from pneuma_assets.core.config.small_sections import PrivacyConfig
from pneuma_assets.core.pipeline.profile import apply_rules, forget_newly_hidden, rules_that_changed
from pneuma_assets.core.sources.privacy.rules import Rules
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.narrations import AnswerKey
from pneuma_assets.core.store.queue import Finished
from pneuma_assets.core.tables import (
    THE_TABLE,
    Column,
    ColumnProfile,
    Description,
    Document,
    DocumentKind,
    Problem,
    Provenance,
    Table,
    TableRef,
    TableTerms,
)
from tests.support.narrations import said_before

GROUNDED = AnswerKey("m", of_table=True)
PEOPLE = Table("a/people", (Column("id", "INTEGER"), Column("ssn", "VARCHAR")), 2, "people")
CITIES = Table("a/cities", (Column("id", "INTEGER"), Column("name", "VARCHAR")), 2, "cities")


class Ruled:
    """What a run knows of a source's rules; nothing is read here."""

    def __init__(self, **rules) -> None:
        self.name = "a"
        self.rules = Rules(PrivacyConfig.model_validate(rules))


class Index:
    """Notes what leaves it."""

    def __init__(self) -> None:
        self.deleted: list[str] = []
        self.compacted = 0

    def delete_tables(self, table_ids) -> None:
        self.deleted += table_ids

    def optimise(self) -> None:
        self.compacted += 1


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "state.db") as opened:
        refs = [TableRef(t.table_id, "a", t.location, "csv", "1") for t in (PEOPLE, CITIES)]
        opened.listings.sync("a", refs)
        opened.queue.claim("run", 9, 3, ["a"])
        opened.queue.save_profiles("run", [PEOPLE, CITIES])
        for table in (PEOPLE, CITIES):
            read(opened, table)
        opened.queue.finish(
            "run", [Finished(t.table_id, t.schema_hash, 1) for t in (PEOPLE, CITIES)]
        )
        yield opened


def read(store: Store, table: Table) -> None:
    text = Document(table.table_id, DocumentKind.ROWS, "ssn: secret")
    said = Description("such as secret", Provenance.PROFILE, "")
    store.documents.replace(DocumentKind.ROWS, [(table.table_id, [text])])
    store.profiles.save_terms({table.table_id: TableTerms(rows=(("1", "secret"),))})
    told = ColumnProfile(0.0, 1, True, "secret", "secret", (("secret", 1.0),))
    store.statistics.save_column_profiles({table.table_id: {"ssn": told}})
    store.narrations.save(GROUNDED, [(GROUNDED.subject(table), 1, "secret")])
    summary = Description("Their number is secret.", Provenance.MODEL, "m")
    store.narrations.assign([(table, {THE_TABLE: summary, 1: said}, {})], asked=True)


def read_anew(store: Store) -> None:
    """Index the table of people with its number hidden."""
    hidden = Column("ssn", "VARCHAR", hidden=True)
    store.queue.claim("run", 9, 3, ["a"])
    store.queue.save_profiles("run", [Table("a/people", (PEOPLE.columns[0], hidden), 2, "people")])
    store.queue.finish("run", [Finished("a/people", PEOPLE.schema_hash, 1)])


def apply(store: Store, **rules) -> Index:
    index = Index()
    apply_rules(store, index, ["a/cities", "a/people"], [Ruled(**rules)])
    return index


def kept(store: Store, table: Table) -> list[object]:
    return [
        *store.documents.of_tables([table.table_id])[table.table_id],
        *store.narrations.of_tables([table.table_id])[table.table_id],
        *store.narrations.summaries([table.table_id]),
        *said_before(store, GROUNDED, table),
        *store.statistics.column_profiles(table.table_id),
        *store.tables.profiles([table.table_id]),
    ]


def test_a_table_that_hides_more_is_forgotten_and_waits(store):
    index = apply(store, hidden_columns=["ssn"])
    assert (index.deleted, index.compacted) == (["a/people"], 1)
    assert kept(store, PEOPLE) == []
    assert "a/people" in store.queue.pending()
    assert store.privacy.pages_to_wipe() == ["a/people"]
    assert b"secret" not in repr(store.tables.records()).encode()


def test_a_table_that_no_rule_is_about_stays(store):
    apply(store, hidden_columns=["ssn"])
    assert len(kept(store, CITIES)) == 6
    assert "a/cities" not in store.queue.pending()


def test_the_same_rules_again_do_nothing(store):
    apply(store, hidden_columns=["ssn"])
    store.privacy.pages_wiped(["a/people"])
    index = apply(store, hidden_columns=["ssn"])
    assert (index.deleted, index.compacted) == ([], 0)
    assert store.privacy.pages_to_wipe() == []


def test_rules_that_hide_nothing_more_touch_no_table(store):
    assert apply(store, hidden_columns=["other"]).deleted == []
    assert len(kept(store, PEOPLE)) == 6


def test_a_column_that_is_shown_again_lets_its_table_wait_and_be_found_meanwhile(store):
    apply(store, hidden_columns=["ssn"])
    read_anew(store)
    index = apply(store)
    assert index.deleted == []
    assert "a/people" in store.queue.pending()
    assert store.privacy.rules() == {}


def test_schemas_alone_forget_every_table(store):
    assert apply(store, schema_only=True).deleted == ["a/cities", "a/people"]


def test_names_that_go_let_tables_be_read_anew(store):
    apply(store, hidden_columns=["ssn"])
    read_anew(store)
    assert apply(store, hidden_columns=["ssn"], hide_names=True).deleted == ["a/people"]


def test_what_a_model_said_by_names_alone_goes_with_them(store):
    paper = AnswerKey("m")
    store.narrations.save(paper, [(paper.subject(PEOPLE), 1, "The ssn.")])
    apply(store, hidden_columns=["ssn"])
    assert said_before(store, paper, PEOPLE) == {1: "The ssn."}
    read_anew(store)
    apply(store, hidden_columns=["ssn"], hide_names=True)
    assert said_before(store, paper, PEOPLE) == {}


@pytest.mark.parametrize("killed", [False, True])
def test_the_embeddings_of_headers_go_where_names_do(store, monkeypatch, killed):
    def kill(*_):
        raise KeyboardInterrupt

    store.headers.keep("words", {"ssn": np.ones(4, np.float32)})
    store.headers.keep_only("words", ["ssn"], ["1"])
    apply(store, hidden_columns=["ssn"])
    assert store.headers.of("words", ["ssn"])
    read_anew(store)
    if killed:
        with monkeypatch.context() as patch:
            patch.setattr(store.embeddings, "prune", kill)
            with pytest.raises(KeyboardInterrupt):
                apply(store, hidden_columns=["ssn"], hide_names=True)
    apply(store, hidden_columns=["ssn"], hide_names=True)
    assert not store.headers.of("words", ["ssn"])
    assert store.headers.made_of() == ()


def test_a_table_that_only_the_index_knows_leaves_it(store):
    index = Index()
    apply_rules(store, index, ["a/lost", "b/other"], [Ruled(hidden_columns=["ssn"])])
    assert index.deleted == ["a/lost"]


def test_why_a_table_could_not_be_read_is_forgotten_as_it_may_quote_cells(store):
    store.listings.sync("a", [TableRef("a/broken", "a", "broken", "csv", "1")], ["a/"])
    store.queue.fail(Problem("a/broken", "profile", "no number: 'secret'"))
    apply(store, hidden_columns=["ssn"])
    assert store.problems.all() == []
    assert "a/broken" in store.queue.pending()


def test_a_run_that_began_before_writes_nothing_of_what_is_hidden_now(store):
    store.queue.mark_pending(["a/people"])
    store.queue.claim("old", 9, 3, ["a"])
    apply(store, hidden_columns=["ssn"])
    with store.queue.holding("old", ["a/people"]) as held:
        assert held == set()


def test_what_people_said_stays(store):
    store.add_context("a/people", "note", "Who works here.")
    store.correct("a/people", "ssn", "The number of a person.", "me")
    apply(store, hidden_columns=["ssn"])
    assert len(store.documents.user_contexts(["a/people"])["a/people"]) == 1
    assert len(store.descriptions.corrections(["a/people"])) == 1


def test_a_column_that_was_tagged_since_loses_what_was_said_of_it(store):
    tagged = Column("ssn", "VARCHAR", "@pii", hidden=True)
    forget_newly_hidden(
        store, [Table("a/people", (PEOPLE.columns[0], tagged), 2, "people"), CITIES]
    )
    assert said_before(store, GROUNDED, PEOPLE) == {}
    assert len(kept(store, CITIES)) == 6
    assert store.privacy.pages_to_wipe() == ["a/people"]


@pytest.mark.parametrize(("name", "left"), [("ssn", {1: "The ssn."}), ("hidden", {})])
def test_what_a_model_said_by_a_name_goes_where_a_tag_hides_it(store, name, left):
    paper = AnswerKey("m")
    store.narrations.save(paper, [(paper.subject(PEOPLE), 1, "The ssn.")])
    tagged = Column(name, "VARCHAR", hidden=True)
    forget_newly_hidden(store, [Table("a/people", (PEOPLE.columns[0], tagged), 2, "people")])
    assert said_before(store, paper, PEOPLE) == left


def test_a_sensor_learns_that_rules_have_changed(store):
    rules = {"a": Rules(PrivacyConfig(schema_only=True))}
    assert rules_that_changed(store, rules) == ["a"]
    store.privacy.use_rules({name: one.digest for name, one in rules.items()})
    assert rules_that_changed(store, rules) == []
    assert rules_that_changed(store, {"a": Rules()}) == ["a"]
    assert rules_that_changed(store, {"b": Rules()}) == []
