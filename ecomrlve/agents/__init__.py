"""Agents: the reference, baselines and cheats."""
