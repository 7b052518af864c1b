"""Search indexes behind `base.SearchIndex`; the embedded engine is the default."""
