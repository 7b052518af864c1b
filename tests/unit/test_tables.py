"""What a kind of document may be called."""

import copy
import json
import pickle

import pytest

from pneuma_assets.core.tables import Block, DocumentKind


@pytest.mark.parametrize("name", ["schema", "values", "a", "kind_2", "x" * 32])
def test_a_kind_is_a_checked_string(name):
    kind = DocumentKind(name)
    assert kind == name
    assert hash(kind) == hash(name)
    assert str(kind) == f"{kind}" == json.loads(json.dumps(kind)) == name
    assert Block("s/t", kind, "text") == Block("s/t", DocumentKind(kind), "text")


@pytest.mark.parametrize(
    "name",
    [
        "",
        "Rows",
        "2nd",
        "_x",
        "a-b",
        "a b",
        "rows\n",
        "x" * 33,
        "käse",
        "\ud800",
        None,
        7,
        ["rows"],
    ],
)
def test_anything_else_is_refused(name):
    with pytest.raises(ValueError, match="not a kind of document"):
        DocumentKind(name)


def test_a_kind_stays_one_through_copies_and_processes():
    for again in (pickle.loads(pickle.dumps(DocumentKind.ROWS)), copy.deepcopy(DocumentKind.ROWS)):
        assert type(again) is DocumentKind
        assert again == DocumentKind.ROWS == "rows"
