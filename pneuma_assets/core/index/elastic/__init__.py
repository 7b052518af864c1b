"""The engine for more than one machine: Elasticsearch 9; how it works: docs/elasticsearch.md."""
