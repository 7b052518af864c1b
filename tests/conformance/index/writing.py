"""Conformance: what is written is there, exactly, and stays."""

from dataclasses import MISSING, fields, replace
from itertools import pairwise

import numpy as np
import pytest

from pneuma_assets.core.errors import IndexMismatchError, SearchIndexError
from pneuma_assets.core.index.base import TableContents
from pneuma_assets.core.tables import Block, DocumentKind, EmbeddedBlock
from tests.conformance.index.support import Conformance, identical
from tests.support.index_blocks import replace_blocks


class WritingConformance(Conformance):
    def test_a_new_index_is_empty(self, index):
        assert index.list_tables() == {}
        assert list(index.blocks()) == []
        hits = index.search([self.both("anything")], limit=5)[0]
        assert len(hits.lexical) == len(hits.semantic) == 0
        assert index.info().blocks == index.info().tables == 0

    def test_replacing_a_table_removes_what_it_had(self, index):
        replace_blocks(index, {"s/t": self.embedded("s/t", "alpha", "beta")})
        replace_blocks(index, {"s/t": self.embedded("s/t", "beta", "gamma", "delta")})
        assert index.list_tables() == {"s/t": 3}
        assert set(self.lexical_texts(index, "alpha beta gamma")) == {"beta", "gamma"}
        semantic = index.search([self.meaning("alpha")], limit=10)[0].semantic
        assert {hit.block.text for hit in semantic} == {"beta", "gamma", "delta"}

    def test_doing_it_again_changes_nothing(self, index):
        tables = {"s/t": self.embedded("s/t", "alpha", "beta"), "s/u": []}
        replace_blocks(index, tables)
        self.settle(index)
        before = index.search([self.both("alpha beta")], limit=10)
        replace_blocks(index, tables)
        self.settle(index)
        assert index.search([self.both("alpha beta")], limit=10) == before
        assert index.list_tables() == {"s/t": 2, "s/u": 0}

    def test_the_same_block_twice_is_one_block(self, index):
        replace_blocks(index, {"s/t": self.embedded("s/t", "alpha", "alpha")})
        assert index.list_tables() == {"s/t": 1}

    def test_a_new_vector_for_the_same_text_is_taken(self, index):
        block = Block("s/t", DocumentKind.ROWS, "alpha")
        replace_blocks(index, {"s/t": [EmbeddedBlock(block, self.vector("old"))]})
        replace_blocks(index, {"s/t": [EmbeddedBlock(block, self.vector("new"))]})
        (hit,) = index.search([self.meaning("new")], limit=5)[0].semantic
        assert hit.score == pytest.approx(1.0, abs=self.semantic_tolerance)

    def test_an_empty_table_stays_listed(self, index):
        replace_blocks(index, {"s/t": self.embedded("s/t", "alpha")})
        replace_blocks(index, {"s/t": []})
        assert index.list_tables() == {"s/t": 0}
        assert self.lexical_texts(index, "alpha") == []

    def test_deleted_tables_leave_and_unknown_ones_are_ignored(self, index):
        replace_blocks(index, {t: self.embedded(t, "alpha") for t in ("s/a", "s/b", "s/c")})
        index.delete_tables(["s/a", "s/unknown", "s/c"])
        index.delete_tables([])
        assert index.list_tables() == {"s/b": 1}
        assert [h.block.table_id for h in index.search([self.words("alpha")], 9)[0].lexical] == [
            "s/b"
        ]

    def test_a_deleted_table_can_come_back(self, index):
        for _ in range(3):
            replace_blocks(index, {"s/t": self.embedded("s/t", "alpha")})
            assert self.lexical_texts(index, "alpha") == ["alpha"]
            index.delete_tables(["s/t"])
            assert self.lexical_texts(index, "alpha") == []

    def test_what_is_written_survives_reopening(self, index_factory):
        first, query = index_factory(), replace(self.both("alpha"), evidence="danube rivers")
        given = {"s/t": self.full_contents("s/t"), "s/u": TableContents([])}
        first.replace_tables(given)
        expected = first.search([query], limit=10)
        first.close()
        second = index_factory()
        assert second.list_tables() == {"s/t": 2, "s/u": 0}
        assert identical(list(second.blocks()), given["s/t"].blocks)
        assert second.evidence(["s/t"]) == {"s/t": given["s/t"].evidence}
        assert second.facts(["s/t"]) == {"s/t": given["s/t"].facts}
        assert second.search([query], limit=10) == expected

    def test_blocks_come_back_table_by_table(self, index):
        tables = {
            f"s/{n}": self.embedded(f"s/{n}", *(f"text {n} {i}" for i in range(n)))
            for n in range(5)
        }
        replace_blocks(index, tables)
        stored = list(index.blocks())
        order = [item.block.table_id for item in stored]
        assert len(order) == 10
        assert sum(a != b for a, b in pairwise(order)) == 3
        for table_id, blocks in tables.items():
            assert identical(list(index.blocks([table_id])), blocks)
        assert identical(list(index.blocks(["s/1", "s/unknown"])), tables["s/1"])
        assert all(item.vector.dtype == np.float32 for item in stored)

    def test_all_that_is_kept_of_a_table_comes_back(self, index):
        given = {"s/full": self.full_contents("s/full"), "s/empty": TableContents([])}
        index.replace_tables(given)
        found = dict(index.contents())
        assert found.keys() == given.keys()
        for field in fields(TableContents):
            sample = getattr(given["s/full"], field.name)
            default = None if field.default_factory is MISSING else field.default_factory()
            assert sample not in (field.default, default), f"let full_contents set {field.name}"
            for table_id, contents in given.items():
                ours, theirs = (getattr(one, field.name) for one in (contents, found[table_id]))
                assert identical(ours, theirs) if field.name == "blocks" else ours == theirs
        (only,) = index.contents(["s/unknown", "s/full", "s/full"])
        assert only[0] == "s/full"
        assert identical(only[1].blocks, given["s/full"].blocks)

    def test_counts_agree(self, index):
        replace_blocks(index, {"s/a": self.embedded("s/a", "x", "y"), "s/b": []})
        info = index.info()
        assert (info.tables, info.blocks, info.dimension) == (2, 2, self.dimension)
        assert info.size_bytes > 0
        assert info.health == "green"

    def test_optimising_changes_no_answer(self, index):
        for n in range(30):
            replace_blocks(index, {f"s/{n % 7}": self.embedded(f"s/{n % 7}", f"alpha {n}")})
        index.delete_tables(["s/0"])
        self.settle(index)
        before = index.search([self.both("alpha 29")], limit=20)
        index.optimise()
        assert index.search([self.both("alpha 29")], limit=20) == before
        replace_blocks(index, {"s/9": self.embedded("s/9", "omega")})
        assert self.lexical_texts(index, "omega") == ["omega"]

    def test_another_encoder_is_refused(self, index_factory):
        index_factory().close()
        with pytest.raises(IndexMismatchError, match=r"encoder-a.*encoder-b.*--rebuild"):
            index_factory(encoder="encoder-b")

    def test_another_dimension_is_refused(self, index_factory):
        index_factory().close()
        with pytest.raises(IndexMismatchError, match="--rebuild"):
            index_factory(dimension=self.dimension * 2)

    def test_a_useless_vector_is_refused_and_nothing_changes(self, index):
        good = self.vector("good")
        replace_blocks(index, {"s/t": self.embedded("s/t", "alpha")})
        block = Block("s/t", DocumentKind.ROWS, "beta")
        for vector in (
            good[:-1],
            np.full_like(good, np.nan),
            np.full_like(good, np.inf),
            np.zeros_like(good),
            good.reshape(2, -1),
        ):
            with pytest.raises(SearchIndexError, match="vector"):
                replace_blocks(index, {"s/t": [EmbeddedBlock(block, vector)]})
        assert self.lexical_texts(index, "alpha beta") == ["alpha"]

    def test_a_block_of_another_table_is_refused(self, index):
        with pytest.raises(SearchIndexError, match="s/other"):
            replace_blocks(index, {"s/t": self.embedded("s/other", "alpha")})
        assert index.list_tables() == {}
