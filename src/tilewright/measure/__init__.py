"""Measure candidates in worker processes, behind a correctness gate."""
