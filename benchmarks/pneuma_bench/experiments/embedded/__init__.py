"""The embedded engine beside other engines, and the latency of a question."""
