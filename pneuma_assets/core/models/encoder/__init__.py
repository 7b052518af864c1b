"""Sentence encoders, which embed blocks and questions."""
