"""Kinds of documents: what is made from what, and which change makes every table anew."""

from dataclasses import replace

import pytest

from pneuma_assets.core.config.small_sections import SamplingConfig
from pneuma_assets.core.describe.kinds import (
    documents_of,
    makers,
    makers_from,
    register_documents,
)
from pneuma_assets.core.describe.texts import DrawnRows, NarratedColumns, ReadTable
from pneuma_assets.core.errors import ConfigError
from pneuma_assets.core.pipeline import plan as module
from pneuma_assets.core.pipeline.plan import index_fingerprint
from pneuma_assets.core.tables import Column, Document, DocumentKind, Table
from tests.support.values_documents import VALUES, registered
from tests.support.word_encoder import WordEncoder

TABLE = Table("lake/trees", (Column("height", "INT"), Column("site", "TEXT")), 2, "/trees.csv")
ROWS = [("3", "hill"), ("4", "hill")]


def recipe() -> str:
    return index_fingerprint(SamplingConfig(), WordEncoder().name, "model|prompt 2|48 tokens")


@pytest.mark.parametrize(
    ("material", "kind", "texts"),
    [
        (ReadTable(TABLE, ["Measured.", "By hand."]), "context", ["Measured.", "By hand."]),
        (ReadTable(TABLE, [], ["All of the forest."]), "folder", ["All of the forest."]),
        (DrawnRows(TABLE, ROWS), "rows", ["height: 3 | site: hill", "height: 4 | site: hill"]),
        (NarratedColumns(TABLE, {0: "In metres."}), "schema", ["height: In metres. | site"]),
    ],
)
def test_each_material_gives_the_documents_of_its_kinds(material, kind, texts):
    documents = [Document("lake/trees", DocumentKind(kind), text) for text in texts]
    made = documents_of(material)
    assert {kind: some for kind, some in made.items() if some} == {kind: documents}


def test_another_kind_stands_beside_the_one_of_the_same_material():
    with registered(VALUES):
        made = documents_of(DrawnRows(TABLE, ROWS))
        assert [maker.called for maker in makers_from(DrawnRows)] == [
            "a sampled row",
            "sampled values",
        ]
    assert list(made) == ["rows", "distinct"]
    assert made[VALUES.kind] == [Document("lake/trees", VALUES.kind, "3, hill, 4")]
    assert list(documents_of(DrawnRows(TABLE, ROWS))) == ["rows"]


def test_a_kind_has_one_maker_and_a_maker_its_own_version():
    with registered(VALUES):
        register_documents(VALUES)
        with pytest.raises(ConfigError, match="'distinct' is sampled values; give"):
            register_documents(replace(VALUES, version=2))
    with pytest.raises(ConfigError, match="'rows' is a sampled row; give sampled values another"):
        register_documents(replace(VALUES, kind=DocumentKind.ROWS))
    assert list(makers()) == ["schema", "rows", "context", "folder", "lineage", "summary"]


@pytest.mark.parametrize(
    ("maker", "told"),
    [
        ("values", "'values' makes no documents; let it be a DocumentMaker"),
        (replace(VALUES, kind="values"), "'values' is a str; let it be a DocumentKind"),
        (replace(VALUES, made_from=Table), "use one of: ReadTable, DrawnRows, NarratedColumns"),
        (replace(VALUES, texts="text"), "'distinct' has no function texts"),
        (replace(VALUES, kind=DocumentKind.VALUES), "'values' is that of a table's evidence"),
        (replace(VALUES, version=0), "'distinct' has no version of its own; give it 1"),
        (replace(VALUES, version="1"), "'distinct' has no version of its own; give it 1"),
    ],
)
def test_what_makes_no_documents_is_refused_before_a_run(maker, told):
    with pytest.raises(ConfigError, match=told):
        register_documents(maker)
    assert list(makers()) == ["schema", "rows", "context", "folder", "lineage", "summary"]


@pytest.mark.parametrize("made", ["one text", ["a text", 7], [None]])
def test_what_are_no_texts_makes_no_documents(made):
    with (
        registered(replace(VALUES, texts=lambda _: made)),
        pytest.raises(ConfigError, match="'distinct' must return a list of texts"),
    ):
        documents_of(DrawnRows(TABLE, ROWS))


def test_other_rules_of_evidence_are_another_recipe(monkeypatch):
    before = recipe()
    monkeypatch.setattr(module, "TERM_RULES", module.TERM_RULES + 1)
    assert recipe() != before


def test_recipes_differ_by_kinds_and_versions_and_not_by_order():
    recipes = [recipe()]
    for version in (1, 2):
        with registered(replace(VALUES, version=version)):
            recipes.append(recipe())
    assert len(set(recipes)) == 3
    assert recipe() == recipes[0]
    other = replace(VALUES, kind=DocumentKind("others"))
    with registered(VALUES), registered(other):
        forth = recipe()
    with registered(other), registered(VALUES):
        assert recipe() == forth
