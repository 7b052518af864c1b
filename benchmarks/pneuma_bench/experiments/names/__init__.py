"""How often a name that is typed in finds what bears it."""
