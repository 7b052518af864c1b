"""What an index was built with, and the refusal to open it with anything else."""

from dataclasses import dataclass

from pneuma_assets.core.errors import IndexMismatchError

REBUILD = "run `pneuma-assets index --rebuild` to build it again"


@dataclass(frozen=True, slots=True)
class Identity:
    """What must be equal for two vectors or two terms to be comparable."""

    encoder: str
    dimension: int
    analyzer: str

    def check(self, wanted: "Identity", where: str) -> None:
        """Raise `IndexMismatchError` unless this index, called `where`, is the one wanted."""
        if self != wanted:
            raise IndexMismatchError(
                f"The search index {where} was built with {self._described()}, but "
                f"{wanted._described()} is configured; configure the old one, or {REBUILD}."
            )

    def _described(self) -> str:
        return (
            f"encoder {self.encoder!r} of dimension {self.dimension} and analyzer {self.analyzer!r}"
        )
