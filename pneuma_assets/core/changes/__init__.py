"""How much a table changed, and what of it: pure functions of what was known and what is."""
