"""PyTorch's tensors and NumPy's arrays over the same memory.

    array_of(tensor), tensor_of(array)
    alike([x], [y])                  y as a tensor if x is one

PyTorch is never imported here: who gives a tensor has done so. NumPy's bfloat16 (of ml_dtypes) and
PyTorch's know nothing of each other, so these pass as integers of the same width.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from tilewright.contract.artifact import Array, numpy_dtype

BFLOAT16 = numpy_dtype("bfloat16")


def is_tensor(value: Any) -> bool:
    """Whether it is a tensor of PyTorch's."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def array_of(tensor: Any) -> Array:
    """The memory of a tensor as an array; a tensor on another device is copied."""
    torch = sys.modules["torch"]
    if tensor.dtype == torch.bfloat16:
        narrow: Array = tensor.detach().view(torch.int16).numpy(force=True)
        return narrow.view(BFLOAT16)
    array: Array = tensor.numpy(force=True)
    return array


def tensor_of(array: Any) -> Any:
    """The memory of an array, of NumPy's or on a device, as a tensor."""
    torch = sys.modules["torch"]
    if not isinstance(array, np.ndarray):
        return torch.from_dlpack(array)
    if array.dtype == BFLOAT16:
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def alike(inputs: Iterable[Any], outputs: Sequence[Any]) -> list[Any]:
    """`outputs` as tensors if one of `inputs` is a tensor, else as they are."""
    if any(map(is_tensor, inputs)):
        return [tensor_of(y) for y in outputs]
    return list(outputs)
