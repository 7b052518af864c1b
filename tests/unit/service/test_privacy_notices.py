"""The status says what rules of privacy hide, what they do not hide yet, and which do nothing."""

import pytest

from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.service.status import privacy_notices
from pneuma_assets.core.sources.privacy.rules import Rules
from pneuma_assets.core.store import Store
from pneuma_assets.core.tables import Column, Table, TableRef

CHANGED = "privacy: the rules of a have changed"


def deployment(privacy=None, own=None) -> Deployment:
    source = {"type": "folder", "name": "a", "path": "a", "privacy": own or {}}
    return Deployment.model_validate({"privacy": privacy or {}, "sources": [source]})


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "state.db") as opened:
        yield opened


def read(store: Store, by: Deployment, *columns: Column) -> None:
    table = Table("a/people", columns, 2, "people")
    store.listings.sync("a", [TableRef(table.table_id, "a", table.location, "csv", "1")])
    store.queue.claim("run", 9, 3, ["a"])
    store.queue.save_profiles("run", [table])
    store.privacy.use_rules({one.name: Rules(one.privacy).digest for one in by.sources})


def test_nothing_is_said_without_rules_or_of_a_source_never_read(store):
    assert privacy_notices(store, deployment({"hidden_columns": ["ssn"]})) == []
    read(store, deployment(), Column("id", "INTEGER"))
    assert privacy_notices(store, deployment()) == []


def test_rules_that_are_not_yet_in_force_are_told(store):
    read(store, deployment(), Column("id", "INTEGER"), Column("ssn", "VARCHAR"))
    first, count = privacy_notices(store, deployment({"hidden_columns": ["ssn"]}))
    assert first.startswith(CHANGED)
    assert "next run" in first
    assert count == "privacy: 0 columns of 0 tables are hidden"


def test_rules_that_were_removed_are_told_until_the_next_run(store):
    read(store, deployment({"schema_only": True}), Column("id", "INTEGER", hidden=True))
    assert [one.startswith(CHANGED) for one in privacy_notices(store, deployment())] == [True]


def test_what_is_hidden_is_counted(store):
    rules = deployment({"hidden_columns": ["ssn"]})
    read(store, rules, Column("id", "INTEGER"), Column("ssn", "VARCHAR", hidden=True))
    assert privacy_notices(store, rules) == ["privacy: 1 columns of 1 tables are hidden"]


def test_a_rule_that_means_no_column_is_told(store):
    rules = deployment({"hidden_columns": ["*ssm*", "id"]}, {"hidden_tags": ["pi"]})
    read(store, rules, Column("id", "INTEGER", "@pii", hidden=True), Column("ssn", "VARCHAR"))
    _, column, tag = privacy_notices(store, rules)
    assert column.startswith("privacy.hidden_columns: '*ssm*' means no column")
    assert tag.startswith("privacy of a.hidden_tags: 'pi' means no column")


def test_no_rule_is_called_idle_that_may_mean_a_column_without_a_name(store):
    rules = deployment({"hidden_columns": ["ssn"], "hide_names": True})
    read(store, rules, Column("id", "INTEGER"), Column("hidden_2", "VARCHAR", hidden=True))
    assert privacy_notices(store, rules) == ["privacy: 1 columns of 1 tables are hidden"]
