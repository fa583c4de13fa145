"""Tilewright: a search-based tensor-program compiler."""

__version__ = "0.1.0"
