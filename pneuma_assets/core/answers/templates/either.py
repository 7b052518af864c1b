"""Where a question says `or`: between values of one column, or it is not read."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from pneuma_assets.core.answers.templates import vocabulary as say
from pneuma_assets.core.answers.templates.plan import NoPlanError
from pneuma_assets.core.answers.templates.sentence import Reading
from pneuma_assets.core.answers.templates.values import ValueSpan
from pneuma_assets.core.answers.templates.words import Word

_JOINING = say.LITTLE | {"or", "either"}
_BETWEEN = "'or' is read between values of one column alone"


def either(reading: Reading, words: Sequence[Word], chains: Iterable[Sequence[ValueSpan]]) -> None:
    """Accept each `or` that stands between two values of one column.

    Conditions all hold at once, but for the values of one column: of these, one is enough.

    Args:
        reading: Of a question.
        words: All of it.
        chains: The values of each condition, as the question has them.

    Raises:
        NoPlanError: An `or` stands elsewhere: `in Madrid or with a credit above 60`. Or two values
            of one column stand beside each other without it: no row has both.
    """
    labels = {place for name, _ in reading.labels for place in name.words}
    joining = set(reading.ors)
    for chain in chains:
        for place, (one, other) in enumerate(pairwise(chain), 2):
            gap = range(one.stop, other.start)
            listed = not gap and words[one.stop - 1].ends == "," and place < len(chain)
            if joining.isdisjoint(gap) and not listed:
                raise NoPlanError("no row has two values of one column; say 'or' if one is enough")
            if any(words[n].text not in _JOINING and n not in labels for n in gap):
                raise NoPlanError(_BETWEEN)  # `In Madrid with a credit above 60 or in Paris`.
            joining.difference_update(gap)
    if joining:
        raise NoPlanError(_BETWEEN)
