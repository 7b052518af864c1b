"""Retrievers of other packages, as `pneuma-bench paper --beside` runs them."""
