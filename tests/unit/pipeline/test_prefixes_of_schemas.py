"""What the names of a schema's tables are glued to is told by all of them, as they are now."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import pytest

from pneuma_assets.core.pipeline.write import publish_metadata, remove_gone
from pneuma_assets.core.tables import Document, DocumentKind, TableRef
from tests.support.staged_lake import StagedLake

OTHERS = ("xxcustomers", "xxorders")
SPELLED = {"w/s/xxfclt": "xx fclt facilities", "w/s/xxorders": "xx orders"}


class Schema(StagedLake):
    """A schema whose tables come and go, and an index of them."""

    def list(self, *names: str, readers: tuple[str, ...] | None = None) -> None:
        """List tables, all but the first for these readers alone."""
        refs = [TableRef(f"w/s/{name}", "w", name, "table", "1") for name in names]
        refs[1:] = [replace(ref, readers=readers) for ref in refs[1:]]
        self.store.listings.sync("w", refs, rule=None)

    def run(self, run: str) -> int:
        """Index what is new, as a run's stages do; returns of how many tables the index is told."""
        remove_gone(self.store, self.index, lambda _: None)
        told = publish_metadata(self.store, run, self.index)
        self.read(run, lambda i: Document(i, DocumentKind.CONTEXT, "facilities"))
        self.end(run)
        return told

    def spelled(self) -> dict[str, str]:
        """The words that names stand for, of the tables where there are any."""
        contents = self.index.contents()
        return {i: words for i, one in contents if (words := one.evidence.spelled_names)}


@pytest.fixture
def schema(tmp_path) -> Iterator[Schema]:
    with closing(Schema(tmp_path)) as schema:
        yield schema


def test_tables_are_parted_as_soon_as_enough_of_them_are_listed(schema):
    schema.list("xxfclt", "xxorders")
    assert schema.run("first") == 0
    assert "w/s/xxfclt" not in schema.spelled()
    blocks = {one.block.block_id: one.vector for one in schema.index.blocks()}
    schema.list("xxfclt", *OTHERS)
    schema.run("second")
    assert schema.spelled().items() >= SPELLED.items()
    assert publish_metadata(schema.store, "third", schema.index) == 0
    kept = {one.block.block_id: one.vector for one in schema.index.blocks(["w/s/xxfclt"])}
    assert all((blocks[i] == vector).all() for i, vector in kept.items())


def test_tables_are_parted_no_more_when_the_others_have_left(schema):
    schema.list("xxfclt", *OTHERS)
    schema.run("first")
    assert schema.spelled().items() >= SPELLED.items()
    schema.list("xxfclt", "orders")
    schema.run("second")
    assert "w/s/xxfclt" not in schema.spelled()


def test_killed_while_names_are_spelt_again_the_next_run_does_the_rest(schema, monkeypatch):
    schema.list("xxfclt", "xxorders")
    schema.run("first")
    schema.list("xxfclt", *OTHERS)
    with monkeypatch.context() as patch:

        def killed(facts):
            raise KeyboardInterrupt

        patch.setattr(schema.index, "set_facts", killed)
        patch.setattr(schema.index, "replace_tables", killed)
        with pytest.raises(KeyboardInterrupt):
            schema.run("killed")
    schema.run("third")
    assert schema.spelled().items() >= SPELLED.items()


def test_hidden_tables_do_not_tell_how_a_name_is_parted(schema):
    schema.list("xxfclt", *OTHERS, readers=("boss",))
    schema.run("first")
    assert "w/s/xxfclt" not in schema.spelled()
    assert schema.spelled()["w/s/xxorders"] == SPELLED["w/s/xxorders"]
