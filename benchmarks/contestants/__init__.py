"""Retrievers of other packages, as `pneuma-assets bench paper --beside` runs them."""
