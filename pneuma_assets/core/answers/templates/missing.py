"""What a question asks for that is not there, or is hidden: nothing else answers it."""

from collections.abc import Sequence

from pneuma_assets.core.answers.templates.fields import COUNTING
from pneuma_assets.core.answers.templates.names import Names
from pneuma_assets.core.answers.templates.plan import Plan
from pneuma_assets.core.answers.templates.sentence import Reading
from pneuma_assets.core.answers.templates.words import Word

_DETERMINING = frozenset({"the", "a", "an", "all", "their", "its", "his", "her", "this", "these"})
_CALENDAR = frozenset({"hour", "hours", "day", "days", "week", "weeks", "month", "months", "year"})


def stands_by_of(words: Sequence[Word], place: int) -> bool:
    """Tell whether a word asks for something of something: `address of X`, `address and Y of X`.

    So does the one behind: `phone of the distributors`. `Number of X` and `day of the week` do not.
    """
    if words[place].text in COUNTING:
        return False
    after = place + 1
    while after < len(words) and (words[after].text == "and" or words[after - 1].ends == ","):
        after += 2 if words[after].text == "and" else 1
    if after < len(words) and words[after].text == "of" and not words[after - 1].ends:
        return True
    before = place - 1
    while before > 0 and words[before].text in _DETERMINING:
        before -= 1
    calendar = before > 0 and {words[before - 1].text, words[place].text} <= _CALENDAR
    return before >= 0 and words[before].text == "of" and not calendar


def asks_hidden(words: Sequence[Word], reading: Reading, names: Names, plan: Plan) -> bool:
    """Tell whether a question names a column that is hidden, and none of the same name is read.

    A word that nothing accounts for names it by a part: `address` one that is `home_address`.
    """
    cells = {n for value in reading.values for n in range(value.start, value.stop)}
    said = {stem for n, one in enumerate(words) if n not in cells for stem in one.stems}
    unread = {stem for n, one in enumerate(words) if n not in reading.used for stem in one.stems}
    for table in names.tables:
        near = [table.place] if table.place in plan.tables else plan.tables
        seen = [one.stems | one.spelled for n in near for one in names.tables[n].fields]
        for hidden in table.hidden:
            for stems in (hidden.stems, hidden.spelled):
                named = stems <= said or not stems.isdisjoint(unread)
                if stems and named and not any(stems <= one for one in seen):
                    return True
    return False
