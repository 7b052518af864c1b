"""How well an index answers: known answers, its own questions, and descriptions of columns."""
