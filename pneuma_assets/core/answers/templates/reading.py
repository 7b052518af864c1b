"""Reading a question: the forms that a template knows, one after the other."""

from collections.abc import Sequence

from pneuma_assets.core.answers.templates import vocabulary as say
from pneuma_assets.core.answers.templates.asking import read_groups, read_measure, read_shown
from pneuma_assets.core.answers.templates.comparing import read_numbers, read_values
from pneuma_assets.core.answers.templates.denying import denying
from pneuma_assets.core.answers.templates.halves import check_whole
from pneuma_assets.core.answers.templates.mentions import NameSpan
from pneuma_assets.core.answers.templates.ordering import read_order, read_superlatives
from pneuma_assets.core.answers.templates.plan import NoPlanError
from pneuma_assets.core.answers.templates.sentence import Reading, Sentence
from pneuma_assets.core.answers.templates.values import ValueSpan
from pneuma_assets.core.answers.templates.words import Word


def read(words: Sequence[Word], names: Sequence[NameSpan], values: Sequence[ValueSpan]) -> Reading:
    """Return what a question asks for.

    Raises:
        NoPlanError: That is nothing a template can do.
    """
    kept, dropped = _settled(words, names, values)
    left = [one for one in names if one not in dropped]
    _check_plain(words, left, kept)
    sentence = Sentence(words, left, kept)
    read_order(sentence)
    read_numbers(sentence)
    read_values(sentence)
    read_groups(sentence)
    read_measure(sentence)
    read_superlatives(sentence)
    read_shown(sentence)
    check_whole(sentence, left, kept)
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


def _check_plain(
    words: Sequence[Word], names: Sequence[NameSpan], values: Sequence[ValueSpan]
) -> None:
    inside = {n for value in values for n in range(value.start, value.stop)}
    plain = [w.text if n not in inside and not w.quoted else "" for n, w in enumerate(words)]
    named = {n for one in names for n in one.words}
    unnamed = ["" if n in named else text for n, text in enumerate(plain)]
    given_up = next((text for text in unnamed if text in say.GIVEN_UP), "") or denying(unnamed)
    if given_up:
        raise NoPlanError(f"nothing is made of {given_up!r}")
    if plain[0] in say.YES_OR_NO:
        raise NoPlanError("nothing is answered by yes or no")
    for place, text in enumerate(plain):
        if text == "how" and plain[place + 1 : place + 2] not in (["many"], ["much"]):
            raise NoPlanError("'how' is read in 'how many' and 'how much' alone")
