"""Turning a schema into descriptions of its columns (Pneuma, section 4)."""
