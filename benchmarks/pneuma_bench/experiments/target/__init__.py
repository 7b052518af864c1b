"""This project's figures beside those of the package `target_benchmark`."""
