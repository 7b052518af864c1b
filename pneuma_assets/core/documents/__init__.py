"""What is said of a table, one module a kind of document, and how it is packed into blocks."""
