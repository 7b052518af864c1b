"""Language models that run here by transformers."""
