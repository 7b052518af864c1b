"""The embedded engine keeps the contract."""

from contextlib import ExitStack, closing

import pytest

from pneuma_assets.core.config.index import IndexConfig
from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from tests.conformance.index.builds import BuildsConformance
from tests.conformance.index.suite import SearchIndexConformance
from tests.conformance.index.support import ENCODER


class TestEmbeddedIndex(SearchIndexConformance, BuildsConformance):
    lexical_tolerance = 1e-5
    semantic_tolerance = 1e-6

    @pytest.fixture
    def index_factory(self, tmp_path):
        with ExitStack() as opened:

            def factory(encoder=ENCODER, dimension=None):
                index = EmbeddedIndex(tmp_path / "index", encoder, dimension or self.dimension)
                return opened.enter_context(closing(index))

            yield factory

    @pytest.fixture
    def deployed(self, tmp_path):
        return IndexConfig(), tmp_path
