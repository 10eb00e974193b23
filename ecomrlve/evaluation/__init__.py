"""Measuring agents and the environments themselves."""
