"""Kinds of documents: what is made from what, and which change makes every table anew."""

from dataclasses import replace

import pytest

from pneuma_assets.core.config.indexing import SamplingConfig
from pneuma_assets.core.documents.maker import DrawnRows, NarratedColumns, ReadTable
from pneuma_assets.core.documents.registry import (
    KINDS,
    documents_of,
    introduction_of,
    makers_from,
    register,
)
from pneuma_assets.core.pipeline.recipe import recipe_of
from pneuma_assets.core.tables import Column, Document, DocumentKind, Table, content_hash
from tests.support.values_documents import VALUES, registered
from tests.support.word_encoder import WordEncoder

TABLE = Table("lake/trees", (Column("height", "INT"), Column("site", "TEXT")), 2, "/trees.csv")
ROWS = [("3", "hill"), ("4", "hill")]


def recipe() -> str:
    return recipe_of(SamplingConfig(), WordEncoder(), "model|prompt 2|48 tokens")


@pytest.mark.parametrize(
    ("material", "kind", "texts"),
    [
        (ReadTable(TABLE, ["Measured.", "By hand."]), "context", ["Measured.", "By hand."]),
        (
            DrawnRows(TABLE, ROWS),
            "rows",
            ["height: 3 | site: hill", "height: 4 | site: hill"],
        ),
        (NarratedColumns(TABLE, {0: "In metres."}), "schema", ["height: In metres. | site"]),
    ],
)
def test_each_material_gives_the_documents_of_its_kinds(material, kind, texts):
    documents = [Document("lake/trees", DocumentKind(kind), text) for text in texts]
    assert documents_of(material) == {kind: documents}


def test_another_kind_stands_beside_the_one_of_the_same_material():
    with registered(VALUES):
        made = documents_of(DrawnRows(TABLE, ROWS))
        assert [maker.called for maker in makers_from(DrawnRows)] == [
            "a sampled row",
            "sampled values",
        ]
    assert list(made) == ["rows", "values"]
    assert made[VALUES.kind] == [Document("lake/trees", VALUES.kind, "3, hill, 4")]
    assert list(documents_of(DrawnRows(TABLE, ROWS))) == ["rows"]


def test_a_kind_has_one_maker_and_a_maker_its_own_version():
    before = dict(KINDS)
    with pytest.raises(ValueError, match="'rows' have a maker"):
        register(replace(VALUES, kind=DocumentKind.ROWS))
    with pytest.raises(ValueError, match="version from 1 on"):
        register(replace(VALUES, version=0))
    assert before == KINDS


def test_the_recipe_of_earlier_versions_stays():
    """Another recipe makes every table of every deployment anew."""
    parts = ("2", "words", "model|prompt 2|48 tokens", '{"rows":5,"seed":0}')
    assert recipe() == content_hash(*parts)


def test_another_kind_and_another_version_of_it_are_other_recipes():
    recipes = [recipe()]
    for version in (1, 2):
        with registered(replace(VALUES, version=version)):
            recipes.append(recipe())
    assert len(set(recipes)) == 3
    assert recipe() == recipes[0]


def test_a_language_model_is_told_what_it_reads():
    assert introduction_of(DocumentKind.CONTEXT) == "Given this context describing a table:"
    content = "Given a table with the following columns:"
    for kind in ("schema", "rows", "a_kind_of_a_newer_version"):
        assert introduction_of(DocumentKind(kind)) == content
