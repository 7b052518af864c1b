"""The embeddings of columns' headers: one for each that any searchable table has."""

from collections.abc import Iterable, Mapping, Sequence

from pneuma_assets.core.store.database import Database
from pneuma_assets.core.store.embeddings import HEADERS, Embeddings
from pneuma_assets.core.store.noted import note_values, noted_values
from pneuma_assets.core.tables import Block, DocumentKind, EmbeddedBlock, Vector

_MADE_OF = "headers made of"


class HeaderVectors:
    """The part of the store that knows headers (Octopus, section 4: the matrix H).

    They are kept with the other embeddings, not with the state: whoever opens the state to ask a
    question would check 1.5 kB for each of tens of thousands.
    """

    def __init__(self, database: Database, embeddings: Embeddings) -> None:
        self._db = database
        self._embeddings = embeddings

    def of(self, encoder: str, headers: Iterable[str]) -> dict[str, Vector]:
        """Return the embeddings of those headers that have one by this encoder."""
        return self._embeddings.known(encoder, headers)

    def replace(self, encoder: str, vectors: Mapping[str, Vector], made_of: Sequence[str]) -> None:
        """Make these the headers that are kept; others go, and those of other encoders.

        Args:
            encoder: The name of the one that made them.
            vectors: The embedding of each.
            made_of: Names what they were made of; `made_of` returns it.
        """
        kept = [
            EmbeddedBlock(Block(HEADERS, DocumentKind.SCHEMA, header), vector)
            for header, vector in vectors.items()
        ]
        self._embeddings.keep(encoder, [(HEADERS, kept)])
        self._embeddings.prune(())
        with self._db.write() as connection:
            note_values(connection, _MADE_OF, list(made_of))

    def made_of(self) -> tuple[str, ...]:
        """Return what the headers were made of; nothing before there were any."""
        return tuple(noted_values(self._db, _MADE_OF) or ())

    def forget(self) -> None:
        """Forget all headers: names among them are hidden now. The next run makes the others."""
        with self._db.write() as connection:
            note_values(connection, _MADE_OF, [])
        self._embeddings.prune([HEADERS])
