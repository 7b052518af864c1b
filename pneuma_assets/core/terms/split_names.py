"""The words that names stand for: `sbcustjoindate` says customer, join and date.

Names are glued and cut short by people who knew what they meant. What is glued is parted by word
frequencies (Norvig, "Natural language corpus data", in Beautiful Data, 2009), those of English and
those of the names beside it; what is cut short is spelt out by a list of abbreviations, or looked
for among the words that people wrote about the table itself.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from heapq import nsmallest
from itertools import takewhile

from pneuma_assets.core.tables import TableTerms, content_hash
from pneuma_assets.core.terms.fields import name_parts, plain_words
from pneuma_assets.core.text.abbreviations import ABBREVIATIONS
from pneuma_assets.core.text.word_frequencies import word_frequencies

_SHORTEST_GLUED = 4
_LONGEST_GLUED = 40
_SHORTEST_CUT, _LONGEST_CUT = 3, 6
_CUT_SHARE = 4
"""A word is at most so many times as long as what it is cut to."""
_COMMON = 30_000_000
"""Of a trillion words; one met more often is a word (age, car), not a short form (qty)."""
_COMMON_LONG, _COMMON_SHORT = 8_000_000, 150_000_000
_LONGEST_LEFT = 4
_LEFT_SHORT = frozenset({"cd", "no", "prod"})
"""Words that stand in names for a code, a number and a product."""
_MOST_LOOKED_FOR = 1_000
"""Different short parts of one table's names that are looked for among what people wrote."""
_MOST_CHARACTERS = 50_000
"""Of what people wrote about one table."""
_LEAST_PREFIXED, _MOST_PREFIXED, _LONGEST_PREFIX = 3, 200, 12
"""Names of which it is told what is put before all of them, and its letters at most."""
_PREFIXED_SHARE, _KNOWN_SHARE = 0.7, 0.35
"""Of a schema's tables, those that begin with its prefix; of these, those that go on with words."""

Parts = Sequence[str]
"""A name's parts in lower case, as `fields.name_parts` has them."""
Words = tuple[str, ...]
NO_WORDS: Collection[str] = frozenset()


def spell_out(evidence: TableTerms, texts: Iterable[str], prefix: str = "") -> TableTerms:
    """Return a table's evidence, names spelt out by dictionaries and what people wrote of it.

    `prefix` is what the table's own name is glued to (`name_prefixes`).
    """
    said = _Said(texts)
    names, columns = (list(map(name_parts, some)) for some in (evidence.names, evidence.columns))
    own = [part_off(name, prefix) for name in names[-1:]]
    off = [part for name in own for part in name if part not in names[-1]]
    known = known_words([*columns, *own])
    return replace(
        evidence,
        spelled_names=" ".join([*off, _spelled([*names[:-1], *own], said, known)]).strip(),
        spelled_columns=_spelled(columns, said, known),
    )


