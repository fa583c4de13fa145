"""The parts of benchmarks/gpu_suite.py: packed where there is no GPU, run where there is one.

cases (what is computed) ─► build (all programs) ─► pack (files) ─► verify, speed (on the device)
"""
