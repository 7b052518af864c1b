"""What is measured, each beside a baseline or a peer in the same run."""
