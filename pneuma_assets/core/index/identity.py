"""What an index was built with, and the refusal to open it with anything else."""

from dataclasses import dataclass

from pneuma_assets.core.errors import IndexMismatchError

REINDEX = "run `pneuma-assets reindex` where the tables are indexed"
REBUILD = "run `pneuma-assets index --rebuild` to build it again"


@dataclass(frozen=True, slots=True)
class Identity:
    """What must be equal for two vectors or two terms to be comparable."""

    encoder: str
    dimension: int
    analyzer: str

    def check(self, wanted: "Identity", where: str, *, copyable: bool = False) -> None:
        """Raise `IndexMismatchError` unless this index, called `where`, is the one wanted.

        Args:
            wanted: What the configuration asks for.
            where: Names the index in the message.
            copyable: Whether the engine can apply another analyzer without a model.
        """
        if self == wanted:
            return
        remedy, found, asked = REBUILD, self._encoding(), wanted._encoding()
        if found == asked:
            found, asked = f"analyzer {self.analyzer!r}", f"analyzer {wanted.analyzer!r}"
            remedy = REINDEX if copyable else REBUILD
        raise IndexMismatchError(
            f"The search index {where} was built with {found}, but {asked} is configured; "
            f"configure the old one, or {remedy}."
        )

    def _encoding(self) -> str:
        return f"encoder {self.encoder!r} of dimension {self.dimension}"
