"""A state and an index, and what the stages of a run do to tables that are read by hand."""

from collections.abc import Callable
from pathlib import Path

from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from pneuma_assets.core.pipeline.embed import embed_tables
from pneuma_assets.core.pipeline.write import index_tables
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.queue import Stage
from pneuma_assets.core.tables import Column, Document, Table
from tests.support.word_encoder import WordEncoder


class StagedLake:
    """Tables of the source `w`, of one column each."""

    def __init__(self, folder: Path) -> None:
        self.store = Store(folder / "state.db")
        self.encoder = WordEncoder()
        self.index = EmbeddedIndex(folder / "index", self.encoder.name, self.encoder.dimension)

    def close(self) -> None:
        self.store.close()
        self.index.close()

    def read(self, run: str, document: Callable[[str], Document]) -> None:
        """Claim what waits, with a document for each table."""
        self.store.queue.release_claims(run)
        self.store.queue.claim(run, 10, 3, ["w"])
        for item in self.store.queue.claimed(run):
            table_id = item.ref.table_id
            read = Table(table_id, (Column("a", "INT"),), 1, "")
            self.store.queue.save_profiles(run, [read])
            said = document(table_id)
            self.store.documents.replace(said.kind, [(table_id, [said])])
            self.store.queue.advance(run, Stage.NARRATED, [table_id])

    def end(self, run: str) -> None:
        embed_tables(self.store, run, self.encoder, self.index)
        index_tables(self.store, run, self.encoder.name, self.index, lambda _: None)
