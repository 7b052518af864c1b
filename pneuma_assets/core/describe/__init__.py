"""Texts about tables and columns: what is said, by whom, and how it is packed into blocks."""
