"""Typed Dagster resources; each hands back a plain object of `pneuma_assets.core`."""
