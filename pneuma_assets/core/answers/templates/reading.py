"""Reading a question: the forms that a template knows, one after the other."""

from collections.abc import Sequence

from pneuma_assets.core.answers.templates import vocabulary as say
from pneuma_assets.core.answers.templates.asking import read_groups, read_measure, read_shown
from pneuma_assets.core.answers.templates.comparing import read_numbers, read_values
from pneuma_assets.core.answers.templates.denying import denies
from pneuma_assets.core.answers.templates.halves import is_half_read
from pneuma_assets.core.answers.templates.mentions import NameSpan
from pneuma_assets.core.answers.templates.ordering import read_order, read_superlatives
from pneuma_assets.core.answers.templates.sentence import Reading, Sentence
from pneuma_assets.core.answers.templates.values import ValueSpan
from pneuma_assets.core.answers.templates.words import Word


def read(
    words: Sequence[Word], names: Sequence[NameSpan], values: Sequence[ValueSpan]
) -> Reading | None:
    """Return what a question asks for; None where that is nothing a template can do."""
    kept, dropped = _settled(words, names, values)
    left = [one for one in names if one not in dropped]
    if _is_given_up(words, left, kept):
        return None
    sentence = Sentence(words, left, kept)
    read_order(sentence)
    read_numbers(sentence)
    read_values(sentence)
    read_groups(sentence)
    read_measure(sentence)
    read_superlatives(sentence)
    read_shown(sentence)
    if is_half_read(sentence, left, kept):
        return None
    return sentence.reading


def _settled(
    words: Sequence[Word], names: Sequence[NameSpan], values: Sequence[ValueSpan]
) -> tuple[list[ValueSpan], list[NameSpan]]:
    """Return the values that are meant as such, and the names that are not meant then."""
    kept: list[ValueSpan] = []
    dropped: list[NameSpan] = []
    for value in values:
        inside = [words[n] for n in range(value.start, value.stop)]
        covered = set(range(value.start, value.stop))
        against = [one for one in names if covered & one.words]
        sure = (
            any(word.quoted for word in inside)
            or (len(inside) > 1 and all(len(one.words) <= len(inside) for one in against))
            or (inside[0].capital and value.start > 0)
            or not against
        )
        if sure:
            kept.append(value)
            dropped += against
    return kept, dropped


def _is_given_up(
    words: Sequence[Word], names: Sequence[NameSpan], values: Sequence[ValueSpan]
) -> bool:
    inside = {n for value in values for n in range(value.start, value.stop)}
    plain = [w.text if n not in inside and not w.quoted else "" for n, w in enumerate(words)]
    named = {n for one in names for n in one.words}
    unnamed = ["" if n in named else text for n, text in enumerate(plain)]
    if say.GIVEN_UP.intersection(unnamed) or denies(unnamed):
        return True
    if plain[:1] in [[w] for w in ("is", "are", "do", "does", "did", "can", "have", "has", "was")]:
        return True
    return any(
        text == "how" and plain[n + 1 : n + 2] not in (["many"], ["much"])
        for n, text in enumerate(plain)
    )
