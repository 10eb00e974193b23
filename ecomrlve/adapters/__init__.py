"""Doors for trainers of other people: TRL's `GRPOTrainer` with its own tool loop, and SkyRL on Ray."""
