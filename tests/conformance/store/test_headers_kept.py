"""One embedding of each header is kept, beside those of tables' texts, and goes with its header."""

import numpy as np
import pytest

from pneuma_assets.core.tables import Block, DocumentKind, EmbeddedBlock

HOSTILE = 'o"; DROP --'


def vectors(*headers: str) -> dict[str, np.ndarray]:
    return {header: np.full(4, place, np.float32) for place, header in enumerate(headers, 1)}


def known(store, *headers: str, encoder: str = "one") -> dict[str, float]:
    found = store.headers.of(encoder, headers)
    return {header: float(vector[0]) for header, vector in found.items()}


def make(store, encoder: str, headers: dict[str, np.ndarray], made_of: list[str]) -> None:
    """Make these all headers, a few at a time."""
    for header, vector in headers.items():
        store.headers.keep(encoder, {header: vector})
    store.headers.keep_only(encoder, headers, made_of)


def test_headers_are_replaced_as_a_whole(store):
    assert store.headers.made_of() == ()
    make(store, "one", vectors("unit price", HOSTILE), ["1", "a"])
    assert store.headers.made_of() == ("1", "a")
    assert known(store, "unit price", HOSTILE, "region") == {"unit price": 1.0, HOSTILE: 2.0}
    make(store, "one", vectors("region"), ["2"])
    assert known(store, "unit price", HOSTILE, "region") == {"region": 1.0}
    assert store.headers.made_of() == ("2",)
    make(store, "two", vectors("region"), ["3"])
    assert (known(store, "region"), known(store, "region", encoder="two")) == ({}, {"region": 1.0})


@pytest.fixture
def said(store):
    """A table says what is also a header, and something else."""
    texts = "region", "what people wrote"
    blocks = [Block("lake/a", DocumentKind.CONTEXT, text) for text in texts]
    embedded = [EmbeddedBlock(block, np.full(4, 9, np.float32)) for block in blocks]
    store.embeddings.keep("one", [("lake/a", embedded)])
    return store


def test_what_tables_say_is_left_alone(said):
    make(said, "one", vectors("region", "price"), ["1"])
    assert said.embeddings.tables() == {"lake/a"}
    assert {*known(said, "region", "price")} == {"region", "price"}
    make(said, "one", {}, ["2"])
    assert known(said, "what people wrote") == {"what people wrote": 9.0}
    assert {*known(said, "region", "price")} == {"region"}
    make(said, "one", vectors("region"), ["1"])
    said.embeddings.prune(["lake/a"])
    assert {*known(said, "region", "what people wrote")} == {"region"}, "the table took none along"


def test_what_is_forgotten_is_made_anew(said):
    make(said, "one", vectors("ssn", "region"), ["1"])
    said.headers.forget()
    assert {*known(said, "ssn", "region")} == {"region"}
    assert said.headers.made_of() == ()
