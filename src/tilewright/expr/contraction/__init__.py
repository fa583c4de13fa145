"""Contractions as products of matrices: factors in memory, groups of axes, what follows sums."""
