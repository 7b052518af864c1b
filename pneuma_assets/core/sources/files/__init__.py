"""Files as tables, in a folder or in an S3 bucket."""
