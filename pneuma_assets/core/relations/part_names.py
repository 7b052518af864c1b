"""What tells parts of one thing apart by their names, and which of them a question means.

That are years, months, days, regions and numbers: a question that says 2019, August 2017 or Texas
means those parts.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from pneuma_assets.core.terms.fields import name_parts
from pneuma_assets.core.terms.split_names import singular
from pneuma_assets.core.text.analysis import ENGLISH_STOP_WORDS
from pneuma_assets.core.text.little_words import LITTLE, MOST_CHARACTERS

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
_COUNTRIES = """
ad ae af ag al am ao ar at au az ba bb bd be bf bg bh bi bj bn bo br bs bt bw by bz ca cd cf cg ch
ci cl cm cn co cr cu cv cy cz de dj dk dm do dz ec ee eg er es et fi fj fr ga gb ge gh gm gn gq gr
gt gw gy hk hn hr ht hu id ie il in iq ir is it jm jo jp ke kg kh km kp kr kw kz la lb lk lr ls lt
lu lv ly ma md me mg mk ml mm mn mr mt mu mv mw mx my mz na ne ng ni nl no np nz om pa pe pg ph pk
pl pr pt py qa ro rs ru rw sa sb sc sd se sg si sk sl sn so sr ss sv sy sz td tg th tj tl tm tn to
tr tt tw tz ua ug uk us uy uz ve vn ye za zm zw eu
"""
_PAIRS = _STATES.split()
_STATE_OF = dict(zip(_PAIRS[::2], (one.replace("_", " ") for one in _PAIRS[1::2]), strict=True))
_CODE = 2
"""Letters of a code of a state or a country."""

_REGIONS = "|".join([*_STATE_OF.values(), *{*_STATE_OF, *_COUNTRIES.split()}])

_MONTH = "|".join(f"{month[:3]}(?:{month[3:]})?" for month in _MONTHS)
_YEAR = r"(?:1[89]\d\d|20\d\d|2100)"
TOLD_BY = re.compile(
    rf"\b(?:(?P<year>{_YEAR})(?: ?(?P<month>0[1-9]|1[0-2])(?: ?(?P<day>[0-2][1-9]|[123]0|31))?)?"
    rf"|(?P<named>{_MONTH})|(?P<region>{_REGIONS})|(?P<number>\d{{1,9}}))\b"
)
"""What tells members apart, in the parts of a name, joined by blanks."""

_WORD = re.compile(r"[^\W_]+")
_DAY = r"(\d\d?)(?: ?(?:st|nd|rd|th))?"
_SPELLED = re.compile(rf"\b(?:{_DAY}(?: of)? )?({_MONTH})(?: {_DAY})? ({_YEAR})\b")
"""A day, or a month, as a question says it: 1 August 2017, Aug 1, 2017, the 1st of August 2017."""

_OF_WORDS = re.compile(
    rf"\b(?:{'|'.join(one.replace('_', '[ _-]+') for one in _PAIRS[1::2] if '_' in one)})\b", re.I
)
"""States of several words: none of them is one by itself, and West Virginia is not Virginia."""


def told_in(name: str) -> list[re.Match[str]]:
    """Return what tells a name's part apart, found in its parts, joined by blanks.

    A code stands by itself: `no2` is no table of Norway.
    """
    whole = frozenset(_WORD.findall(name.casefold()))
    found = TOLD_BY.finditer(" ".join(name_parts(name)))
    return [one for one in found if len(one["region"] or "") != _CODE or one[0] in whole]


def is_period(place: str) -> bool:
    """Tell whether a folder is called by a year, a month or a day alone."""
    told = told_in(place)
    dated = len(told) == 1 and bool(told[0]["year"] or told[0]["named"])
    return dated and told[0][0] == " ".join(name_parts(place))


@lru_cache(maxsize=65_536)
def order_of(table_id: str) -> tuple[object, ...]:
    """Return what orders members of a family, the oldest first: date, then number, then id.

    Beside tables of numbers alone a year is a number, too.
    """
    told = told_in(table_id)
    years = [int(one["year"]) for one in told if one["year"]]
    numbers = [int(one["number"]) for one in told if one["number"]]
    months = [_month_of(one) for one in told if one["month"] or one["named"]]
    days = [one["day"] for one in told if one["day"]]
    return years or numbers, months, days, numbers, table_id


def _month_of(told: re.Match[str]) -> int:
    return int(told["month"]) if told["month"] else _number_of(told["named"])


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
    for word in frozenset(_said(question[:MOST_CHARACTERS], common)) - common:
        for place in places.get(word, ()):
            said[place].add(word)
    return [frozenset(said.get(place, ())) for place in range(len(table_ids))]


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
    return frozenset([*map(singular, _OF_WORDS.sub(" ", text).split()), *_words_told(text)])


def _words_told(text: str) -> Iterator[str]:
    for one in TOLD_BY.finditer(text):
        if one["year"]:
            yield from (one["year"], "".join(filter(None, (one["year"], one["month"], one["day"]))))
        if one["month"] or one["named"]:
            yield _MONTHS[_month_of(one) - 1]
        region = one["region"] or ""
        if region in _STATE_OF or _OF_WORDS.fullmatch(region):
            yield singular(_STATE_OF.get(region, region))


_YEARS = re.compile("1[0-9]{3}|20[0-9]{2}|2100")


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
    for one in TOLD_BY.finditer(text):
        if one["year"] or one["named"] or _OF_WORDS.fullmatch(one[0]):
            yield from _words_told(one[0])
    for first, month, second, year in _SPELLED.findall(text):
        yield f"{year}{_number_of(month):02}{(second or first):>02}"
