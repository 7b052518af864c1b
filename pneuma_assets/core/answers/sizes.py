"""Bounds on a statement, and on values whose size a number in it says."""

import re
from collections.abc import Sequence
from typing import Any

from sqlglot import TokenType, exp

from pneuma_assets.core.answers.refusing import Guard, refuse

MOST_CHARACTERS = 20_000
MOST_PARTS = 3_000
"""Nodes of its tree."""
MOST_DEPTH = 200
"""Nodes of its tree above each other; what looks through it calls itself for each."""
MOST_BRACKETS = 100
"""Over a column with thousands of them, sqlglot's parser takes half a minute."""
MOST_TABLES = 20
"""Tables that it names, each as often as it names it."""
MOST_QUERIES = 30
"""SELECTs in it."""
MOST_PADDED = 1_000
"""Characters to which a text may be padded."""
MOST_PATTERN = 300
"""Characters of a regular expression."""
MOST_DIGITS = 60
"""Of a number."""
MOST_REPLACED = 4
"""REPLACE within each other: each may make a text longer."""

_UNWANTED = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Signs of control, and those that let people see another statement than the one that is run."""
_NUMBER = re.compile(r"[0-9]*\.?[0-9]*(?:[eE][+-]?[0-9]{1,2})?")
_REPEATED = re.compile(r"\{\s*([0-9]*)\s*,?\s*([0-9]*)\s*\}")
_REPETITIONS = 200
"""The product of what `{n,m}` say in a regular expression."""
_PATTERNED = (
    *(exp.RegexpLike, exp.RegexpILike, exp.RegexpExtract, exp.RegexpReplace),
    *(exp.RegexpFullMatch, exp.RegexpCount, exp.SimilarTo),
)


def check_text(sql: str) -> None:
    """Refuse a text that is too long to be looked at, or has signs that no statement needs."""
    if len(sql) > MOST_CHARACTERS:
        refuse(
            Guard.LENGTH, f"it has more than {MOST_CHARACTERS:,} characters; write a shorter one"
        )
    if unwanted := _UNWANTED.search(sql):
        code = f"U+{ord(unwanted[0]):04X}"
        refuse(Guard.LENGTH, f"it has the character {code}, which no statement needs; leave it out")


def check_words(words: Sequence[Any]) -> None:
    """Refuse the words of a statement over which the parser would take too long."""
    if sum(word.token_type == TokenType.L_BRACKET for word in words) > MOST_BRACKETS:
        refuse(Guard.SIZE, f"it has more than {MOST_BRACKETS} brackets '['; write a simpler one")


def check_sizes(nodes: Sequence[exp.Expr]) -> None:
    """Refuse a statement of too many parts, or one whose numbers or patterns ask for too much.

    Args:
        nodes: Of its tree, each behind the one it stands in.
    """
    for kind, most, what in (
        (exp.Expr, MOST_PARTS, "parts"),
        (exp.Table, MOST_TABLES, "tables"),
        (exp.Select, MOST_QUERIES, "SELECTs"),
    ):
        if sum(isinstance(node, kind) for node in nodes) > most:
            refuse(Guard.SIZE, f"it has more than {most:,} {what}; write a simpler one")
    depth: dict[int, int] = {}
    for node in nodes:  # each behind the one it stands in
        depth[id(node)] = depth.get(id(node.parent), 0) + 1
        if depth[id(node)] > MOST_DEPTH:
            refuse(Guard.SIZE, f"its parts stand more than {MOST_DEPTH} deep; write a simpler one")
        if isinstance(node, exp.Literal) and not node.is_string:
            _check_number(node.this)
        elif isinstance(node, exp.Pad):
            _check_padding(node)
        elif isinstance(node, _PATTERNED):
            _check_pattern(node)
        elif isinstance(node, exp.Replace):
            _check_replaced(node)


def _check_number(text: str) -> None:
    if len(text) > MOST_DIGITS or not _NUMBER.fullmatch(text):
        refuse(Guard.SIZE, f"the number {text[:20]!r} is too long or too large")


def _check_padding(node: exp.Pad) -> None:
    length = node.expression
    if not (isinstance(length, exp.Literal) and length.is_int and int(length.this) <= MOST_PADDED):
        refuse(Guard.SIZE, f"a text is padded to a number of at most {MOST_PADDED:,} characters")


def _check_pattern(node: exp.Expr) -> None:
    pattern = node.expression
    if not (isinstance(pattern, exp.Literal) and pattern.is_string):
        refuse(Guard.SIZE, "a regular expression is a text in quotes, and not made from others")
    text = pattern.this
    repeated = 1
    for low, high in _REPEATED.findall(text):
        numbers = [int(one) for one in (low, high) if one and len(one) < 7]
        repeated *= max(numbers, default=_REPETITIONS + 1)
    if len(text) > MOST_PATTERN or repeated > _REPETITIONS or re.search(r"\\[1-9]", text):
        refuse(Guard.SIZE, "a regular expression is too long, repeats too often, or refers back")


def _check_replaced(node: exp.Expr) -> None:
    depth, above = 1, node.find_ancestor(exp.Replace)
    while above is not None:
        depth, above = depth + 1, above.find_ancestor(exp.Replace)
    if depth > MOST_REPLACED:
        refuse(Guard.SIZE, f"more than {MOST_REPLACED} REPLACE stand within each other")
