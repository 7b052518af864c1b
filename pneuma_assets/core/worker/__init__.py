"""Processes that work for this one, and may be killed at any moment."""
