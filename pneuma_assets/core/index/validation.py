"""What every engine refuses to keep: blocks, vectors, evidence and facts that cannot mean anything.

Types are checked part by part, since what is written has to come back as it was: lone surrogates
in texts, which come from file names and which validating libraries refuse, among it.
"""

from collections.abc import Iterator, Sequence
from math import isfinite
from typing import Any

import numpy as np
import numpy.typing as npt

from pneuma_assets.core.errors import EvidenceRefusedError, SearchIndexError
from pneuma_assets.core.tables import EmbeddedBlock, TableFacts, TableTerms

_UNIT_TOLERANCE = 1e-2
"""How far from 1 a vector's length may be: encoders in half precision round."""


def check_blocks(
    table_id: str, embedded: Sequence[EmbeddedBlock], dimension: int
) -> list[EmbeddedBlock]:
    """Return one table's blocks, each once, vectors as little-endian float32.

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
    return list(checked.values())


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


def check_evidence(table_id: str, evidence: Any) -> None:
    """Raise `EvidenceRefusedError` unless each part of a table's evidence has its type.

    Each row must have a cell a column.
    """
    if (problem := next(_problems_of(evidence), None)) is not None:
        raise EvidenceRefusedError(table_id, f"The evidence of table {table_id!r} {problem}.")


def check_facts(table_id: str, facts: Any) -> None:
    """Raise `SearchIndexError` unless each part of a table's facts has its type.

    Numbers must be finite.
    """
    if (problem := next(_problems_of_facts(facts), None)) is not None:
        raise SearchIndexError(f"The facts of table {table_id!r} {problem}.")


def _problems_of(evidence: Any) -> Iterator[str]:
    if not isinstance(evidence, TableTerms):
        yield "is none; pass TableTerms() where there is nothing"
    for part in ("names", "columns", "cells", "described"):
        if not _are_texts(getattr(evidence, part)):
            yield f"has {part} that are not a tuple of texts; pass str alone"
    if not _are_texts((evidence.spelled_names, evidence.spelled_columns)):
        yield "has spelled words that are not one text; join them by spaces"
    if not isinstance(evidence.rows, tuple):
        yield "has rows that are not a tuple; pass a tuple of tuples"
    width = len(evidence.columns)
    for number, row in enumerate(evidence.rows):
        if not _are_texts(row, type(None)):
            yield f"has cells that are neither text nor None in row {number}; pass str or None"
        if len(row) != width:
            yield f"has {len(row)} cells in row {number}, not one for each of {width} columns"


def _problems_of_facts(facts: Any) -> Iterator[str]:
    if not isinstance(facts, TableFacts):
        yield "are none; pass TableFacts() where nothing is known"
    if facts.readers is not None and not _are_texts(facts.readers):
        yield "have readers that are not a tuple of texts; pass None where everybody may see it"
    if not _are_texts(facts.joins):
        yield "have joins that are not a tuple of texts; pass () where there are none"
    numbers = (facts.updated_at, facts.documented, facts.feeds)
    if not all(one is None or _is_number(one) for one in numbers):
        yield "have a number that is none, or not finite"
    others = facts.copy_of, facts.family
    own = isinstance(facts.owned, bool) and isinstance(facts.prefix, str)
    if not own or not all(isinstance(i, str | None) for i in others):
        yield "have a part of another type"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def _are_texts(values: Any, *others: type) -> bool:
    return isinstance(values, tuple) and all(isinstance(one, (str, *others)) for one in values)
