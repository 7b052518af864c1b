"""Dagster jobs over the assets."""
