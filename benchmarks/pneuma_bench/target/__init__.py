"""The formats and the tasks of the TARGET benchmark (Ji et al., 2025)."""
