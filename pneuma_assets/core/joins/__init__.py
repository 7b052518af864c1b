"""Which tables can be joined with which, by which columns, and which sets of them answer."""
