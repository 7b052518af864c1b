"""Rules that look at steps, queries and tables before and after they run, and say what misleads."""
