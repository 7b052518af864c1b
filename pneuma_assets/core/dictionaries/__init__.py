"""Documents that say what the columns of tables mean."""
