"""Runs Python that a model or a person wrote, in a process that can compute and nothing else."""
