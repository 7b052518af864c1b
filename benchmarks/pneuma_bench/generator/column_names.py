"""Which column of a table a model means by a name, however it spells it."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from pneuma_bench.generator.subjects import Subject
from pneuma_bench.generator.wording import meaning_of, words_of

_NOT_IN_NAMES = re.compile(r"\W|_")


class ColumnNames:
    """The names of a table's columns, to be found as they are, or in other capitals and signs.

    What no name spells is looked for among the words that names stand for, and among what people
    wrote about columns: a model that is asked about the labour cost share writes
    `labour_cost_share`, and means the column `sl`.

    Args:
        subject: The table.
        as_written: Whether a name is found as it is and in other capitals alone.
    """

    def __init__(self, subject: Subject, *, as_written: bool = False) -> None:
        self._levels: list[dict[str, set[int]]] = []
        levels = (_as_it_is, _in_any_capitals, _in_any_signs, _in_words)
        for spelled in levels[:2] if as_written else levels:
            places: dict[str, set[int]] = defaultdict(set)
            for at in range(len(subject.columns)):
                for name in spelled(subject, at):
                    places[name].add(at)
            self._levels.append(places)

    def places(self, parts: Sequence[str]) -> Sequence[int]:
        """Return where the columns are that are spelled most as a name is: none, one, or several.

        Args:
            parts: Of a name that has dots; these may be its own, or stand behind a table's name.
        """
        for name in dict.fromkeys((".".join(parts), parts[-1])):
            spellings = (name, name.casefold(), _bare(name), _bare(name))
            for spelled, places in zip(spellings, self._levels, strict=False):
                if spelled and places.get(spelled):
                    return sorted(places[spelled])
        return ()


def _as_it_is(subject: Subject, at: int) -> Iterator[str]:
    yield subject.columns[at]


def _in_any_capitals(subject: Subject, at: int) -> Iterator[str]:
    yield subject.columns[at].casefold()


def _in_any_signs(subject: Subject, at: int) -> Iterator[str]:
    yield _bare(subject.columns[at])


def _in_words(subject: Subject, at: int) -> Iterator[str]:
    yield _bare(words_of(subject, at))
    yield _bare(meaning_of(subject, at))


def _bare(name: str) -> str:
    return _NOT_IN_NAMES.sub("", name).casefold()