class _Said:
    """The words that people wrote about one table, and what may be cut short of them."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._counts = _words_of(texts)
        self._by_letter: dict[str, list[str]] = {}
        for word in sorted(self._counts, key=lambda word: (self._counts[word], word), reverse=True):
            self._by_letter.setdefault(word[0], []).append(word)
        self._found: dict[str, str | None] = {}

    def whole(self, cut: str) -> str | None:
        """Return the word said most that may have been cut to this; None if none may."""
        if not _SHORTEST_CUT <= len(cut) <= _LONGEST_CUT or not may_be_short(cut):
            return None
        if cut not in self._found and len(self._found) < _MOST_LOOKED_FOR:
            self._found[cut] = self._looked_for(cut)
        return self._found.get(cut)

    def _looked_for(self, cut: str) -> str | None:
        """Return the first that fits of the words said most; those that begin so come first."""
        most = _CUT_SHARE * len(cut)
        words = self._by_letter.get(cut[0], ())
        fitting = [word for word in words if len(cut) + 1 < len(word) <= most]
        beginning = (word for word in fitting if word.startswith(cut))
        return next(beginning, None) or next(
            (word for word in fitting if has_letters(word, cut)), None
        )


def _spelled(names: Iterable[Parts], said: _Said, known: Collection[str]) -> str:
    """Return what is to be said of names beyond their own parts, each word once."""
    parts = dict.fromkeys(part for name in names for part in name)
    return " ".join(dict.fromkeys(word for part in parts for word in _beyond(part, said, known)))


def _beyond(part: str, said: _Said, known: Collection[str]) -> Iterator[str]:
    words = parted(part, known)
    if len(words) > 1:
        yield from words
    for word in words:
        yield from (said.whole(word) or ABBREVIATIONS.get(word, "")).split()


def in_words(names: Iterable[str]) -> str:
    """Return names as words of a text, as a person would: `youngkidsCost` is `young kids cost`."""
    parts = (part for name in names for part in name_parts(name))
    return " ".join(word for part in parts for word in surely_parted(part))


def in_full(words: Iterable[str]) -> list[str]:
    """Return words with abbreviations spelt out; what stands beside one already is said once.

    So `zip_code` is the postal code, and no postal code code.
    """
    full: list[str] = []
    after_short = False
    for word in words:
        is_short = word in ABBREVIATIONS
        said = ABBREVIATIONS.get(word, word).split()
        repeats = (is_short or after_short) and full[-1:] == said[:1]
        full += said[1:] if repeats else said
        after_short = is_short
    return full


def surely_parted(part: str) -> Sequence[str]:
    """Return the words that a part is glued of, else the part alone.

    All are common words, or abbreviations that nearly always mean the same: `paperid` is paper id.
    People are shown these: `neighborhood`, which the dictionary lacks, is not neigh, bor and hood.
    """
    words = parted(part)
    if len(words) == 1:
        return words
    short = sum(len(word) <= _SHORTEST_CUT and word not in ABBREVIATIONS for word in words)
    return words if short <= 1 and all(map(_is_common, words)) else (part,)


def _is_common(word: str) -> bool:
    """Tell whether a word is common enough: short ones stand in many others by chance."""
    least = _COMMON_LONG if len(word) > _SHORTEST_CUT else _COMMON_SHORT
    return word in ABBREVIATIONS or (len(word) > 1 and _frequencies().get(word, 0) >= least)


def _is_sure(word: str) -> bool:
    """Tell what no part of a longer word is; a long word that nobody knows is one of its own."""
    seldom = len(word) < _SHORTEST_CUT or _frequencies().get(word, 0) < _COMMON_LONG
    return len(word) > _SHORTEST_CUT or not seldom or _is_common(word)


def is_word(text: str) -> bool:
    """Tell whether a text is an English word, as a dictionary has them."""
    return text.casefold() in _frequencies()


def parted(part: str, known: Collection[str] = NO_WORDS) -> Words:
    """Return the words that a part of a name may be glued of; the part alone if it is a word.

    Good enough to be searched: where it parts wrongly, the part itself is found all the same.
    `known` are words and prefixes of the names beside it, so that `sbcust` is sb and cust.
    """
    if not part.isalpha() or not _SHORTEST_GLUED <= len(part) <= _LONGEST_GLUED:
        return (part,)
    words = _parted(part)
    if all(word in _costs() for word in words):
        return words
    if any(part[:at] in known or part[at:] in known for at in range(1, len(part))):
        others = _cheapest(part, known)
        return others if all(one in known or _is_sure(one) for one in others) else words
    return words


def known_words(names: Sequence[Parts]) -> Collection[str]:
    """Return what stands alone in some names and may be glued in others, and what is before all."""
    parts = {part for name in names for part in name if len(part) >= _SHORTEST_CUT}
    return parts | {shared_prefix(names)}


def shared_prefix(names: Sequence[Parts]) -> str:
    """Return what is put before all of three names or more, such as `sb`; empty if nothing is.

    The rest of each begins a part, `sbCustId`, or is glued of known words, `sbcustid`.
    """
    if len(names) < _LEAST_PREFIXED:
        return ""
    some = names[:_MOST_PREFIXED]
    glued = ["".join(parts)[:_LONGEST_PREFIX] for parts in some]
    both = zip(min(glued), max(glued), strict=False)
    shared = "".join(one for one, _ in takewhile(lambda pair: pair[0] == pair[1], both))
    lengths = range(1, len(shared) + 1)
    return next((shared[:one] for one in lengths if all(_rest(p, one) for p in some)), "")


def name_prefixes(
    names: Mapping[str, Sequence[str]], readers: Mapping[str, Hashable] | None = None
) -> dict[str, str]:
    """Return the prefix that a table's name is glued to, of each table where it is.

    The tables of a schema vote, so beside `xxcustomer` and others `xxfclt` is parted, too; of those
    that not everybody may see, only the ones with the same readers, or it would tell of the others.

    Args:
        names: Of what a table lies in, and its own.
        readers: Who may see a table; None, or absent: everybody.
    """
    seen_by = readers or {}
    places: dict[tuple[str, ...], dict[str, Parts]] = defaultdict(dict)
    for table_id, (*place, own) in names.items():
        places[tuple(place)][table_id] = name_parts(own)
    found: dict[str, str] = {}
    for parts in places.values():
        for group in {seen_by.get(i) for i in parts}:
            voters = [i for i in parts if seen_by.get(i) in {None, group}]
            few = nsmallest(_MOST_PREFIXED, voters, content_hash)
            prefix = _voted_prefix([parts[i] for i in few])
            mine = (i for i in voters if seen_by.get(i) == group)
            found |= {i: prefix for i in mine if part_off(parts[i], prefix) != parts[i]}
    return found


def _voted_prefix(names: Sequence[Parts]) -> str:
    """Return what most names begin with and go on from, at a part or with words; else nothing.

    Where a part begins counts twice: `olist_items` is no `o` before a list.
    """
    best = 0, 0, ""
    for length in range(1, _LONGEST_PREFIX + 1):
        [(start, count)] = Counter("".join(parts)[:length] for parts in names).most_common(1)
        if count < max(_LEAST_PREFIXED, _PREFIXED_SHARE * len(names)):
            break
        ways = [_goes_on(parts, length) for parts in names if "".join(parts).startswith(start)]
        if sum(map(bool, ways)) >= _KNOWN_SHARE * count:
            best = max(best, (sum(ways), length, start))
    return best[-1]


def _goes_on(parts: Parts, after: int) -> int:
    """Return 2 if a part begins behind so many letters, 1 if known words do, in no word; else 0."""
    rest = _rest(parts, after)
    whole = parts[-len(rest)] if rest else ""
    return 2 if rest and rest[0] == whole else int(bool(rest) and not is_word(whole))


def part_off(parts: Parts, prefix: str) -> Parts:
    """Return a name's parts, the prefix as one of them; no word is cut in two."""
    after = len(prefix) if "".join(parts).startswith(prefix) else 0
    for at, part in enumerate(parts):
        if 0 < after < len(part) and not is_word(part):
            return *parts[:at], part[:after], part[after:], *parts[at + 1 :]
        after -= len(part)
    return parts


