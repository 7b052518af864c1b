"""The kinds of source that are built in: what each says in a deployment file, and how it opens."""
