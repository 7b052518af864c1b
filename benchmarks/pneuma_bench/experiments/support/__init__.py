"""Corpora, models and figures that several benchmarks share."""
