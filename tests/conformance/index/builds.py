"""A build is made beside the index that readers use, and takes its place: blue and green."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from pneuma_assets.core.config.index import IndexConfig
from pneuma_assets.core.errors import IndexMismatchError, SearchIndexError
from pneuma_assets.core.index.base import SearchIndex
from pneuma_assets.core.index.registry import (
    begin_rebuild,
    inspect_index,
    open_index,
    publish_index,
    reindex,
)
from tests.conformance.index.support import ENCODER, Conformance

NEW, THIRD = "encoder-b", "encoder-c"
Opener = Callable[..., SearchIndex]


class BuildsConformance(Conformance):
    """An engine's subclass defines `deployed`, too."""

    @pytest.fixture
    def deployed(self) -> tuple[IndexConfig, Path]:
        """The configuration of an index that nobody has made, and the state folder."""
        raise NotImplementedError

    @pytest.fixture
    def opened(self, deployed) -> Iterator[Opener]:
        with ExitStack() as stack:

            def opener(encoder=ENCODER, *, building=False):
                index = open_index(*deployed, encoder, self.dimension, building=building)
                return stack.enter_context(closing(index))

            yield opener

    @pytest.fixture
    def old(self, opened) -> SearchIndex:
        """What readers use, with one table."""
        opened(building=True).replace_tables({"s/a": self.full_contents("s/a")})
        return opened()

    def begin(self, deployed, encoder) -> None:
        begin_rebuild(*deployed, encoder, self.dimension)

    def test_it_takes_its_place_when_it_is_published(self, deployed, opened, old):
        self.begin(deployed, NEW)
        building = opened(NEW, building=True)
        building.replace_tables({"s/b": self.full_contents("s/b")})
        with pytest.raises(IndexMismatchError):
            opened(NEW)
        assert (list(old.list_tables()), list(building.list_tables())) == (["s/a"], ["s/b"])
        assert publish_index(*deployed, building.build)
        assert not publish_index(*deployed, building.build)
        assert list(opened(NEW).list_tables()) == list(building.list_tables()) == ["s/b"]
        with pytest.raises(IndexMismatchError):
            old.list_tables()

    def test_readers_of_the_same_encoder_are_not_disturbed(self, deployed, opened, old):
        self.begin(deployed, ENCODER)
        building = opened(building=True)
        building.replace_tables({"s/b": self.full_contents("s/b")})
        assert self.lexical_texts(old, "alpha") == ["alpha"]
        assert list(old.list_tables()) == ["s/a"]
        assert publish_index(*deployed, building.build)
        assert self.lexical_texts(old, "alpha") == ["alpha"]
        assert list(old.list_tables()) == ["s/b"]

    def test_what_was_begun_is_gone_on_with_unless_another_is_wanted(self, deployed, opened, old):
        self.begin(deployed, NEW)
        begun = opened(NEW, building=True)
        begun.replace_tables({"s/b": self.full_contents("s/b")})
        self.begin(deployed, NEW)
        assert list(opened(NEW, building=True).list_tables()) == ["s/b"]
        first = begun.build
        self.begin(deployed, THIRD)
        assert list(opened(THIRD, building=True).list_tables()) == []
        assert not publish_index(*deployed, first)
        assert list(old.list_tables()) == ["s/a"]

    def test_what_is_searched_is_not_published(self, deployed, old):
        assert not publish_index(*deployed, old.build)
        self.begin(deployed, NEW)
        assert not publish_index(*deployed, old.build)
        assert list(old.list_tables()) == ["s/a"]

    def test_a_copy_has_other_rules_of_words_and_readers_follow(self, deployed, opened, old):
        config, home = deployed
        german = config.model_copy(update={"analyzer": "german"})
        reindex(german, home)
        assert inspect_index(*deployed).details["analyzer"] == "german-2"
        with closing(open_index(german, home, ENCODER, self.dimension)) as renewed:
            assert dict(renewed.contents())["s/a"].evidence == self.full_contents("s/a").evidence
        with pytest.raises(IndexMismatchError):
            old.list_tables()
        reindex(*deployed)
        assert self.lexical_texts(old, "alpha") == ["alpha"]

    def test_what_is_being_built_is_not_copied(self, deployed, old):
        self.begin(deployed, NEW)
        with pytest.raises(SearchIndexError, match=r"is being rebuilt as .*'pneuma-assets index'"):
            reindex(*deployed)
        assert list(old.list_tables()) == ["s/a"]

    def test_of_several_who_copy_at_once_nobody_loses_a_table(self, deployed, opened, old):
        gate = threading.Barrier(3)

        def copy() -> None:
            gate.wait()
            reindex(*deployed)

        with ThreadPoolExecutor(3) as pool:
            for one in [pool.submit(copy) for _ in range(3)]:
                one.result()
        assert list(old.list_tables()) == ["s/a"]
        opened(building=True).replace_tables({"s/b": self.full_contents("s/b")})
        assert list(old.list_tables()) == ["s/a", "s/b"]

    def test_where_there_is_no_index_nothing_is_begun(self, deployed):
        self.begin(deployed, NEW)
        assert not publish_index(*deployed, "none")
        with pytest.raises(SearchIndexError, match="run 'pneuma-assets index'"):
            reindex(*deployed)
        assert inspect_index(*deployed) is None
