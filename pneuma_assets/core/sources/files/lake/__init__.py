"""Tables of many files: Delta, Iceberg and the folders that Spark writes; and Arrow's batches."""
