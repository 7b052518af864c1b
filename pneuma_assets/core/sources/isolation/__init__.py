"""Each source read by a process of its own, which may be ended."""
