"""Arithmetic of indices and extents: canonical forms, ranges, divisions."""
