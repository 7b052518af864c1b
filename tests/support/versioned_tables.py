"""Tables whose blocks say to which version they belong, so that a mixed or half table shows."""

from collections import defaultdict
from collections.abc import Iterable

import numpy as np

from pneuma_assets.core.index.base import IndexQuery, SearchIndex
from pneuma_assets.core.tables import Block, DocumentKind, EmbeddedBlock, Vector, content_hash

ENCODER = "encoder-a"
DIMENSION = 64
BLOCKS = 25


def unit_vector(*seed: object) -> Vector:
    digest = content_hash(*(str(part) for part in seed))
    drawn = np.random.default_rng(int(digest, 16)).standard_normal(DIMENSION)
    return (drawn / np.linalg.norm(drawn)).astype(np.float32)


def table_version(table_id: str, version: int, *, words: int = 10) -> list[EmbeddedBlock]:
    """Return one version of a table: BLOCKS blocks, each with `words` words of padding."""
    return [
        EmbeddedBlock(
            Block(
                table_id,
                DocumentKind.ROWS,
                f"lake {table_id} version{version} block{n}" + " padding" * words,
            ),
            unit_vector(table_id, version, n),
        )
        for n in range(BLOCKS)
    ]


def all_at(table_ids: Iterable[str], version: int, *, words: int = 10) -> dict:
    """Return these tables, all at one version."""
    return {t: table_version(t, version, words=words) for t in table_ids}


def version_in(text: str) -> int:
    return int(text.split(" version", 1)[1].split(" ", 1)[0])


def versions_of(blocks: Iterable[Block]) -> dict[str, int]:
    """Return each table's version; fail if one is mixed, or lacks a block, or has one twice."""
    found: dict[str, list[int]] = defaultdict(list)
    for block in blocks:
        found[block.table_id].append(version_in(block.text))
    for table_id, versions in found.items():
        assert len(set(versions)) == 1, f"{table_id} is mixed: {sorted(set(versions))}"
        assert len(versions) == BLOCKS, f"{table_id} shows {len(versions)} of {BLOCKS} blocks"
    return {table_id: versions[0] for table_id, versions in found.items()}


def look(index: SearchIndex, tables: int) -> list[dict[str, int]]:
    """Search for everything by words and by meaning; return each side's versions.

    Args:
        index: What to search.
        tables: How many tables it has at most; bounds the number of hits.
    """
    query = IndexQuery("lake", unit_vector("question"))
    (hits,) = index.search([query], limit=(tables + 1) * BLOCKS)
    return [versions_of(hit.block for hit in side) for side in (hits.lexical, hits.semantic)]


def versions_found(index: SearchIndex) -> dict[str, int]:
    """Read the whole index and return each table's version; fail where its parts disagree."""
    counts = index.list_tables()
    assert set(counts.values()) <= {BLOCKS}
    stored = list(index.blocks())
    versions = versions_of(item.block for item in stored)
    assert versions.keys() == counts.keys()
    for item in stored:
        seed = (item.block.table_id, versions[item.block.table_id])
        n = int(item.block.text.split(" block", 1)[1].split(" ", 1)[0])
        np.testing.assert_allclose(item.vector, unit_vector(*seed, n), atol=1e-6)
    for side in look(index, len(counts)):
        assert side == versions
    return versions
