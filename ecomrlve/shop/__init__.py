"""The world an agent can change."""
