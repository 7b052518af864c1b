"""What a stage counts: fields that the type checker knows, under names that people see."""

from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, fields
from typing import Any, ClassVar, Self


@dataclass(frozen=True, slots=True)
class Figures:
    """Whole numbers that a stage of a run counted; each stage has a class of its own.

    A field counts from 0, so that what parts of a stage did adds up, and so does what several runs
    did. It is a number, or numbers by kind. In Dagster's UI and in the store its name has blanks
    for underscores (`begun_anew` is "begun anew"), and after a kind (`blocks` is "rows blocks").

    Attributes:
        stage: The asset that counts these.
    """

    stage: ClassVar[str]

    def named(self) -> dict[str, int]:
        """Return every number by its name, in the order of the fields."""
        named: dict[str, int] = {}
        for each in fields(self):
            name, value = _name(each), getattr(self, each.name)
            if _by_kind(each):
                named |= {f"{kind} {name}": number for kind, number in value.items()}
            else:
                named[name] = value
        return named

    @classmethod
    def from_named(cls, kept: Mapping[str, float]) -> Self:
        """Return the figures that have these names, such as the store kept them.

        Another version may have kept them: what is missing counts as 0, what is not known is left
        out.
        """
        read: dict[str, Any] = {}
        for each in fields(cls):
            ending = f" {_name(each)}"
            if _by_kind(each):
                found = {k.removesuffix(ending): n for k, n in kept.items() if k.endswith(ending)}
                read[each.name] = {kind: int(number) for kind, number in found.items()}
            else:
                read[each.name] = int(kept.get(_name(each), 0))
        return cls(**read)

    def __add__(self, other: Self) -> Self:
        """Return figures in which each number is the sum of both."""
        mine, more = self.named(), other.named()
        return self.from_named(
            {name: mine.get(name, 0) + more.get(name, 0) for name in mine | more}
        )


def _name(each: Field[Any]) -> str:
    return each.name.replace("_", " ")


def _by_kind(each: Field[Any]) -> bool:
    """Tell whether a field counts by kind: a mapping has a factory, a number its default 0."""
    return each.default is MISSING
