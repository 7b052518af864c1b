"""Little words that may be names: `in the US`, `salary in IT`, `orders of Miles`.

`us`, `it` and `miles` say nothing by themselves, and nobody would notice that a condition is gone.
"""

from collections.abc import Iterable, Sequence

from pneuma_assets.core.answers.templates import vocabulary as say
from pneuma_assets.core.answers.templates.values import ValueSpan, is_little
from pneuma_assets.core.answers.templates.words import Word

_PLACING = frozenset({"in", "from", "of", "at"})
"""Words behind which a name stands, and no conjunction or pronoun."""
_STRESSED_WORDS = (
    "and or in all each every per by any both the with for of on at to from which what who how "
    "is are not no"
)
_STRESSED = frozenset(_STRESSED_WORDS.split())
"""Words that people write in capitals to stress them: `Madrid OR Paris`."""
_DETERMINERS = (
    "the a an all both each every any some his her its their my our your that this these those "
    "which what whom whose how many"
)
_DETERMINING = frozenset(_DETERMINERS.split())
"""Words behind a preposition that begin what is meant there."""
_BEING = frozenset({"is", "are", "was", "were", "be"})


def names_by_capitals(words: Sequence[Word]) -> frozenset[int]:
    """Return the places of little words that are written as names within a question.

    None in a question most of whose words have capitals: `How Many Orders Are Of Miles?`; nor one
    all in capitals where no letter of the question is small.
    """
    small = any(any(map(str.islower, word.spelled)) for word in words)
    spelled = [word.capital for word in words[1:] if word.spelled and not word.quoted]
    titled = 2 * sum(spelled) > len(spelled)
    return frozenset(
        place
        for place, word in enumerate(words)
        if _is_little(word)
        and len(word.text) > 1
        and (_is_upper(words, place) if word.spelled.isupper() else _is_name(words, place, titled))
        and small
    )


def cell_left(words: Sequence[Word], spans: Iterable[ValueSpan], used: set[int]) -> str:
    """Return little words that may be meant as a cell where nothing is done with them, or nothing.

    Args:
        words: Of a question.
        spans: Little words that are whole cells, but no values for sure.
        used: The places of words that are accounted for.
    """
    for span in spans:
        left = used.isdisjoint(range(span.start, span.stop)) and _may_be_meant(words, span)
        if left or _is_placed(words, span):
            return " ".join(word.text for word in words[span.start : span.stop])
    return ""


def _is_placed(words: Sequence[Word], span: ValueSpan) -> bool:
    """Tell whether a preposition, or `is` before the end, makes a name of what it stands before."""
    before = span.start - 1
    while before > 0 and words[before].text == "the":
        before -= 1
    last = span.stop == len(words) or bool(words[span.stop - 1].ends)
    behind = _PLACING | _BEING if last else _PLACING
    placed = before >= 0 and words[before].text in behind
    return placed and words[span.start].text not in _DETERMINING


def _may_be_meant(words: Sequence[Word], span: ValueSpan) -> bool:
    run = words[span.start : span.stop]
    if not all(word.text in say.ASKING | say.UNITS for word in run):
        return True  # `were received` where a status is so; `high` of a priority.
    spelled = " ".join(word.spelled for word in run)
    inside = span.start > 0 and run[0].capital
    return inside and any(place.stored == spelled for place in span.places)


def _is_little(word: Word) -> bool:
    return is_little(word) and not (word.quoted or word.number or word.date)


def _is_upper(words: Sequence[Word], place: int) -> bool:
    text = words[place].text
    placed = place > 0 and words[place - 1].text in _PLACING and text not in _DETERMINING
    unit = words[place + 1 :] and words[place + 1].text in say.UNITS  # `US dollars`
    return not unit and (placed or text not in _STRESSED)


def _is_name(words: Sequence[Word], place: int, titled: bool) -> bool:
    """Tell a capital inside a sentence that nothing but a name explains."""
    before = words[place - 1] if place else None
    plain = before is not None and not (before.ends or before.number)
    word = words[place]
    return plain and word.capital and not titled and word.text not in _STRESSED
