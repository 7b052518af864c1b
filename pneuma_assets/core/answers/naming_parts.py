"""Tables that are parts of one, by their names, and which of them a question names."""

import re
from collections.abc import Iterator, Sequence

from pneuma_assets.core.answers.little_words import LITTLE
from pneuma_assets.core.answers.tables import AnswerTable
from pneuma_assets.core.answers.words import MOST_CHARACTERS
from pneuma_assets.core.relations.join_columns import singular
from pneuma_assets.core.terms.fields import name_parts

_WORD = re.compile(r"[^\W_]+")
_YEAR = re.compile("1[0-9]{3}|20[0-9]{2}|2100")


def words_of_name(table_id: str) -> frozenset[str]:
    """Return the words of a table's id, its folders among them, without signs of a plural."""
    return frozenset(map(singular, name_parts(table_id)))


def are_parts(one: str, other: str) -> bool:
    """Tell whether two tables, by their ids, are called the same but for what tells parts apart.

    `sales_2019` and `sales_2020`, `people` of two folders, `sales/2019` and `sales/2020`; not
    `phases` and `cities`, whatever their columns are.
    """
    return not _own(one).isdisjoint(_own(other))


def chosen(question: str, tables: Sequence[AnswerTable]) -> list[AnswerTable]:
    """Return those of some parts that a question names best; all, where it names none.

    `2018 and 2020` names two of them.
    """
    said = told_apart(question, [one.table_id for one in tables])
    most = max(map(len, said), default=0)
    return [one for one, words in zip(tables, said, strict=True) if len(words) == most]


def told_apart(question: str, table_ids: Sequence[str]) -> list[frozenset[str]]:
    """Return of each table the words of its name that the question says and not all of them have.

    Words that mostly say something else (`us`, `it`) and numbers that are no years count only
    behind a word that all have (`plan a`, `products 2`), or in capitals (`in the US`).
    """
    words = [words_of_name(table_id) for table_id in table_ids]
    common = frozenset.intersection(*words) if words else frozenset()
    said = frozenset(_said(question[:MOST_CHARACTERS], common))
    return [(some - common) & said for some in words]


def _said(question: str, common: frozenset[str]) -> Iterator[str]:
    before = ""
    for place, piece in enumerate(_WORD.findall(question)):
        code = place > 0 and piece.isupper() and not question.isupper()
        for part in name_parts(piece):
            doubtful = part in LITTLE or (part.isdigit() and not _YEAR.fullmatch(part))
            if not doubtful or code or before in common:
                yield singular(part)
            before = singular(part)


def _own(table_id: str) -> frozenset[str]:
    """Return the words of a table's own name, or of its folder where that is only a number."""
    found: set[str] = set()
    for segment in reversed(table_id.split("/")[1:]):
        found = {singular(part) for part in name_parts(segment) if not part.isdigit()}
        if found:
            break
    return frozenset(found)
