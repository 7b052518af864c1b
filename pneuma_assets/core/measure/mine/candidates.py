"""A table as it is asked about, and a question that may be kept."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pneuma_assets.core.measure.mine.traits import Known, Traits, words_in


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A question that a table answers; others may, too.

    Attributes:
        kind: What it was made of.
        table_id: The table.
        question: The text.
        needs: What a table must have to answer it.
        made: How, for people.
    """

    kind: str
    table_id: str
    question: str
    needs: Traits
    made: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Asking:
    """A table that is asked about.

    Attributes:
        known: What is known of it.
        described: What is said of its columns, by name.
        said: Words by which it is found but for its rows: of its names, columns, documents, and of
            its sampled rows.
    """

    known: Known
    described: Mapping[str, str]
    said: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls,
        known: Known,
        described: Mapping[str, str],
        sampled: Sequence[str] = (),
    ) -> "Asking":
        """Ask about what is known; `sampled` is what was written of its sampled rows."""
        traits = known.traits()
        said = words_in(" ".join([*sampled, *described.values()]))
        said |= traits.names | traits.words | traits.texts
        return cls(known, described, said)
