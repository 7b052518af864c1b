"""The Elasticsearch engine keeps the contract, against a real server."""

from contextlib import ExitStack, closing
from typing import ClassVar

import pytest

from pneuma_assets.core.config.elasticsearch import ElasticsearchConfig
from pneuma_assets.core.config.index import IndexConfig
from pneuma_assets.core.index.elastic.engine import ElasticsearchIndex
from tests.conformance.index.builds import BuildsConformance
from tests.conformance.index.search import FilterConformance, SearchConformance
from tests.conformance.index.suite import SearchIndexConformance
from tests.conformance.index.support import ENCODER, Conformance
from tests.support.elasticsearch_index import reindex_on

pytestmark = pytest.mark.integration


class OnElasticsearch(Conformance):
    """Opens every index of a test on the shared server, under a name of the test's own."""

    # Lucene rounds the lengths of blocks from 40 terms up; the suite's blocks are shorter.
    lexical_tolerance = 1e-5
    semantic_tolerance = 1e-5
    exact_under_rights = False
    replacements = 12
    options: ClassVar[dict[str, object]] = {}

    @pytest.fixture
    def index_factory(self, elasticsearch_url, index_name):
        self.config = ElasticsearchConfig(
            urls=(elasticsearch_url,), name=index_name, **self.options
        )
        with ExitStack() as opened:

            def factory(encoder=ENCODER, dimension=None):
                index = ElasticsearchIndex(
                    self.config, encoder, dimension or self.dimension, retention_seconds=10.0
                )
                return opened.enter_context(closing(index))

            yield factory

    def settle(self, index):
        """Build the index anew: merging drops removed blocks only half a minute later."""
        reindex_on(self.config)


class TestElasticsearchIndex(OnElasticsearch, SearchIndexConformance, BuildsConformance):
    """With the defaults: one shard, bbq."""

    @pytest.fixture
    def deployed(self, elasticsearch_url, index_name, tmp_path):
        server = ElasticsearchConfig(urls=(elasticsearch_url,), name=index_name)
        return IndexConfig(engine="elasticsearch", elasticsearch=server), tmp_path


class TestInt8OverThreeShards(OnElasticsearch, SearchConformance, FilterConformance):
    options: ClassVar = {"quantization": "int8", "shards": 3}


class TestUnquantized(OnElasticsearch, SearchConformance, FilterConformance):
    options: ClassVar = {"quantization": "none"}
