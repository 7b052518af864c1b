"""Which kinds of documents there are: the one place that knows them all.

A new kind is a `DocumentMaker`, and one registration: an entry point of the package that brings it,
or a call of `register_documents` in every process that indexes. The stages make, embed and index
its documents, search finds by them and filters on them, and the figures count them. Every table is
indexed again then, and once more when the kind is no longer registered; no language model is asked
again for what it has answered.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any, get_args

from pneuma_assets.core.config.registry import Registry
from pneuma_assets.core.describe.texts import MAKERS, DocumentMaker, Material
from pneuma_assets.core.errors import ConfigError
from pneuma_assets.core.tables import Document, DocumentKind
from pneuma_assets.core.terms.fields import KIND_OF

GROUP = "pneuma_assets.documents"
"""The group of entry points by which an installed package brings makers, each under its kind."""


def _checked(maker: DocumentMaker[Any]) -> str:
    """Return the kind of a maker that keeps what `DocumentMaker` asks."""
    if not isinstance(maker, DocumentMaker):
        raise ConfigError(f"{maker!r} makes no documents; let it be a DocumentMaker")
    kind = maker.kind
    if not isinstance(kind, DocumentKind):
        raise ConfigError(f"the kind {kind!r} is a {type(kind).__name__}; let it be a DocumentKind")
    if kind in KIND_OF.values():
        raise ConfigError(f"the kind {kind!r} is that of a table's evidence; choose another name")
    if maker.made_from not in get_args(Material):
        known = ", ".join(one.__name__ for one in get_args(Material))
        raise ConfigError(f"the maker of {kind!r} is made_from no material; use one of: {known}")
    if not callable(maker.texts):
        raise ConfigError(f"the maker of {kind!r} has no function texts; give it one")
    if not isinstance(maker.version, int) or maker.version < 1:
        raise ConfigError(f"the maker of {kind!r} has no version of its own; give it 1")
    return kind


_OURS: dict[str, DocumentMaker[Any]] = {maker.kind: maker for maker in MAKERS}
_KINDS = Registry(GROUP, "kind of document", _checked, lambda one: one.called, known=_OURS)
register_documents = _KINDS.register


def makers() -> Mapping[DocumentKind, DocumentMaker[Any]]:
    """Return the maker of each kind: ours, then those registered and of installed packages.

    Raises:
        ConfigError: An installed package announces a kind and does not bring it.
    """
    _register_installed()
    return {maker.kind: maker for maker in _KINDS.known.values()}


@cache
def _register_installed() -> None:
    for name in _KINDS.names():
        _KINDS.find(name)


def makers_from(made_from: type[Material]) -> list[DocumentMaker[Any]]:
    """Return the makers that make documents from such material, in order."""
    return [maker for maker in makers().values() if maker.made_from is made_from]


def documents_of(material: Material) -> dict[DocumentKind, list[Document]]:
    """Return the documents of every kind that is made from this, in order.

    Raises:
        ConfigError: A maker returns something else than texts.
    """
    table_id = material.table_id
    return {
        maker.kind: [Document(table_id, maker.kind, text) for text in _texts(maker, material)]
        for maker in makers_from(type(material))
    }


def _texts(maker: DocumentMaker[Any], material: Material) -> list[str]:
    """Return what a maker says; one text alone would be taken for as many as it has letters."""
    made = maker.texts(material)
    texts = [made] if isinstance(made, str) else list(made)
    if isinstance(made, str) or not all(isinstance(text, str) for text in texts):
        raise ConfigError(
            f"the maker of documents of the kind {maker.kind!r} must return a list of texts; "
            "repair the package that brings it, or uninstall it"
        )
    return texts
