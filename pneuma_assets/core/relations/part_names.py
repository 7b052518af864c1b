"""What tells parts of one thing apart by their names, and which of them a question means.

That are years, months, days, regions and numbers: a question that says 2019, August 2017 or Texas
means those parts.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, groupby
from operator import itemgetter

from pytz import country_names

from pneuma_assets.core.terms.fields import name_parts
from pneuma_assets.core.terms.split_names import singular
from pneuma_assets.core.text.analysis import ENGLISH_STOP_WORDS
from pneuma_assets.core.text.stop_words import LITTLE, MOST_CHARACTERS

_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july", "august", "september"),
    *("october", "november", "december"),
)
_STATES = """
al alabama ak alaska az arizona ar arkansas ca california co colorado ct connecticut de delaware
fl florida ga georgia hi hawaii id idaho il illinois in indiana ia iowa ks kansas ky kentucky
la louisiana me maine md maryland ma massachusetts mi michigan mn minnesota ms mississippi
mo missouri mt montana ne nebraska nv nevada nh new_hampshire nj new_jersey nm new_mexico
ny new_york nc north_carolina nd north_dakota oh ohio ok oklahoma or oregon pa pennsylvania
ri rhode_island sc south_carolina sd south_dakota tn tennessee tx texas ut utah vt vermont
va virginia wa washington wv west_virginia wi wisconsin wy wyoming dc district_of_columbia
"""
_MORE = """
eu europe uk united_kingdom us united_states_of_america na north_america
"""
_LARGER = """
emea apac latam dach mena nordics benelux north south east west northeast northwest southeast
southwest central asia africa oceania north_america south_america latin_america middle_east
"""
"""Markets, points of the compass, continents; they have no codes."""


def _by_code() -> dict[str, tuple[str, ...]]:
    """Return what each code of a state or a country stands for; `ca` is California and Canada."""
    known = f"{_STATES} {_MORE}".split()
    pairs = [*zip(known[::2], known[1::2], strict=True)]
    for code, listed in country_names.items():
        name, _, more = listed.partition(" (")  # Samoa (American)
        pairs += [(code.lower(), name), *([(code.lower(), f"{more} {name}")] if more else [])]
    found: dict[str, tuple[str, ...]] = defaultdict(tuple)
    for code, name in pairs:
        found[code] += (" ".join(name_parts(name)),)
    return found


_NAMED = _by_code()
_CODE = 2
"""Letters of a code of a state or a country."""
_LAST_MONTH = 12
_MONTHS_OF = {"q": 3, "h": 6, "w": 1}

_REGIONS = {
    *chain.from_iterable(_NAMED.values()),
    *(one.replace("_", " ") for one in _LARGER.split()),
}


def _any_of(texts: Iterable[str]) -> str:
    """Return a pattern of texts, the longest first; by first letters, as there are hundreds."""
    by_letter = groupby(sorted(texts), key=itemgetter(0))
    longest = ((letter, sorted(some, key=len, reverse=True)) for letter, some in by_letter)
    return "|".join(f"{letter}(?:{'|'.join(i[1:] for i in some)})" for letter, some in longest)


_MONTH = "|".join(f"{month[:3]}(?:{month[3:]})?" for month in _MONTHS)
_YEAR = r"(?:1[89]\d\d|20\d\d|2100)"
_DAY_OF, _NO_MONTH = r"(?:0[1-9]|[12]\d|3[01])", r"(?:1[3-9]|[23]\d)"
_TOLD_BY = re.compile(
    rf"\b(?:(?:fy ?)?(?P<year>{_YEAR})(?: ?(?P<month>0[1-9]|1[0-2])(?: ?(?P<day>{_DAY_OF}))?)?"
    rf"|(?!{_NO_MONTH} ?{_NO_MONTH})(?P<first>{_DAY_OF}) ?(?P<second>{_DAY_OF}) ?(?P<of>{_YEAR})"
    rf"|(?P<quarter>q ?[1-4]|[1-4] ?q(?= (?:{_YEAR}|\d\d)\b))(?: ?(?P<of_quarter>\d\d))?"
    rf"|fy ?(?P<short>\d\d)|(?P<named>{_MONTH})"
    r"|(?P<half>h ?[12])|(?P<week>w(?:eek)? ?[0-5]\d|week ?\d)"
    rf"|(?P<region>{_any_of({*_REGIONS, *_NAMED})})|(?P<number>\d{{1,9}}))\b"
)
"""What tells members apart, in the parts of a name, joined by blanks."""

_WORD = re.compile(r"[^\W_]+")
_DAY = r"(\d\d?)(?: ?(?:st|nd|rd|th))?"
_SPELLED = re.compile(rf"\b(?:{_DAY}(?: of)? )?({_MONTH})(?: {_DAY})? ({_YEAR})\b")
"""A day, or a month, as a question says it: 1 August 2017, Aug 1, 2017, the 1st of August 2017."""

_OF_WORDS = re.compile(
    rf"\b(?:{_any_of(one.replace(' ', '[ _-]+') for one in _REGIONS if ' ' in one)})\b", re.I
)
"""Regions of several words: none of them is one by itself, and West Virginia is not Virginia."""

_CAMEL_CODE = re.compile(
    r"(?<=[a-z])[A-Z]{2}(?![a-z]|\d(?!\d))|(?<![A-Za-z])[A-Z]{2}(?=[A-Z][a-z])"
)

_RANKED = re.compile(r"\b(?:level|tier|stage|phase|grade|step) $")
"""Numbers behind these tell kinds apart, not parts: processing levels, tiers of a study."""


@dataclass(frozen=True, slots=True)
class Told:
    """What tells a part from others in the parts of a name, joined by blanks, and where it stands.

    The month of a quarter or half of a year is its first, of a week its number; of what is not told
    there is 0, or nothing. `part` is that of a year: `q3`, `h1`, `w7`.
    """

    start: int
    end: int
    text: str
    year: str = ""
    month: int = 0
    day: int = 0
    part: str = ""
    region: str = ""
    number: str = ""

    def words(self) -> Iterator[str]:
        """Yield what a question may say of it, besides its own words."""
        if self.year:
            yield self.year
        if self.part:
            yield self.part
        elif self.year and self.month:
            yield f"{self.year}{self.month:02}{f'{self.day:02}' if self.day else ''}"
        if self.month and not self.part:
            yield _MONTHS[self.month - 1]
        names = _NAMED.get(self.region, [self.region] if " " in self.region else [])
        yield from map(singular, names)


def _told(text: str) -> list[Told]:
    told: list[Told] = []
    for one in map(_read, _TOLD_BY.finditer(text)):
        last = told[-1] if told else None
        following = str(int(last.year) + 1) if last and last.text == last.year else ""
        if last and following and one.text in {following, following[2:]}:  # 2019_20, a season
            told[-1] = replace(last, end=one.end, text=text[last.start : one.end])
        else:
            told.append(one)
    return told


def _read(found: re.Match[str]) -> Told:
    text, (start, end) = found[0], found.span()
    year, short = found["year"] or found["of"] or "", found["short"] or found["of_quarter"]
    month, day, part = int(found["month"] or 0), int(found["day"] or 0), ""
    if short:
        year = f"{'19' if short >= '70' else '20'}{short}"
    if found["of"]:
        day, month = int(found["first"]), int(found["second"])
        day, month = (month, day) if month > _LAST_MONTH else (day, month)
    elif found["named"]:
        month = _number_of(text)
    elif of_year := found["quarter"] or found["half"] or found["week"]:
        number = int("".join(filter(str.isdigit, of_year)))
        kind = next(sign for sign in "qhw" if sign in of_year)
        month, part = 1 + (number - 1) * _MONTHS_OF[kind], f"{kind}{number}"
    region, number_told = found["region"] or "", found["number"] or ""
    return Told(start, end, text, year, month, day, part, region, number_told)


def told_in(name: str) -> list[Told]:
    """Return what tells a name's part apart, found in its parts, joined by blanks.

    A code stands by itself, or in capitals between other words: `no2` is no table of Norway.
    """
    whole = {one.casefold() for one in (*_WORD.findall(name), *_CAMEL_CODE.findall(name))}
    text = " ".join(name_parts(name))
    found = [one for one in _told(text) if len(one.region) != _CODE or one.region in whole]
    return [one for one in found if not one.number or not _RANKED.search(text, 0, one.start)]


def is_told(place: str) -> bool:
    """Tell whether a folder is called by what tells parts apart alone: 2019, 01, texas, q3."""
    told = told_in(place)
    left = len("".join(name_parts(place))) - sum(len(one.text.replace(" ", "")) for one in told)
    return bool(told) and not left


@lru_cache(maxsize=65_536)
def order_of(table_id: str) -> tuple[object, ...]:
    """Return what orders members of a family, the oldest first: date, then number, then id.

    Beside tables of numbers alone a year is a number, too.
    """
    told = told_in(table_id)
    years = [int(one.year) for one in told if one.year]
    numbers = [int(one.number) for one in told if one.number]
    months = [one.month for one in told if one.month]
    return years or numbers, months, [one.day for one in told if one.day], numbers, table_id


def _number_of(month: str) -> int:
    return 1 + next(at for at, name in enumerate(_MONTHS) if name.startswith(month))


def meant(question: str, table_ids: Sequence[str]) -> list[str]:
    """Return those of some parts that a question names best, in order; all, where it names none.

    `2018 and 2020` names two of them.
    """
    said = told_apart(question, table_ids)
    most = max(map(len, said), default=0)
    return [one for one, words in zip(table_ids, said, strict=True) if len(words) == most]


def told_apart(question: str, table_ids: Sequence[str]) -> list[frozenset[str]]:
    """Return of each table the words of its name that the question says and not all of them have.

    Words that mostly say something else (`us`, `it`) and numbers that are no years count only
    behind a word that all have (`plan a`, `products 2`), or in capitals (`in the US`); those that
    link words (`orders in Ohio`) in capitals alone.
    """
    common, places = _by_word(tuple(table_ids))
    said: dict[int, set[str]] = defaultdict(set)
    words = frozenset(_said(question[:MOST_CHARACTERS], common)) - common
    if _FIRST_NUMBERS.isdisjoint(places):  # they count no parts, and so are years
        words |= {one[2:] for one in words if _YEARS.fullmatch(one) and one not in places}
    for word in words - common:
        for place in places.get(word, ()):
            said[place].add(word)
    return [frozenset(said.get(place, ())) for place in range(len(table_ids))]


def absent_years(question: str, table_ids: Sequence[str]) -> tuple[str, ...]:
    """Return the years that a question says and none of some parts is of, each of which has one.

    A part of two years (`2015_2020`) may be of those between, too, and `2019_20` is of 2020.
    """
    _, places = _by_word(tuple(table_ids))
    dated = [place for word, some in places.items() if _IS_YEAR.fullmatch(word) for place in some]
    if not len(table_ids) == len(dated) == len(set(dated)):
        return ()
    said = {one.year for one in told_in(question) if one.year}
    return tuple(sorted(one for one in said if places.keys().isdisjoint({one, one[2:]})))


@lru_cache(maxsize=64)
def _by_word(table_ids: tuple[str, ...]) -> tuple[frozenset[str], Mapping[str, Sequence[int]]]:
    """Return the words that all of these tables have, and which of them have each word."""
    places: dict[str, list[int]] = defaultdict(list)
    for place, table_id in enumerate(table_ids):
        for word in words_of_name(table_id):
            places[word].append(place)
    return frozenset(w for w, some in places.items() if len(some) == len(table_ids)), places


@lru_cache(maxsize=65_536)
def words_of_name(table_id: str) -> frozenset[str]:
    """Return the words of a table's id, its folders among them, without signs of a plural.

    Dates are said as a year, a month and a day, too, and states by their names.
    """
    text = " ".join(name_parts(table_id))
    told = (word for one in _told(text) for word in one.words())
    return frozenset([*map(singular, _OF_WORDS.sub(" ", text).split()), *told])


_YEARS = re.compile("1[0-9]{3}|20[0-9]{2}|2100")
_IS_YEAR = re.compile(_YEAR)
_FIRST_NUMBERS = frozenset(["0", "00", "1", "01"])


def _said(question: str, common: frozenset[str]) -> Iterator[str]:
    before = ""
    for place, piece in enumerate(_WORD.findall(_OF_WORDS.sub(" ", question))):
        code = place > 0 and piece.isupper() and not question.isupper()
        for part in name_parts(piece):
            doubtful = part in LITTLE or (part.isdigit() and not _YEARS.fullmatch(part))
            beside = before in common and (len(part) == 1 or part not in ENGLISH_STOP_WORDS)
            if not doubtful or code or beside:
                yield singular(part)
            before = singular(part)
    text = " ".join(name_parts(question))
    for one in _told(text):
        if one.year or one.month or " " in one.region:
            yield from one.words()
    for first, month, second, year in _SPELLED.findall(text):
        yield f"{year}{_number_of(month):02}{(second or first):>02}"
