"""Where tables come from: one module a kind of source, all behind `base.Source`."""
