"""Doors for trainers."""
