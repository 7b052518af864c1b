"""Retrieval metrics and benchmark runners."""
