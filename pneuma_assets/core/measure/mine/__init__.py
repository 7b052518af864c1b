"""Questions about a deployment's own tables, asked again when models or options change."""
