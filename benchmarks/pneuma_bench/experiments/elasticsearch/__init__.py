"""Elasticsearch beside the embedded engine."""
