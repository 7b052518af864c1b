"""A conversation that ends in the tables somebody needed (Pneuma-Seeker, CIDR 2026)."""
