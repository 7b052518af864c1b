"""Values of two columns that name the same, spelled otherwise."""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rapidfuzz import fuzz

from pneuma_assets.core.seek.operators.sql_text import Ask, Columns, join, joined, of, quoted

PAIRS = "matched values"
"""What the table of values that go together is called."""
MOST_VALUES = 50_000
MOST_CHARACTERS = 200
"""Of a value: longer ones go with none."""
MOST_COMPARED = 20_000_000
_RAREST, _CANDIDATES, _COMMON = 8, 30, 1_000


def matching(options: Mapping[str, Any], columns: Columns, ask: Ask) -> dict[str, list[Any]]:
    """Return which value of the other table each value goes with, and how alike they are, of 100.

    Capitals, accents, signs and the order of words do not count. A value that is as like one as
    another goes with neither (`match` is None), and so does one that is too little like any.
    One that was not compared, for the bound was reached, has the score 0.
    """
    base, other = columns
    mine = _values(base, options["column"], ask)
    theirs = _values(other, options["other_column"], ask)
    rows = list(_matched(mine, theirs, options["least"]))
    return {name: list(cells) for name, cells in zip(
        ("value", "match", "score"), zip(*rows, strict=True) if rows else ([], [], []), strict=True
    )}  # fmt: skip


def _values(table: str, column: str, ask: Ask) -> list[str]:
    cell = f"CAST({of(table, column)} AS VARCHAR)"
    some = f"{cell} <> '' AND length({cell}) <= {MOST_CHARACTERS}"
    sql = f"SELECT DISTINCT {cell} AS v FROM {quoted(table)} WHERE {some} ORDER BY v"
    found = [str(row[0]) for row in ask(f"{sql} LIMIT {MOST_VALUES + 1}")]
    if len(found) > MOST_VALUES:
        raise ValueError(
            f"column {column!r} of {table} has more than {MOST_VALUES:,} different values; filter "
            "them before, or join by columns that are equal"
        )
    return found


def _matched(
    mine: Sequence[str], theirs: Sequence[str], least: float
) -> Iterator[tuple[str, str | None, float | None]]:
    """Yield values with those they go with, and how alike they are; bounded in what it compares."""
    spelled: dict[str, list[str]] = defaultdict(list)
    for value in theirs:
        spelled[plain(value)].append(value)
    known, holding = list(spelled), defaultdict(list)
    for at, text in enumerate(known):
        for part in _parts(text):
            holding[part].append(at)
    left = MOST_COMPARED
    for value in mine:
        text = plain(value)
        best, score = (text, 100.0) if text in spelled else ("", None)
        is_compared = left > 0
        if score is None and is_compared:
            postings = sorted((holding[p] for p in _parts(text) if p in holding), key=len)
            near = Counter(at for some in postings[:_RAREST] for at in some[:_COMMON])
            left -= near.total()
            candidates = [known[at] for at, _ in near.most_common(_CANDIDATES)]
            best, score = _best(text, candidates, least)
        if score is None:
            yield value, None, None if is_compared else 0.0
        else:
            same = spelled[best]
            yield from ((value, one, score) for one in ([value] if value in same else same))


def _best(text: str, candidates: Sequence[str], least: float) -> tuple[str, float | None]:
    """Return the candidate that is most like a text; none where two are alike, or none is enough.

    Numbers in it have to be the same: `plant 1` is not `plant 2`.
    """
    digits = re.findall(r"\d+", text)
    scored = sorted(
        (
            (max(fuzz.ratio(text, one), fuzz.token_sort_ratio(text, one)), one)
            for one in candidates
            if re.findall(r"\d+", one) == digits
        ),
        reverse=True,
    )[:2]
    if not scored or scored[0][0] < least or (len(scored) > 1 and scored[1][0] == scored[0][0]):
        return "", None
    return scored[0][1], scored[0][0]


def plain(text: str) -> str:
    """Return a text in small letters, without accents and signs."""
    bare = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    return " ".join(re.sub(r"[\W_]+", " ", bare.casefold()).split()) or text


def _parts(text: str) -> set[str]:
    padded = f"  {text} "
    return {padded[at : at + 3] for at in range(len(padded) - 2)}


def joins_of(options: Mapping[str, Any], base: str, other: str) -> list[dict[str, Any]]:
    """Return how the two tables are joined by the table of pairs."""
    kind = options["kind"]
    mine = {"table": base, "columns": [options["column"]], "other": PAIRS, "kind": kind}
    theirs = {"table": PAIRS, "columns": ["match"], "other": other, "kind": kind}
    return [
        {**mine, "other_columns": ["value"]},
        {**theirs, "other_columns": [options["other_column"]]},
    ]


def fuzzy_match(options: Mapping[str, Any], columns: Columns, _ask: Ask | None = None) -> str:
    """Return the query of two tables joined by a table of pairs, and `match_score` of each row."""
    base, other = columns
    shapes = {**columns, PAIRS: [("value", "VARCHAR"), ("match", "VARCHAR"), ("score", "DOUBLE")]}
    whole = {base: shapes[base], PAIRS: shapes[PAIRS], other: shapes[other]}
    joins = joins_of(options, base, other)
    if options["columns"]:
        chosen = {**options["columns"], "match_score": f"{PAIRS}.score"}
        return join({"joins": joins, "columns": chosen}, whole)
    taken = {name.lower() for name, _ in columns[base]}
    cells = [f"{of(base, name)} AS {quoted(name)}" for name, _ in columns[base]]
    cells += [
        f"{of(other, name)} AS {quoted(f'{other}_{name}' if name.lower() in taken else name)}"
        for name, _ in columns[other]
    ]
    cells.append(f'{of(PAIRS, "score")} AS "match_score"')
    return f"SELECT {', '.join(cells)} FROM {joined(base, joins, whole)}"
