"""The stages as Dagster assets, their checks, and the tables' pages in the UI."""
