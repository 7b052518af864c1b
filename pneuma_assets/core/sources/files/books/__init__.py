"""Files that hold several tables each: workbooks and SQLite databases."""
