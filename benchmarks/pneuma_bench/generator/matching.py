"""Compares two queries part by part, for cycle consistency by exact match (section 6.1.2)."""

from collections import Counter

from pneuma_bench.generator.queries import Condition, Order, SqlQuery
from pneuma_bench.generator.subjects import Value


def exact_match(one: SqlQuery, other: SqlQuery) -> tuple[str, ...]:
    """Return the names of the parts in which two queries of a table differ; none: they match.

    The order of what is selected and of conditions does not matter; nor do capitals and blanks of
    texts, nor how a number is written.
    """
    parts = {
        "select": (Counter(one.select), Counter(other.select)),
        "where": ({*map(_key, one.where)}, {*map(_key, other.where)}),
        "group by": (one.group_by, other.group_by),
        "having": (one.having and _key(one.having), other.having and _key(other.having)),
        "order by": (_by(one.order), _by(other.order)),
        "limit": (one.order and one.order.limit, other.order and other.order.limit),
    }
    return tuple(name for name, (ours, theirs) in parts.items() if ours != theirs)


def _key(condition: Condition) -> tuple[object, ...]:
    second = None if condition.second is None else _folded(condition.second)
    return condition.of, condition.operator, _folded(condition.value), second


def _by(order: Order | None) -> tuple[int, bool] | None:
    return None if order is None else (order.column, order.descending)


def _folded(value: Value) -> Value:
    return " ".join(value.split()).casefold() if isinstance(value, str) else value