def without_prefix(parts: Parts, prefix: str) -> Parts:
    """Return a name's parts without a prefix that says nothing: no word, nor short for one."""
    says = prefix in _costs() and (len(prefix) > 2 or prefix in ABBREVIATIONS)
    if not prefix or says or not "".join(parts).startswith(prefix):
        return parts
    return _rest(parts, len(prefix)) or parts


def _rest(parts: Parts, after: int) -> Parts:
    """Return the parts behind so many letters, where a part or a known word begins; else none."""
    for place, part in enumerate(parts):
        if not after:
            return parts[place:]
        if after < len(part):
            rest = part[after:]
            return (rest, *parts[place + 1 :]) if all(map(_is_common, parted(rest))) else ()
        after -= len(part)
    return ()


def singular(word: str) -> str:
    """Return an English noun without the sign of its plural; another word as it is.

    By its ending alone, and where that does not tell (boxes of a box, axes of an axe), both sides
    of a comparison are cut to what they share: categories -> category, statuses -> status,
    addresses -> address, but movies and movie -> movy, houses and house -> hous.
    """
    if len(word) > 4 and word.endswith("ie"):
        return word[:-2] + "y"
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("sses", "uses", "xes", "ches", "shes")):
        return word[:-2]
    if len(word) > 3 and word.endswith(("sse", "use", "xe", "che", "she")):
        return word[:-1]
    if len(word) > 2 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def may_be_short(word: str) -> bool:
    """Tell whether a word may be cut short of another one: it is none that is met often."""
    most = _COMMON if len(word) <= _LONGEST_CUT else 0
    return word.isalpha() and _frequencies().get(word, 0) <= most


