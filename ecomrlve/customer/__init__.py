"""The simulated customer: what it wants, knows, understands and says."""
