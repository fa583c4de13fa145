"""PyTorch modules as graphs: exported to ONNX, then read as ONNX files are."""
