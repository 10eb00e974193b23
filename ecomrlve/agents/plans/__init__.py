"""The reference plans, one per kind of intent: how a careful agent solves it with what any agent can see."""
