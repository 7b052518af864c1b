"""What was read of columns is kept a table at a time, one description a provenance."""

from pneuma_assets.core.tables import Description, Provenance

WRITTEN = Description("in years", Provenance.DOCUMENT, "a.md", 0.9)
SHOWN = Description("one of 1, 2", Provenance.PROFILE, "values", 1.0)


def test_a_column_has_one_description_of_each_provenance(store):
    store.descriptions.replace([("lake/a", [(0, WRITTEN), (0, SHOWN), (2, SHOWN)])])
    kept = {
        0: {Provenance.DOCUMENT: WRITTEN, Provenance.PROFILE: SHOWN},
        2: {SHOWN.provenance: SHOWN},
    }
    assert store.descriptions.of_tables(["lake/a"])["lake/a"] == kept
    assert store.descriptions.of_tables(["lake/b"])["lake/b"] == {}


def test_what_is_read_anew_replaces_all_that_was_read(store):
    store.descriptions.replace([("lake/a", [(0, WRITTEN)]), ("lake/b", [(0, SHOWN)])])
    store.descriptions.replace([("lake/a", [])])
    assert store.descriptions.of_tables(["lake/a"])["lake/a"] == {}
    assert store.descriptions.of_tables(["lake/b"])["lake/b"] == {0: {Provenance.PROFILE: SHOWN}}
