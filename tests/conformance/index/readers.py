"""Conformance: a reader sees the old table or the new one, never half of either."""

import threading

from tests.conformance.index.support import Conformance
from tests.support.index_blocks import replace_blocks

VERSIONS = ("old", "new")
SIZE = 8


class ReadersConformance(Conformance):
    def version(self, name: str):
        """Return one version of a table: SIZE blocks that all say which one they belong to."""
        return self.embedded("s/t", *(f"lake {name} {n}" for n in range(SIZE)))

    def test_a_reader_that_is_open_sees_what_another_writes(self, index_factory):
        reader, writer = index_factory(), index_factory()
        assert self.lexical_texts(reader, "lake") == []
        replace_blocks(writer, {"s/t": self.embedded("s/t", "lake")})
        assert self.lexical_texts(reader, "lake") == ["lake"]
        replace_blocks(writer, {"s/t": self.embedded("s/t", "lake two"), "s/u": []})
        assert self.lexical_texts(reader, "lake") == ["lake two"]
        assert reader.list_tables() == {"s/t": 1, "s/u": 0}
        writer.delete_tables(["s/t"])
        assert self.lexical_texts(reader, "lake") == []

    def test_a_reader_never_sees_half_a_table(self, index_factory):
        writer, reader = index_factory(), index_factory()
        replace_blocks(writer, {"s/t": self.version("old"), "s/rest": []})
        done = threading.Event()
        failures: list[BaseException] = []

        def write() -> None:
            try:
                for turn in range(self.replacements):
                    replace_blocks(writer, {"s/t": self.version(VERSIONS[turn % 2])})
            except BaseException as error:  # noqa: BLE001 (raised by the test's own thread)
                failures.append(error)
            finally:
                done.set()

        thread = threading.Thread(target=write)
        thread.start()
        looks = 0
        while not done.is_set() or not looks:
            self.look(reader)
            looks += 1
        thread.join()
        assert failures == []
        self.look(reader)

    def look(self, reader) -> None:
        hits = reader.search([self.both("lake")], limit=4 * SIZE)[0]
        for side in (hits.lexical, hits.semantic):
            assert len(side) == SIZE
            assert len({hit.block.text.split()[1] for hit in side}) == 1
        assert len(list(reader.blocks(["s/t"]))) == SIZE
        assert reader.list_tables() == {"s/t": SIZE, "s/rest": 0}

    def test_one_index_serves_many_threads(self, index):
        tables = {f"s/{n}": self.embedded(f"s/{n}", f"lake number{n}") for n in range(30)}
        replace_blocks(index, tables)
        failures: list[BaseException] = []

        def ask(first: int) -> None:
            try:
                for n in range(first, 30, 4):
                    assert self.lexical_texts(index, f"number{n}")[0] == f"lake number{n}"
                    replace_blocks(index, {f"s/{n}": tables[f"s/{n}"], f"s/new{n}": []})
            except BaseException as error:  # noqa: BLE001 (raised by the test's own thread)
                failures.append(error)

        threads = [threading.Thread(target=ask, args=(first,)) for first in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        assert len(index.list_tables()) == 60
