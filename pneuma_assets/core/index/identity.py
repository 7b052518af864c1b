"""What an index was built with, the refusal to open it with anything else, and facts as text."""

import json
from dataclasses import asdict, dataclass
from typing import Any

from pneuma_assets.core.errors import IndexMismatchError
from pneuma_assets.core.tables import TableFacts

REINDEX = "run `pneuma-assets reindex` where the tables are indexed"
REBUILD = "run `pneuma-assets index --rebuild` to build it again"


def other_format(index: str, found: object, ours: int) -> str:
    """Return the refusal of an index of another format; the tables are read and embedded again."""
    return (
        f"{index} was made by another version of pneuma-assets (format {found}, this is {ours}): "
        f"{REBUILD}."
    )


class OtherIdentityError(IndexMismatchError):
    """An index was built with something else than is configured; `found` says with what."""

    def __init__(self, message: str, found: "Identity") -> None:
        super().__init__(message)
        self.found = found


@dataclass(frozen=True, slots=True)
class Identity:
    """What must be equal for two vectors or two terms to be comparable."""

    encoder: str
    dimension: int
    analyzer: str

    def check(self, wanted: "Identity", where: str) -> None:
        """Return if this index, called `where`, is the one wanted.

        Raises:
            OtherIdentityError: It is another one.
        """
        if self == wanted:
            return
        found, asked, remedy = (
            self._encoding(),
            wanted._encoding(),
            f"configure the old one, or {REBUILD}",
        )
        if self.has_vectors_of(wanted):
            found, asked = f"analyzer {self.analyzer!r}", f"analyzer {wanted.analyzer!r}"
            remedy = f"configure the old one, or {REINDEX}"
        told = f"The search index {where} was built with {found}, but {asked} is configured; "
        raise OtherIdentityError(f"{told}{remedy}.", self)

    def has_vectors_of(self, other: "Identity") -> bool:
        """Tell whether at most the analyzers differ, so that no text need be embedded again."""
        return self._encoding() == other._encoding()

    def _encoding(self) -> str:
        return f"encoder {self.encoder!r} of dimension {self.dimension}"


def facts_text(facts: TableFacts) -> str:
    """Return facts as one text; equal facts have equal texts."""
    return json.dumps(asdict(facts), ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def facts_from(text: str) -> TableFacts:
    """Undo `facts_text`.

    Raises:
        ValueError: It is something else.
        TypeError: Likewise.
    """
    found: dict[str, Any] = json.loads(text)
    if not isinstance(found, dict) or "readers" not in found:
        raise TypeError("no facts of a table")
    for name in ("readers", "joins"):
        texts = found.get(name)
        if texts is not None:
            if not isinstance(texts, list) or not all(isinstance(one, str) for one in texts):
                raise TypeError(f"{name} that are no list of texts")
            found[name] = tuple(texts)
    return TableFacts(**found)
