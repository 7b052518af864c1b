"""Whole runs and the status, a table at a time."""
