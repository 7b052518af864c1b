"""Values that a statement spells otherwise than the column that it compares them with.

A question says "new york" where the cells say "New York", and the statement repeats the question.
What the index keeps of the table says how it is spelled. (Octopus, section 4.2, takes it that
values stand in the question as they do in the table.) Capitals, accents and blanks alone are put
right: another sign or letter may make another value, so what is merely alike is told to whoever
writes the statement anew.
"""

import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import regex
from rapidfuzz import fuzz, process
from sqlglot import exp

from pneuma_assets.core.answers.results import AnswerTable, Correction
from pneuma_assets.core.answers.statements import OF, Checked
from pneuma_assets.core.terms.fields import cell_term

_ALIKE = 60.0
"""The least likeness of values that are named beside one that is not there, of 100."""
_MOST_SHOWN = 5
_MOST_SPELLINGS = 20

_CASES: Mapping[type[exp.Expr], Callable[[str], str]] = {exp.Lower: str.lower, exp.Upper: str.upper}


@dataclass(frozen=True, slots=True)
class _Compared:
    """Texts with which a statement compares a column.

    Attributes:
        node: The comparison.
        literals: The texts.
        side: What is compared with them: the column, or what is done to it.
        table: Whose the column is.
        column: It, as the table has it.
        case: What is done to both before, as by LOWER; None where nothing is.
    """

    node: exp.Expr
    literals: tuple[exp.Literal, ...]
    side: exp.Expr
    table: AnswerTable
    column: str
    case: Callable[[str], str] | None


def corrected(
    checked: Checked, tables: Sequence[AnswerTable], *, proven: bool
) -> tuple[str, tuple[Correction, ...]]:
    """Return a statement with values as they are stored, and what was put otherwise.

    A value that the column has as it is spelled stays; where several spellings are stored, all of
    them are asked for.

    Args:
        checked: A statement that passed the guard; what is returned has to pass it again.
        tables: What it may read.
        proven: Whether only values are looked at of columns of which every cell is known; else,
            where a statement gave nothing, what is kept of other columns tells, too.
    """
    tree = checked.tree.copy()
    found: list[Correction] = []
    for one in list(_compared(tree, tables)):
        spelled = [_spellings(literal.this, one, proven=proven) for literal in one.literals]
        for literal, stored in zip(one.literals, spelled, strict=True):
            found += [
                Correction(one.table.table_id, one.column, literal.this, other) for other in stored
            ]
        _put(one, spelled)
    return (tree.sql(dialect=checked.dialect) if found else checked.sql), tuple(found)


def why_no_row(checked: Checked, tables: Sequence[AnswerTable]) -> str:
    """Return what may keep a statement from giving rows: a value that its column does not have.

    Only columns of which every cell is known can tell.
    """
    told = [
        _told(literal.this, one, tables)
        for one in _compared(checked.tree, tables)
        if one.table.is_whole
        for literal in one.literals
        if literal.this not in _known(one, proven=True)
    ]
    return "; ".join(told[:3])


def _compared(tree: exp.Expr, tables: Sequence[AnswerTable]) -> Iterator[_Compared]:
    """Yield the comparisons of a table's column with texts alone."""
    named = {table.read.name: table for table in tables}
    for node in tree.find_all(exp.EQ, exp.NEQ, exp.In, exp.Like, exp.ILike):
        sides = [node.this, *(node.expressions or [node.expression])]
        literals = tuple(s for s in sides if isinstance(s, exp.Literal) and s.is_string)
        others = [side for side in sides if side not in literals]
        if not literals or len(others) != 1 or (len(sides) > 2 and node.this in literals):
            continue  # of 'a' IN (city, 'b') only one is compared with the column
        case = _CASES.get(type(others[0]))
        column = others[0].this if case else others[0]
        table = named.get(column.meta.get(OF, "")) if isinstance(column, exp.Column) else None
        wild = isinstance(node, exp.Like | exp.ILike) and any(
            sign in literal.this for literal in literals for sign in "%_"
        )
        if table is not None and not wild:
            yield _Compared(node, literals, others[0], table, column.name, case)


def _known(one: _Compared, *, proven: bool) -> frozenset[str]:
    """Return the cells that a column has, or may have, as the comparison sees them."""
    if one.table.is_whole:
        cells = one.table.spellings(one.column)
    elif proven:
        cells = frozenset()
    else:
        cells = one.table.spellings(one.column).union(one.table.evidence.cells)
    return frozenset(map(one.case, cells)) if one.case else cells


def _spellings(value: str, one: _Compared, *, proven: bool) -> list[str]:
    """Return how a column spells a value that it does not have so; nothing where it has it."""
    known = _known(one, proven=proven)
    if value in known:
        return []
    plain = folded(value)
    return sorted(cell for cell in known if folded(cell) == plain)[:_MOST_SPELLINGS]


def _put(one: _Compared, spelled: Sequence[Sequence[str]]) -> None:
    """Put the stored spellings in the place of the texts that have some."""
    if not any(spelled):
        return
    texts = [
        text
        for literal, stored in zip(one.literals, spelled, strict=True)
        for text in (stored or [literal.this])
    ]
    if len(one.literals) == 1 and len(texts) == 1:
        one.literals[0].set("this", texts[0])
        return
    among: exp.Expr = exp.In(
        this=one.side.copy(), expressions=[exp.Literal.string(text) for text in texts]
    )
    one.node.replace(exp.Not(this=among) if isinstance(one.node, exp.NEQ) else among)


def _told(value: str, one: _Compared, tables: Sequence[AnswerTable]) -> str:
    """Return that a column has no such value, which others have it, and what it has instead."""
    term = cell_term(value)
    elsewhere = [
        f"{table.read.name}.{name}"
        for table in tables
        for name in table.holding([term] if term else []).get(term or "", ())
    ]
    named = f"{one.table.read.name}.{one.column}"
    if elsewhere and named not in elsewhere:
        return f"{value!r} is no value of {named} but of {elsewhere[0]}"
    known = sorted(_known(one, proven=True))
    near = process.extract(value, known, scorer=fuzz.ratio, score_cutoff=_ALIKE, limit=_MOST_SHOWN)
    shown = [text for text, *_ in near] or known[:_MOST_SHOWN]
    some = ", ".join(repr(text[:40]) for text in shown)
    return f"{named} has no value {value!r}; it has {some}"


_ACCENTED = regex.compile(
    r"([\p{Latin}\p{Greek}])\p{Mn}+|([аеиоуыэюя])[\u0300\u0301]|(\u0435)\u0308", regex.IGNORECASE
)
"""Letters with marks that people leave out, decomposed: of Cyrillic ё, and a vowel with its stress.

Any other mark makes another letter (й of и, ガ of カ).
"""


def folded(text: str) -> str:
    """Return a text without capitals, accents and blanks that do not count.

    Signs that only look alike stay what they are, such as a raised digit (10⁶).
    """
    plain = _ACCENTED.sub(r"\1\2\3", unicodedata.normalize("NFD", text))
    return " ".join(plain.casefold().split())
