"""Language models, one module a back end."""
