"""Those that write the same tables into the same server, an engine and the client by itself."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from elasticsearch import Elasticsearch
from elasticsearch.helpers import parallel_bulk

from pneuma_assets.core.config.elasticsearch import ElasticsearchConfig
from pneuma_assets.core.index.base import SearchIndex, TableContents
from pneuma_assets.core.index.elastic.documents import Action, actions_of, checked
from pneuma_assets.core.index.elastic.mapping import mappings_of, settings_of
from pneuma_assets.core.index.identity import Identity
from pneuma_assets.core.tables import EmbeddedBlock
from pneuma_assets.core.text.analysis import ENGLISH
from pneuma_bench.experiments.support.corpus import DIMENSION

Tables = Mapping[str, Sequence[EmbeddedBlock]]


class TakesTurns(Protocol):
    """One that writes the tables it is given, a call at a time."""

    label: str

    def prepare(self, tables: Tables) -> None:
        """Make ready what is not measured."""

    def write(self) -> None:
        """Write what was prepared."""

    def finish(self) -> None:
        """Make everything visible to searches."""

    def size_bytes(self) -> int:
        """Return the size on disk."""


class Writer:
    """An index of the project; every call is durable and visible when it returns."""

    def __init__(self, label: str, index: SearchIndex) -> None:
        self.label = label
        self._index = index
        self._tables: Tables = {}

    def prepare(self, tables: Tables) -> None:
        """Keep the tables; making documents of them is part of the engine's work."""
        self._tables = tables

    def write(self) -> None:
        """Write one call's tables."""
        self._index.replace_tables({i: TableContents(b) for i, b in self._tables.items()})

    def finish(self) -> None:
        """Do nothing: what a call wrote is visible."""

    def size_bytes(self) -> int:
        """Return the size on disk."""
        return self._index.info().size_bytes


class Bare:
    """The client's `parallel_bulk` as it comes, into an index with the same mapping."""

    label = "bare parallel_bulk"

    def __init__(self, client: Elasticsearch, config: ElasticsearchConfig, encoder: str) -> None:
        self._client = client
        self._name = f"{config.name}-bare"
        self._actions: list[Action] = []
        self._generation = 0
        identity = Identity(encoder, DIMENSION, ENGLISH.name)
        mappings = mappings_of(config, identity, incarnation="bare")
        client.indices.create(index=self._name, settings=settings_of(config), mappings=mappings)

    def prepare(self, tables: Tables) -> None:
        """Make the documents, the words' analysis included."""
        self._actions = []
        for table_id, embedded in tables.items():
            self._generation += 1
            contents = checked(table_id, TableContents(embedded), DIMENSION)
            for action in actions_of(
                table_id, contents, contents.digest, self._generation, ENGLISH
            ):
                del action["version"], action["version_type"]  # nothing that only we need
                self._actions.append(action)

    def write(self) -> None:
        """Send them; the helper raises if one is refused."""
        for _ in parallel_bulk(self._client, self._actions, index=self._name):
            pass

    def finish(self) -> None:
        """Refresh once, as is advised after a bulk load."""
        self._client.indices.refresh(index=self._name)

    def size_bytes(self) -> int:
        """Return the size on disk."""
        stats = self._client.indices.stats(index=self._name, metric="store")
        return int(stats["_all"]["total"]["store"]["size_in_bytes"])

    def drop(self) -> None:
        """Delete the index, so that it does not take memory from the other."""
        self._client.indices.delete(index=self._name)
