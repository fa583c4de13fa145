"""The version, for every layer."""

__version__ = "0.1.0"
