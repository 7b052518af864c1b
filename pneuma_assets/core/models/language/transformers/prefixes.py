"""Finds what neighbouring prompts have in common, so that it is read once.

The prompts of one table's columns differ only in the column's name at their end: instruction and
schema in front of it are the same tokens.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

_WORTHWHILE = 16
"""Tokens; sharing less than this with the next prompt does not start a new group."""


@dataclass(frozen=True, slots=True)
class PrefixGroup:
    """Neighbouring prompts `start` to `stop` whose first `shared` tokens are the same.

    `shared` leaves at least one token of each prompt, because a model answers what it reads last.
    """

    start: int
    stop: int
    shared: int


def group_by_prefix(prompts: Sequence[Sequence[int]]) -> list[PrefixGroup]:
    """Split token sequences into runs of neighbours with a long common prefix.

    A prompt joins the group before it if that saves more tokens than it costs: a shorter common
    prefix makes every member read the difference itself. It stays out if it shares clearly more
    with the prompt that follows, which then starts its own group. Linear in the tokens.
    """
    groups: list[PrefixGroup] = []
    following = [common_prefix(a, b) for a, b in pairwise(prompts)]
    start, shared = 0, 0
    for position, prompt in enumerate(prompts):
        if position == 0:
            shared = len(prompt)
            continue
        common = min(shared, following[position - 1])
        members = position - start
        ahead = following[position] if position < len(following) else 0
        if (shared - common) * members < common and ahead < common + _WORTHWHILE:
            shared = common
        else:
            groups.append(_group(prompts, start, position, shared))
            start, shared = position, len(prompt)
    if prompts:
        groups.append(_group(prompts, start, len(prompts), shared))
    return groups


def common_prefix(a: Sequence[int], b: Sequence[int]) -> int:
    """Return how many tokens two sequences have in common at their start."""
    for position, (left, right) in enumerate(zip(a, b, strict=False)):
        if left != right:
            return position
    return min(len(a), len(b))


def _group(prompts: Sequence[Sequence[int]], start: int, stop: int, shared: int) -> PrefixGroup:
    shortest = min(len(prompts[position]) for position in range(start, stop))
    return PrefixGroup(start, stop, min(shared, shortest - 1))
