"""What of tables is never read into anything: rules, and the source that keeps them."""
