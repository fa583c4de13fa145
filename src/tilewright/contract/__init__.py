"""What rooms hand to each other: genes, programs compiled, a task's surroundings."""
