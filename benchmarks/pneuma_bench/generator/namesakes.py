"""Which columns of a table a question could not tell apart, by what it calls them."""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from pneuma_bench.generator.subjects import Subject
from pneuma_bench.generator.wording import meaning_of, words_of

_KEPT = 64
"""Tables whose columns are not compared again."""


def namesakes(subject: Subject) -> frozenset[int]:
    """Return the columns that are called as another one of their table is.

    Capitals and spaces make no difference. Both wordings count: by names, and by what people wrote
    about columns. "The x where the x is 4" has no answer where two columns are called x.
    """
    return _namesakes(subject.columns, tuple(sorted(subject.described.items())))


@lru_cache(_KEPT)
def _namesakes(columns: tuple[str, ...], described: tuple[tuple[int, str], ...]) -> frozenset[int]:
    subject = Subject("", columns, (False,) * len(columns), (), dict(described))
    by_name = [words_of(subject, at) for at in range(len(columns))]
    meanings = {at: meaning_of(subject, at) for at, _ in described}
    often = Counter(meanings.values())
    by_meaning = [  # as `words_of` calls them, without looking through all of them for each
        meaning if (meaning := meanings.get(at, "")) and often[meaning] == 1 else words
        for at, words in enumerate(by_name)
    ]
    return frozenset(at for called in (columns, by_name, by_meaning) for at in _repeated(called))


def _repeated(called: Sequence[str]) -> list[int]:
    folded = [" ".join(one.split()).casefold() for one in called]
    often = Counter(folded)
    return [at for at, one in enumerate(folded) if often[one] > 1]
