"""Questions about the tables of a set, each with the tables that answer it (Pneuma, section 6)."""
