"""The page and the HTTP interface: one process that asks the workspace for whoever asks it."""
