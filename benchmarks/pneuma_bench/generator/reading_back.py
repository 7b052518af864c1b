"""Reads statements of SQL back as queries of the template (Pneuma, section 6.1.2)."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from sqlglot import exp
from sqlglot.dialects import Dialect

from pneuma_assets.core.lineage.parse import (
    UnreadableSQLError,
    explained,
    query_of,
    statements_of,
    tokens_of,
)
from pneuma_assets.core.tables import Definition
from pneuma_bench.generator.queries import (
    AGGREGATES,
    BETWEEN,
    Condition,
    Order,
    Selected,
    SqlQuery,
    Subject,
    Value,
    number_of,
)
from pneuma_bench.generator.wording import meaning_of, words_of

_NOT_IN_NAMES = re.compile(r"\W|_")


def _bare(name: str) -> str:
    return _NOT_IN_NAMES.sub("", name).casefold()


class ColumnNames:
    """The names of a table's columns, to be found as they are, or in other capitals and signs.

    What no name spells is looked for among the words that names stand for, and among what people
    wrote about columns: a model that is asked about the labour cost share writes
    `labour_cost_share`, and means the column `sl`.

    Args:
        subject: The table.
        as_written: Whether a name is found as it is and in other capitals alone.
    """

    def __init__(self, subject: Subject, *, as_written: bool = False) -> None:
        self._levels: list[dict[str, set[int]]] = [defaultdict(set) for _ in range(4)]
        for at, name in enumerate(subject.columns):
            self._levels[0][name].add(at)
            self._levels[1][name.casefold()].add(at)
            if not as_written:
                self._levels[2][_bare(name)].add(at)
                self._levels[3][_bare(words_of(subject, at))].add(at)
                self._levels[3][_bare(meaning_of(subject, at))].add(at)

    def places(self, parts: Sequence[str]) -> Sequence[int]:
        """Return where the columns are that are spelled most as a name is: none, one, or several.

        Args:
            parts: Of a name that has dots; these may be its own, or stand behind a table's name.
        """
        for name in dict.fromkeys((".".join(parts), parts[-1])):
            spellings = (name, name.casefold(), _bare(name), _bare(name))
            for spelled, places in zip(spellings, self._levels, strict=True):
                if spelled and places.get(spelled):
                    return sorted(places[spelled])
        return ()


LONGEST = 2_000
"""Characters of an answer; what is longer is no query of this template."""
_FENCED = re.compile(r"```\w*\s*(.*?)(?:```|\Z)", re.DOTALL)
_STATEMENT = re.compile(r"""\bselect\b(?:'[^']*'|"[^"]*"|[^;'"])*""", re.IGNORECASE)
_CLAUSES = frozenset({"expressions", "from_", "where", "group", "having", "order", "limit"})
_OPERATORS: dict[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.GT: ">",
    exp.LT: "<",
    exp.GTE: ">=",
    exp.LTE: "<=",
}
_FLIPPED = {"=": "=", ">": "<", "<": ">", ">=": "<=", "<=": ">="}


def read_back(text: str, subject: Subject) -> SqlQuery:
    """Read a model's answer as a query of the template.

    Names are taken for the columns that they spell, whatever their capitals, blanks and signs, or
    whose meaning they spell; what stands in double quotes in place of a value is one if it is no
    column. The FROM is not looked at. `x >= 1 AND x <= 2` is read as BETWEEN.

    The answer may stand between words and in a fence of Markdown; it is never run.

    Raises:
        UnreadableSQLError: It is no SQL or more than the template has; the message says what.
    """
    if len(text) > LONGEST:
        raise UnreadableSQLError("it is too long")
    fenced = _FENCED.search(text)
    statement = _STATEMENT.search(fenced.group(1) if fenced else text)
    if statement is None:
        raise UnreadableSQLError("there is no SELECT")
    try:
        tree = _tree(statement.group())
    except UnreadableSQLError:
        tree = _tree(_quoted(statement.group().replace("`", '"'), subject))
    return _Reader(subject, ColumnNames(subject)).query(tree)


def read_made(sql: str, subject: Subject) -> SqlQuery:
    """Read SQL that `SqlQuery.sql` wrote as a query of a table with columns of such names.

    Capitals do not count in names, signs and blanks do.

    Raises:
        UnreadableSQLError: It is no SQL, more than the template has, or names what is not there.
    """
    return _Reader(subject, ColumnNames(subject, as_written=True)).query(_made_tree(sql))


def names_in(sql: str) -> list[str]:
    """Return the columns that such a statement names, each once, as it spells them.

    Raises:
        UnreadableSQLError: It is no SQL.
    """
    columns = _made_tree(sql).find_all(exp.Column)
    return list(dict.fromkeys(".".join(part.name for part in one.parts) for one in columns))


def _made_tree(sql: str) -> exp.Expr:
    dialect = Dialect.get_or_raise("duckdb")
    with explained():
        statements = statements_of(tokens_of(sql, dialect), sql, dialect)
        if len(statements) != 1 or not isinstance(statements[0], exp.Select):
            raise UnreadableSQLError("it is not one SELECT")
        if statements[0].args.get("from_"):
            raise UnreadableSQLError("it says what it selects from")
        return statements[0]


def _tree(sql: str) -> exp.Expr:
    with explained():
        return query_of(Definition(sql, "duckdb"))[0]


def _quoted(sql: str, subject: Subject) -> str:
    """Return SQL with its columns' names in quotes: a column may be called `row` or `group`."""
    names = [re.escape(name) for name in subject.columns if name.isidentifier()]
    if not names:
        return sql
    named = rf"""('[^']*'|"[^"]*")|\b({"|".join(names)})\b(?!\s*(?:\(|by\b))"""
    return re.sub(named, lambda m: m.group(1) or f'"{m.group(2)}"', sql, flags=re.IGNORECASE)


