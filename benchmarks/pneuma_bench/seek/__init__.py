"""Conversations of which the right end is known: needs, the lake they are about, who asks."""
