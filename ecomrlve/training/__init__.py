"""Training with the environments."""
