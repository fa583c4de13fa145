"""The interpreter: what a nest means, with races, bounds and phases checked."""
