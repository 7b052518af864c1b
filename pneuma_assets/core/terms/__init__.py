"""What is searched of a table by its words alone: its names, and what its rows say."""
