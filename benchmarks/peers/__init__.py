"""The sides of a comparison: Tilewright and libraries, each in a process of its own.

problems.py        a case as libraries state it: channels-first arrays, one table of operators
onnx_models.py     the same as an ONNX model
sides.py           the table of sides: how each is built and called
worker.py          the process of one side and one case
process.py         the benchmark's handle of such a process: asked over pipes, else stopped
"""
