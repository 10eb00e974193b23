"""The environments' tasks: generate, verify, plan."""
