"""What the words of a need ask for: which columns, which aggregates of them, and by which groups.

Words are those of English; of a need in another language only names of columns are understood.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from pneuma_assets.core.answers.results import AnswerColumn
from pneuma_assets.core.tables import TableTerms
from pneuma_assets.core.terms.fields import name_parts
from pneuma_assets.core.terms.split_names import singular, spell_out
from pneuma_assets.core.text.analysis import QUESTION_STOP_WORDS

AGGREGATES: Mapping[str, str] = {
    **dict.fromkeys(("average", "avg", "mean"), "avg"),
    **dict.fromkeys(("median",), "median"),
    **dict.fromkeys(("sum", "total"), "sum"),
    **dict.fromkeys(("count of", "how many", "number of"), "count"),
    **dict.fromkeys(("highest", "largest", "maximum", "max"), "max"),
    **dict.fromkeys(("lowest", "smallest", "minimum", "min"), "min"),
}
"""The plain names of aggregates, and no words that go with one subject, such as `oldest`."""
_GROUPED = frozenset({"by", "each", "every", "per"})
_LIMITS = frozenset(
    {"after", "before", "between", "during", "from", "in", "since", "until", "where", "with"}
    | {"without"}
)
"""What stands behind these limits the rows, mostly."""
_ASIDE = _LIMITS | {"for", "if", "that", "when", "which", "who", "whose"}
"""What stands behind these is neither aggregated nor grouped by."""
_YEAR = re.compile(r"(1[5-9]|20)\d\d")
_MOST_CHARACTERS, _MOST_AGGREGATES = 1_000, 10
_TOKEN = re.compile(r"(?:count|numbers?) of\b|how many\b|\w+(?:[.']\w+)*|[;.:?!]")


@dataclass(frozen=True, slots=True)
class Need:
    """A need, read word by word; words are singular and in lower case.

    `aggregates` are functions of SQL, each with the words for what it is of, `statistics` the words
    that ask for them, since a column may be called so, too, `aside` what seems to limit the rows.
    """

    text: str
    words: Sequence[str]
    aggregates: Sequence[tuple[str, Sequence[str]]]
    groups: Sequence[str]
    statistics: Sequence[str]
    aside: Sequence[str]


def read_need(text: str) -> Need:
    """Return what a need asks for."""
    words, groups, statistics = list[str](), list[str](), list[str]()
    aside = list[str]()
    aggregates, part, before = list[tuple[str, list[str]]](), list[str](), ""
    text = text.casefold()[:_MOST_CHARACTERS]
    for said in _TOKEN.findall(text):
        known = said.replace("numbers", "number")
        if known in AGGREGATES:
            statistics.append(known)
            if part is not groups:  # `by number of cylinders` counts nothing
                is_open = bool(aggregates) and not aggregates[-1][1]
                part = aggregates[-1][1] if is_open and before == "and" else []
                if is_open and before != "and":  # of the `highest mean` it is the mean
                    aggregates.pop()
                aggregates.append((AGGREGATES[known], part))
        elif said in _GROUPED:
            part = groups
        elif said in ";.:?!" or (said == "of" and part is groups):
            part = []
        elif said in _ASIDE:
            part = aside if said in _LIMITS else []
        else:
            named = [singular(one) for one in name_parts(said) if one not in QUESTION_STOP_WORDS]
            words += ["year"] if _YEAR.fullmatch(said) else named
            part += named if part is not aside else [before, said] if before in _LIMITS else [said]
        before = said
    return Need(
        text, tuple(dict.fromkeys(words)), aggregates[:_MOST_AGGREGATES], groups, statistics, aside
    )


def words_of(text: str) -> frozenset[str]:
    """Return the words of a name or description, singular and in lower case."""
    return frozenset(map(singular, name_parts(text)))


@dataclass(frozen=True, eq=False)
class Cell:
    """A column of a table that was found, and what of a need it says."""

    source: str
    column: AnswerColumn
    need: Need
    is_member: bool = False

    @cached_property
    def named(self) -> frozenset[str]:
        """The words of the need that its name says, spelled out where it is cut short."""
        if self.is_member:  # its name is ours
            return frozenset()
        spelled = spell_out(TableTerms(columns=(self.column.name,)), [self.need.text])
        words = words_of(f"{self.column.name} {spelled.spelled_columns}")
        return words.intersection((*self.need.words, *self.need.statistics))

    @cached_property
    def said(self) -> frozenset[str]:
        """The words of the need that its name or its description says."""
        return self.named | words_of(self.column.said).intersection(self.need.words)

    @cached_property
    def share(self) -> float:
        """How much of its name the need says, from 0 to 1."""
        return min(1.0, len(self.named) / max(1, len(words_of(self.column.name))))


def named_best(words: Iterable[str], cells: Sequence[Cell]) -> list[Cell]:
    """Return of each word the columns that are called so, those alone that say the least besides.

    Of like columns those of tables that are named with them: in `name of the conference`.
    """
    said, chosen = set(words), dict[Cell, None]()
    for word in words:
        found = [(c.share, bool(said & words_of(c.source)), c) for c in cells if word in c.named]
        best = max((one[:2] for one in found), default=None)
        chosen |= dict.fromkeys(cell for *rank, cell in found if tuple(rank) == best)
    return list(chosen)
