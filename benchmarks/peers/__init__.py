"""The sides of a comparison: Tilewright and libraries, each in a process of its own.

subjects.py        what is compared, as every side takes it: a protocol and the table of kinds
operator_subject.py  an operator of the published benchmark
network_subject.py   a network from its ONNX file
problems.py        an operator as libraries state it: channels-first arrays, one table
onnx_models.py     the same as an ONNX model; modules.py as a PyTorch module
pytorch.py         PyTorch's best mode
sides.py           the table of sides: how each is built and called
worker.py          the process of one side and one subject
process.py         the benchmark's handle of such a process: asked over pipes, else stopped
"""
