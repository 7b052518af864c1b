"""Octopus's benchmarks of tables, sets of tables and cells (sections 6 and 7)."""
