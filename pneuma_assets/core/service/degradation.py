"""Which part of a deployment is missing, so that an answer says what it lacks."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MissingPart:
    """A part that an answer had to do without.

    Attributes:
        part: `encoder`, `judge`, `index`, `state`, `model` or `source`.
        name: Which one, such as a source's name; empty where there is one only.
        cause: Why it is missing, in a sentence.
        effect: What the answer lacks for it.
    """

    part: str
    name: str
    cause: str
    effect: str
