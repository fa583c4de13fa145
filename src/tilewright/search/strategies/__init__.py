"""Search strategies: what proposes programs, and what they remember."""
