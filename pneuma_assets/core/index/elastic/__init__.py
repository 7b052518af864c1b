"""The engine for more than one machine, Elasticsearch 9 (docs/elasticsearch.md)."""

from pneuma_assets.core.errors import ConfigError
from pneuma_assets.core.extras import require

require("the search engine elasticsearch", ConfigError, "elasticsearch", "orjson")
