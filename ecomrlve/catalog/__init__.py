"""Products: the store, sources, variants, search."""