class _Reader:
    """Reads the parts of a statement about one table."""

    def __init__(self, subject: Subject, names: ColumnNames) -> None:
        self._subject, self._names = subject, names
        self._aliases: dict[str, Selected] = {}

    def query(self, tree: exp.Expr) -> SqlQuery:
        _refuse(not isinstance(tree, exp.Select), "it is no plain SELECT")
        clauses = {name: part for name, part in tree.args.items() if part}
        more = sorted(clauses.keys() - _CLAUSES)
        _refuse(more, f"it has {', '.join(more)}")
        from_table = "from_" not in clauses or isinstance(clauses["from_"].this, exp.Table)
        _refuse(not from_table, "it selects from a query")
        select = tuple(map(self._selected, tree.expressions))
        _refuse(not select, "it selects nothing")
        having = self._conditions(clauses["having"].this) if "having" in clauses else ()
        _refuse(len(having) > 1, "it has two conditions on groups")
        return SqlQuery(
            select,
            self._conditions(clauses["where"].this) if "where" in clauses else (),
            self._group(clauses["group"]) if "group" in clauses else None,
            having[0] if having else None,
            self._order(clauses.get("order"), clauses.get("limit")),
        )

    def _selected(self, one: exp.Expr) -> Selected:
        found = self._of(one.unalias())
        if one.alias:
            self._aliases[one.alias.casefold()] = found
        return found

    def _group(self, group: exp.Expr) -> int:
        several = len(group.expressions) != 1 or _has_more(group, "expressions")
        _refuse(several, "it groups by other than one column")
        return self._plain(group.expressions[0])

    def _order(self, order: exp.Expr | None, limit: exp.Expr | None) -> Order | None:
        if order is None or limit is None:
            _refuse(order or limit, "it has one of ORDER BY and LIMIT without the other")
            return None
        _refuse(len(order.expressions) != 1, "it orders by more than one column")
        by, literal = order.expressions[0], limit.args.get("expression")
        number = number_of(literal.name) if isinstance(literal, exp.Literal) else None
        if not isinstance(number, int) or _has_more(limit, "expression"):
            raise UnreadableSQLError("its LIMIT is no whole number")
        return Order(self._plain(by.this), bool(by.args.get("desc")), number)

    def _plain(self, one: exp.Expr) -> int:
        found = self._of(one)
        _refuse(found.aggregate, "it orders or groups by an aggregate")
        return found.column

    def _of(self, one: exp.Expr) -> Selected:
        one = one.unnest()
        name = type(one).__name__.upper()
        if name in AGGREGATES and not _has_more(one, "this"):
            return Selected(self._column(one.this), name)
        alias = one.name.casefold()
        if isinstance(one, exp.Column) and alias in self._aliases and not self._at(one):
            return self._aliases[alias]
        return Selected(self._column(one))

    def _column(self, one: exp.Expr) -> int:
        places = self._at(one)
        shown = "more than one column" if places else "no column"
        _refuse(len(places) != 1, f"what it names is {shown} of the table")
        return places[0]

    def _at(self, one: exp.Expr) -> Sequence[int]:
        """Return the columns that a name may stand for; a dot may be a part of it."""
        if not isinstance(one, exp.Column) or isinstance(one.this, exp.Star):
            raise UnreadableSQLError(f"it computes or uses {type(one).__name__}")
        return self._names.places([part.name for part in one.parts])

    def _conditions(self, tree: exp.Expr) -> tuple[Condition, ...]:
        parts = tree.unnest()
        several = parts.flatten() if isinstance(parts, exp.And) else [parts]
        return tuple(_ranges(self._condition(one.unnest()) for one in several))

    def _condition(self, one: exp.Expr) -> Condition:
        if isinstance(one, exp.Between):
            of = self._of(one.this)
            ends = [self._value(one.args[end], of) for end in ("low", "high")]
            return Condition(of, BETWEEN, *ends)
        operator = _OPERATORS.get(type(one))
        if operator is None:
            raise UnreadableSQLError(f"it has a condition with {type(one).__name__}")
        left, right = one.this, one.expression
        if isinstance(left, exp.Literal | exp.Neg):
            left, right, operator = right, left, _FLIPPED[operator]
        of = self._of(left)
        return Condition(of, operator, self._value(right, of))

    def _value(self, one: exp.Expr, of: Selected) -> Value:
        one = one.unnest()
        sign, literal = ("-", one.this) if isinstance(one, exp.Neg) else ("", one)
        if isinstance(literal, exp.Column) and literal.this.quoted and not self._at(literal):
            literal = exp.Literal.string(literal.name)  # as SQLite reads it
        _refuse(not isinstance(literal, exp.Literal), "it compares with what is no value")
        text = sign + literal.name
        if not of.aggregate and not self._subject.numeric[of.column]:
            return text
        number = number_of(text)
        return text if number is None else number


def _ranges(conditions: Iterable[Condition]) -> list[Condition]:
    """Return conditions with `x >= 1` and `x <= 2` made one, where there is one of each."""
    found = list(conditions)
    for low in [one for one in found if one.operator == ">="]:
        alike = [one for one in found if one.of == low.of and one.operator in (">=", "<=")]
        if sorted(one.operator for one in alike) == ["<=", ">="]:
            high = next(one for one in alike if one is not low)
            found[found.index(low)] = replace(low, operator=BETWEEN, second=high.value)
            found.remove(high)
    return found


def _refuse(wrong: object, why: str) -> None:
    if wrong:
        raise UnreadableSQLError(why)


def _has_more(one: exp.Expr, part: str) -> bool:
    return any(value for name, value in one.args.items() if name != part)
