"""Words that ask for all parts of what was split into several tables: `in all years`, `overall`."""

from collections.abc import Sequence

from pneuma_assets.core.answers.tables import AnswerSet
from pneuma_assets.core.answers.templates.plan import Plan
from pneuma_assets.core.answers.templates.sentence import Reading
from pneuma_assets.core.answers.templates.words import Word

_ALL = frozenset({"all", "every", "each", "any"})
_OF = frozenset({"of", "the", "these", "those", "our"})
_PERIODS = {"year", "quarter", "month", "week", "day", "season", "period", "time"}
_PLACES = {"region", "branch", "file", "part"}
_PARTS = _PERIODS | _PLACES | {f"{one}s" for one in _PERIODS | _PLACES} | {"branches"}
_ALONE = frozenset({"overall", "altogether", "ever"})


def leaves_parts(words: Sequence[Word], reading: Reading, plan: Plan, tables: AnswerSet) -> bool:
    """Tell whether all parts are asked for, and no statement of this plan is about all of them.

    A statement is run on all tables of the same columns; a table is a part if its name says which,
    by a year or another number. The largest of each part is not the largest of all.
    """
    places = [place for place in asking_for_all(words) if place not in reading.used]
    names = [tables.tables[place].read.name for place in plan.tables]
    are_parts = any(character.isdigit() for name in names for character in name)
    return bool(places) and (plan.limit > 0 or not are_parts)


def asking_for_all(words: Sequence[Word]) -> list[int]:
    """Return the places of words that ask for all parts: `overall`, `years` of `all the years`."""
    found = []
    for place, word in enumerate(words):
        before = place - 1
        while before > 0 and (words[before].text in _OF or words[before].number):
            before -= 1
        parts = word.text in _PARTS and before >= 0 and words[before].text in _ALL
        if not word.quoted and (parts or word.text in _ALONE):
            found.append(place)
    return found
