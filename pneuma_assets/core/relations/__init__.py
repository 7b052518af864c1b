"""How tables relate: joins that nobody declared, and copies of one another; pure."""
