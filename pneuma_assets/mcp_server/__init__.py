"""Tools for agents by the Model Context Protocol, over the workspace."""
