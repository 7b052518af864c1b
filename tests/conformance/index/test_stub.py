"""The engine that tests bring keeps the contract, too; it forgets when its process ends."""

from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from pneuma_assets.core.index.identity import Identity
from pneuma_assets.core.index.registry import Credentials, IndexPlace
from pneuma_assets.core.text.analysis import ENGLISH
from tests.conformance.index.suite import SearchIndexConformance
from tests.conformance.index.support import ENCODER
from tests.support.stub_index import StubKind, StubSection


class TestStubIndex(SearchIndexConformance):
    lexical_tolerance = 1e-5
    semantic_tolerance = 1e-6

    @pytest.fixture
    def index_factory(self, tmp_path: Path):
        place = IndexPlace(StubSection(), tmp_path, ENGLISH, Credentials())
        with ExitStack() as opened:

            def factory(encoder=ENCODER, dimension=None):
                wanted = Identity(encoder, dimension or self.dimension, ENGLISH.name)
                return opened.enter_context(closing(StubKind().open(place, wanted, building=True)))

            yield factory
