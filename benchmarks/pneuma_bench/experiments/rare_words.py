"""Asks for words that one table alone holds: how often it is first, and in the first ten.

    python -m pneuma_bench.experiments.rare_words FOLDER [--keep KEPT] [--words 100]

Words are drawn from the sets' own tables, by rules that know nothing of the search: one table of
the set alone has the word, in its name or its columns', in its rows or in what people wrote about
it, and no list of 82,765 English words has it, or one of its parts (one-way). So are names of two
words that follow each other in a cell, of which one table has both and several have each. Each is
asked for alone, in a short phrase, and at the end of a question about another table.
"""

import random
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from pathlib import Path

import regex

from pneuma_assets.core.evaluation.evaluate import Question, ask_all
from pneuma_assets.core.evaluation.metrics import first_place
from pneuma_assets.core.terms.split_names import is_word
from pneuma_bench.experiments.support.sets import arguments, means, sets_of
from pneuma_bench.lab import Lab
from pneuma_bench.sets import RetrievalSet

_WORD = regex.compile(r"[^\W_](?:[\w\p{M}'-]*[[^\W_]\p{M}])?", regex.V1)
_PARTS = re.compile(r"[_'-]")
_SHORTEST, _LONGEST = 3, 40
_PHRASES = "tables about {}", "data on {} by year", "which rows mention {}?", "{} figures"
MOST, NOWHERE = 10, 1_000
Words = dict[str, set[str]]
"""Tables by what they hold."""
Drawn = tuple[str, str]
"""A word or name, and the one table that holds it."""


def words_of(texts: Iterable[str | None]) -> Iterator[list[str]]:
    """Yield the words of each text, spelled as they are."""
    yield from (_WORD.findall(text) for text in texts if text)


def texts_of(dataset: RetrievalSet) -> Iterator[tuple[str, str, list[str | None]]]:
    """Yield the texts of each table by where they stand: names, rows, documents."""
    for table, rows in dataset.tables:
        names = dataset.names.get(table.table_id, ())
        yield table.table_id, "names", [*names, *(column.name for column in table.columns)]
        yield table.table_id, "rows", [*chain.from_iterable(rows)]
        yield table.table_id, "documents", [*dataset.contexts.get(table.table_id, ())]


def drawn(dataset: RetrievalSet, most: int) -> dict[str, list[Drawn]]:
    """Return up to so many words of each place, and names, drawn by table first."""
    owners: Words = defaultdict(set)
    said: Mapping[str, Words] = defaultdict(lambda: defaultdict(set))
    spelled: dict[str, str] = {}
    for table_id, place, texts in texts_of(dataset):
        for words in words_of(texts):
            for word in words:
                for part in {word, *_PARTS.split(word)}:
                    owners[part.casefold()].add(table_id)
                said[table_id][place].add(word.casefold())
                spelled[word.casefold()] = word
            if place == "rows":
                for first, second in pairwise(words):
                    said[table_id]["names of two words"].add(f"{first} {second}")
    return {place: [*_drawn(said, owners, spelled, place, most)] for place in PLACES}


PLACES = "names", "rows", "documents", "names of two words"


def _drawn(
    said: Mapping[str, Words], owners: Words, spelled: Mapping[str, str], place: str, most: int
) -> Iterator[Drawn]:
    chance, left = random.Random(place), most
    tables = sorted(said)
    chance.shuffle(tables)
    for table_id in [*tables] * 3:
        found = sorted(one for one in said[table_id][place] if _is_rare(one, owners))
        if found and left:
            left -= 1
            word = chance.choice(found)
            yield spelled.get(word, word), table_id


def _is_rare(text: str, owners: Words) -> bool:
    words = text.split()
    if len(words) == 2:
        both = [owners[word.casefold()] for word in words]
        names = all(word[0].isupper() and len(word) > 1 and word.isalpha() for word in words)
        return names and min(map(len, both)) > 1 and len(set.intersection(*both)) == 1
    has_letter = any(map(str.isalpha, text)) and _SHORTEST <= len(text) <= _LONGEST
    is_known = "_" not in text and all(map(is_word, _PARTS.split(text)))
    return has_letter and len(owners[text]) == 1 and not is_known


def asked(dataset: RetrievalSet, words: Iterable[Drawn]) -> Iterator[tuple[str, Question]]:
    """Yield the questions about each word by their form; a long one is about another table, too."""
    chance = random.Random(0)
    others = [*zip(dataset.questions, dataset.relevant, strict=True)]
    for word, table_id in words:
        wanted = frozenset([table_id])
        yield "alone", Question(word, wanted)
        yield "in a phrase", Question(chance.choice(_PHRASES).format(word), wanted)
        text, _ = chance.choice([one for one in others if table_id not in one[1]])
        yield "in a long question", Question(f"{text.rstrip('?. ')} for {word}?", wanted)


def measured(dataset: RetrievalSet, keep: Path | None, most: int) -> dict[str, list[int]]:
    """Ask for the words of one set; return by place and form where the table stands."""
    hits: dict[str, list[int]] = defaultdict(list)
    with Lab(dataset, keep) as lab:
        for place, words in drawn(dataset, most).items():
            forms = [*asked(dataset, words)]
            answers = ask_all(lab.engine(), [question for _, question in forms], {})
            for (form, _), one in zip(forms, answers, strict=True):
                hits[f"{place}, {form}"].append(first_place(one.ranked, one.relevant) or NOWHERE)
    return hits


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--words", type=int, default=100, help="of each place in each set")
    given = parser.parse_args()
    overall: dict[str, list[int]] = defaultdict(list)
    for set_name, dataset in sets_of(given.folder).items():
        print(set_name)
        for name, ranks in measured(dataset, given.keep, given.words).items():
            print(shown(name, ranks), flush=True)
            overall[name] += ranks
            overall["all"] += ranks
    for name, ranks in overall.items():
        print(shown(name, ranks))


def shown(name: str, ranks: Sequence[int]) -> str:
    """Return how often the table was first, and in the first ten."""
    figures = {"first": [one == 1 for one in ranks], "in ten": [one <= MOST for one in ranks]}
    return f"  {name:38} {len(ranks):4}, {means(figures)}"


if __name__ == "__main__":
    main()
