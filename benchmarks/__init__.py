"""Scripts that measure what the project claims; run them as `python -m benchmarks.NAME`."""