def is_left_short(word: str) -> bool:
    """Tell whether a part of a name is likely a word cut short that no list spells out."""
    if not 1 < len(word) <= _LONGEST_LEFT or not word.isalpha() or word in ABBREVIATIONS:
        return False
    seldom = len(word) <= _SHORTEST_CUT and _frequencies().get(word, 0) < _COMMON_LONG
    return seldom or word in _LEFT_SHORT or not is_word(word)


def has_letters(word: str, letters: str) -> bool:
    """Tell whether these letters stand in the word in this order."""
    at = 0
    for letter in letters:
        at = word.find(letter, at) + 1
        if not at:
            return False
    return True


def _words_of(texts: Iterable[str]) -> Counter[str]:
    """Return how often each word is said, in the first characters of the texts."""
    said: Counter[str] = Counter()
    room = _MOST_CHARACTERS
    for text in texts:
        if room <= 0:
            break
        said.update(word for word in plain_words(text[:room]) if word.isalpha())
        room -= len(text)
    return said


_COST_ABBREVIATION, _COST_KNOWN = 5.5, 4.5
_COST_LETTER, _COST_SHORT = 9.0, 1.0
_COST_UNKNOWN = 11
_LONGEST_WORD = 20
_HEADS = (
    "id", "nr", "nummer", "datum", "betrag", "menge", "preis", "bezeichnung", "ort"
)  # fmt: skip
"""What names end with that are glued of no English words: `kundennummer` is kunden and nummer."""


@lru_cache(maxsize=65_536)
def _parted(part: str) -> Words:
    if part in _frequencies():
        return (part,)
    words = _cheapest(part, NO_WORDS)
    if len(words) > 1 and all(map(_is_sure, words)):
        return words
    heads = (one for one in _HEADS if part.endswith(one) and len(part) - len(one) > _SHORTEST_CUT)
    return next(((part.removesuffix(one), one) for one in heads), (part,))


def _cheapest(part: str, known: Collection[str]) -> Words:
    """Return the words of the lowest sum of costs, minus the logarithm of their frequencies."""
    costs = _costs()
    best: list[tuple[float, Words]] = [(0.0, ())]
    for end in range(1, len(part) + 1):
        ways = []
        for start in range(max(0, end - _LONGEST_WORD), end):
            word = part[start:end]
            cost = costs.get(word) or _COST_UNKNOWN + len(word)
            if word in known and word != part:
                cost = min(cost, _COST_KNOWN)
            ways.append((best[start][0] + cost, (*best[start][1], word)))
        best.append(min(ways))
    return best[-1][1]


@cache
def _costs() -> Mapping[str, float]:
    """Return what each word costs; a letter is hardly one, and of two or three letters few are."""
    frequencies = _frequencies()
    total = math.log10(sum(frequencies.values()))
    costs = {word: total - math.log10(count) for word, count in frequencies.items()}
    costs = {
        word: _COST_LETTER if len(word) == 1 else cost + _COST_SHORT * max(0, 4 - len(word))
        for word, cost in costs.items()
    }
    return costs | {
        word: min(_COST_ABBREVIATION, costs.get(word, _COST_ABBREVIATION))
        for word in (*ABBREVIATIONS, *_HEADS)
    }


@cache
def _frequencies() -> Mapping[str, int]:
    """Return how often each of 82,765 English words is met in a trillion."""
    return dict(word_frequencies())
