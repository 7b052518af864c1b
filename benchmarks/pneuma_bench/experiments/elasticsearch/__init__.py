"""The Elasticsearch engine: writing, asking, quantization."""
