"""The embedded engine: SQLite files in a folder, and arrays in memory that are searched."""
