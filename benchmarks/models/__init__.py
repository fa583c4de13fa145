"""The benchmarked networks: one file an architecture in plain PyTorch, and the table of cases.

table.py        names, inputs and batches; imports no PyTorch
weights.py      seeded random weights whose activations keep a sensible size
export.py       a case as an ONNX file, kept in a folder
resnet50.py     ResNet-50 again, written as ONNX directly: the demo needs no PyTorch
"""
