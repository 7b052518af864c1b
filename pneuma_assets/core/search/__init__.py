"""Answering questions: fused search, the judge, and the query over both (section 5.1)."""
