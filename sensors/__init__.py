"""Dagster schedules, and later the sensors that watch sources for change."""
