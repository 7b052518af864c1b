"""Both engines beside each other: the same answers."""
