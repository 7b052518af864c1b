"""What every engine refuses: blocks, vectors, evidence and searches that cannot mean anything."""

from collections.abc import Iterator, Sequence
from math import isfinite
from typing import Any

import numpy as np
import numpy.typing as npt

from pneuma_assets.core.errors import EvidenceRefusedError, QueryError, SearchIndexError
from pneuma_assets.core.index.base import IndexFilter, IndexQuery, fields_of
from pneuma_assets.core.tables import EmbeddedBlock, TableFacts, TableTerms, Vector
from pneuma_assets.core.terms.fields import Field, cell_term

MAX_FILTERED = 10_000
"""Tables, sources or names of the asker that one search may be restricted to."""

MAX_VALUES = 1_000
"""Values that one call looks up."""

_UNIT_TOLERANCE = 1e-2
"""How far from 1 a vector's length may be: encoders in half precision round."""


def check_blocks(
    table_id: str, embedded: Sequence[EmbeddedBlock], dimension: int
) -> dict[str, EmbeddedBlock]:
    """Return one table's blocks by block id, vectors as little-endian float32.

    Raises:
        SearchIndexError: A block belongs to another table, or its vector is of no use.
    """
    owner = f"a block of table {table_id!r}"
    checked = {}
    for item in embedded:
        if item.block.table_id != table_id:
            raise SearchIndexError(
                f"A block of table {item.block.table_id!r} was given for table {table_id!r}; "
                "pass each table its own blocks."
            )
        vector = check_vector(item.vector, dimension, owner)
        checked[item.block.block_id] = EmbeddedBlock(item.block, vector)
    return checked


def check_evidence(table_id: str, evidence: TableTerms) -> TableTerms:
    """Return one table's evidence; it is given back as it is, so its parts have their one type.

    Raises:
        EvidenceRefusedError: A part is not of its type, or a row has more or fewer cells than
            columns.
    """
    problem = _problem_of(evidence)
    if problem is not None:
        raise EvidenceRefusedError(table_id, f"The evidence of table {table_id!r} {problem}.")
    return evidence


def check_facts(table_id: str, facts: TableFacts) -> TableFacts:
    """Return what is known of one table; it is given back as it is, so its parts have their types.

    Raises:
        SearchIndexError: A part is not of its type, or no finite number.
    """
    problem = _problem_of_facts(facts)
    if problem is not None:
        raise SearchIndexError(f"The facts of table {table_id!r} {problem}.")
    return facts


def _problem_of_facts(facts: Any) -> str | None:
    if not isinstance(facts, TableFacts):
        return "are none; pass TableFacts() where nothing is known"
    if facts.readers is not None and not _are_texts(facts.readers):
        return "have readers that are not a tuple of texts; pass None where everybody may see it"
    numbers = (facts.updated_at, facts.documented, facts.feeds, facts.queries)
    if not all(one is None or _is_number(one) for one in numbers):
        return "have a number that is none, or not finite"
    copies = (facts.copy_of, facts.seen_copy_of)
    if not isinstance(facts.owned, bool) or not all(isinstance(i, str | None) for i in copies):
        return "have a part of another type"
    return None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def _problem_of(evidence: Any) -> str | None:
    if not isinstance(evidence, TableTerms):
        return "is none; pass TableTerms() where there is nothing"
    for part in ("names", "columns", "cells"):
        if not _are_texts(getattr(evidence, part)):
            return f"has {part} that are not a tuple of texts; pass str alone"
    if not _are_texts((evidence.spelled_names, evidence.spelled_columns)):
        return "has spelled words that are not one text; join them by spaces"
    if not isinstance(evidence.rows, tuple):
        return "has rows that are not a tuple; pass a tuple of tuples"
    return next(_problems_of_rows(evidence.rows, len(evidence.columns)), None)


def _problems_of_rows(rows: Sequence[Any], width: int) -> Iterator[str]:
    for number, row in enumerate(rows):
        if not _are_texts(row, type(None)):
            yield f"has cells that are neither text nor None in row {number}; pass str or None"
        elif len(row) != width:
            yield f"has {len(row)} cells in row {number}, not one for each of {width} columns"


def _are_texts(values: Any, *others: type) -> bool:
    return isinstance(values, tuple) and all(isinstance(one, (str, *others)) for one in values)


def check_vector(vector: Any, dimension: int, owner: str) -> npt.NDArray[np.float32]:
    """Return `vector` as little-endian float32, shape (dimension,).

    Raises:
        SearchIndexError: It has another shape, is not finite, or is not of unit length.
    """
    checked = np.ascontiguousarray(vector, dtype="<f4")
    if checked.shape != (dimension,):
        raise SearchIndexError(
            f"The vector of {owner} has shape {checked.shape}, not ({dimension},); "
            "use the encoder that the index was built with."
        )
    length = float(np.linalg.norm(checked.astype(np.float64)))
    if not abs(length - 1.0) <= _UNIT_TOLERANCE:  # also false where a component is not finite
        raise SearchIndexError(
            f"The vector of {owner} has length {length:g}, not 1; the encoder must return finite, "
            "normalised vectors."
        )
    return checked


def check_questions(queries: Sequence[IndexQuery], dimension: int) -> list[Vector | None]:
    """Return each query's vector, checked; None where a query has none."""
    return [
        None if query.vector is None else check_vector(query.vector, dimension, f"question {place}")
        for place, query in enumerate(queries, 1)
    ]


def check_limit(limit: int) -> None:
    """Raise `QueryError` unless a search asks for at least one block."""
    if limit < 1:
        raise QueryError(f"The limit of a search is {limit}; ask for at least 1 block.")


def check_filter(where: IndexFilter) -> None:
    """Raise `QueryError` if a filter names more than an engine can look for."""
    most = max(map(len, (where.sources, where.tables, where.readers or ())))
    if most > MAX_FILTERED:
        raise QueryError(
            f"A filter names {most:,} tables, sources or readers; {MAX_FILTERED:,} at most."
        )


def cells_asked(values: Sequence[str], where: IndexFilter) -> dict[str, str | None]:
    """Return the term to look up for each value, a value once; None where no table has it.

    A value that is no whole cell has none, and a filter that shuts the tables' values out leaves
    none to any.

    Raises:
        QueryError: There are more than `MAX_VALUES`.
    """
    if len(values) > MAX_VALUES:
        raise QueryError(
            f"Tables of {len(values):,} values were asked for; ask for {MAX_VALUES:,} at most at "
            "once."
        )
    shut_out = Field.CELLS not in fields_of(where)
    return {value: None if shut_out else cell_term(value) for value in values}


def check_lists(queries: Sequence[IndexQuery], ids: Sequence[Sequence[str]]) -> None:
    """Raise `QueryError` unless there is a list of blocks, or of tables, for each query."""
    if len(queries) != len(ids):
        raise QueryError(
            f"Scores of {len(ids)} lists of blocks or tables were asked for {len(queries)} "
            "queries; pass one list a query."
        )
