"""Chance that a seed decides, for whatever is drawn or made."""

import random
from hashlib import blake2b


def chance_of(seed: int, *of: object) -> random.Random:
    """Return chance that depends on the seed and on what it is for, and on nothing before."""
    digest = blake2b(repr((seed, *of)).encode("utf-8", "replace"), digest_size=8)
    return random.Random(int.from_bytes(digest.digest()))  # noqa: S311
