"""Splitting work into groups of a bounded size."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

Item = TypeVar("Item")
Key = TypeVar("Key")


def chunks(items: Sequence[Item], size: int) -> list[Sequence[Item]]:
    """Return the items in groups of at most `size`."""
    return [items[start : start + size] for start in range(0, len(items), size)]


def portions(sizes: Mapping[Key, int], most: int, items: int | None = None) -> Iterator[list[Key]]:
    """Yield keys in groups whose sizes add up to `most` at most; a larger one is alone.

    Args:
        sizes: Size of each item, by its key.
        most: Bound of a group's size.
        items: Bound of a group's number of items, if there is one.
    """
    group: list[Key] = []
    total = 0
    for key, size in sizes.items():
        full = total + max(size, 1) > most or len(group) == items
        if group and full:
            yield group
            group, total = [], 0
        group.append(key)
        total += size
    if group:
        yield group
