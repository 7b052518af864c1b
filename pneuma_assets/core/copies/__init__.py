"""Which tables are copies of which, told by their names, columns and rows."""
