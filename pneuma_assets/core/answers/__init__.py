"""Answers: cells with the SQL that gave them, and what SQL that a model wrote may do."""
