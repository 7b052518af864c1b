"""Listing and reading: large, tiny, many and hostile files."""
