"""The acts by which steps make tables: SQL and Python, and those that need no code."""
