"""What a question names: columns and values, and the tables that have them."""
