"""The computations of Bolt's figures and tables, in half precision where nothing else is said, and
the same by PyTorch.

problem = convolution(32, 56, 56, 64, 64, (3, 3), activation="relu", biased=True)
problem.dag, problem.peer(torch, tensors)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from tilewright.expr import operators as ops
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Tensor
from tilewright.expr.tensors import placeholder

Peer: TypeAlias = "Callable[[Any, Mapping[str, Any]], Any]"
"""What PyTorch computes, of its modules and of tensors by name."""

HALF = "float16"
ACTIVATIONS: Mapping[str, Callable[[Tensor], Tensor]] = {
    "relu": ops.relu, "gelu": ops.gelu, "hardswish": ops.hard_swish, "softplus": ops.softplus,
}  # fmt: skip
PRODUCTS = {
    "2048": (2048, 2048, 2048), "4096": (4096, 4096, 4096), "1280x3072x768": (1280, 3072, 768),
    "1280x768x3072": (1280, 768, 3072), "1280x768x768": (1280, 768, 768),
}  # fmt: skip
CONVOLUTIONS = {
    "56x56 64": (56, 64, 64), "28x28 128": (28, 128, 128), "14x14 256": (14, 256, 256),
    "7x7 512": (7, 512, 512),
}  # fmt: skip
PAIRS = {  # M, (N, K) of both
    "2464": (2464, (1, 4), (4, 1)), "16384": (16384, (64, 256), (16, 64)),
    "32768": (32768, (128, 576), (64, 128)), "128320": (128320, (32, 96), (96, 32)),
}  # fmt: skip
CONV_PAIRS = {  # size, channels in and out, stride
    "224x224 3-48": (224, 3, 48, 2), "112x112 48": (112, 48, 48, 2), "56x56 48": (56, 48, 48, 1),
    "224x224 3-64": (224, 3, 64, 2), "112x112 64": (112, 64, 64, 2), "56x56 64": (56, 64, 64, 1),
}  # fmt: skip
PADDED = {  # batch, height, width, channels in and out, kernel
    "20x26 46-32 3x3": (32, 20, 26, 46, 32, (3, 3)),
    "20x26 46-32 5x5": (32, 20, 26, 46, 32, (5, 5)),
    "14x19 46-32 5x7": (128, 14, 19, 46, 32, (5, 7)),
    "11x15 46-32 5x7": (288, 11, 15, 46, 32, (5, 7)),
    "20x26 174-64 3x3": (32, 20, 26, 174, 64, (3, 3)),
    "20x26 174-64 5x5": (32, 20, 26, 174, 64, (5, 5)),
}  # fmt: skip


def half(name: str, *shape: int, constant: bool = False, dtype: str = HALF) -> Tensor:
    return placeholder(shape, dtype, name=name, constant=constant)


@dataclass(frozen=True)
class Problem:
    """A computation, and the same by PyTorch, which may have `others`: ways that are faster."""

    dag: ComputeDAG
    peer: Peer
    others: Sequence[Peer] = ()


def product(
    m: int, n: int, k: int, activation: str = "", biased: bool = False, dtype: str = HALF
) -> Problem:
    """`[m, k]` by `[k, n]`, with what follows."""
    y = ops.matmul(half("x", m, k, dtype=dtype), half("w", k, n, constant=True, dtype=dtype))
    y, follow = _followed(y, n, activation, biased)
    return Problem(ComputeDAG([y]), lambda torch, t: follow(torch, t["x"] @ t["w"], t))


def products(m: int, first: tuple[int, int], second: tuple[int, int]) -> Problem:
    """Two products, each with ReLU."""
    (n0, k0), (n1, k1) = first, second
    y = ops.relu(ops.matmul(half("x", m, k0), half("w", k0, n0, constant=True)))
    y = ops.relu(ops.matmul(y, half("w1", k1, n1, constant=True), name="second"))

    def peer(torch: Any, t: Mapping[str, Any]) -> Any:
        return torch.relu(torch.relu(t["x"] @ t["w"]) @ t["w1"])

    return Problem(ComputeDAG([y]), peer)


def convolution(
    n: int, height: int, width: int, c: int, o: int, kernel: tuple[int, int],
    stride: int = 1, activation: str = "", biased: bool = False, dtype: str = HALF,
) -> Problem:  # fmt: skip
    """A convolution of images with channels last, padded by half of its kernel."""
    padding = tuple(k // 2 for k in kernel)
    y = ops.conv(
        half("x", n, height, width, c, dtype=dtype),
        half("w", *kernel, c, o, constant=True, dtype=dtype), stride=stride, padding=padding,
    )  # fmt: skip
    y, follow = _followed(y, o, activation, biased)

    def peer(torch: Any, t: Mapping[str, Any]) -> Any:
        z = torch.nn.functional.conv2d(_first(t["x"]), t["w"], None, stride, padding)
        return follow(torch, _last(z), t)

    return Problem(ComputeDAG([y]), peer)


def convolutions(n: int, size: int, c: int, o: int, stride: int) -> Problem:
    """3 x 3 and 1 x 1, each with bias and ReLU."""
    y = ops.conv(
        half("x", n, size, size, c), half("w", 3, 3, c, o, constant=True),
        half("b", o, constant=True), stride=stride, padding=1,
    )  # fmt: skip
    w1, b1 = half("w1", 1, 1, o, o, constant=True), half("b1", o, constant=True)
    y = ops.relu(ops.conv(ops.relu(y), w1, b1, name="second"))

    def peer(torch: Any, t: Mapping[str, Any]) -> Any:
        conv = torch.nn.functional.conv2d
        z = conv(_first(t["x"]), t["w"], t["b"], stride, 1)
        return _last(torch.relu(conv(torch.relu(z), t["w1"], t["b1"])))

    return Problem(ComputeDAG([y]), peer)


def pointwise(shape: Sequence[int], activation: str) -> Problem:
    """Bias and activation alone."""
    y, follow = _followed(half("y", *shape), shape[-1], activation, True)
    return Problem(ComputeDAG([y]), lambda torch, t: follow(torch, t["y"], t))


def _followed(
    y: Tensor, columns: int, activation: str, biased: bool
) -> tuple[Tensor, Callable[..., Any]]:
    """With a bias and an activation, and how PyTorch adds them."""
    if biased:
        y = ops.add(y, half("bias", columns, constant=True, dtype=y.dtype.name))
    if activation:
        y = ACTIVATIONS[activation](y)

    def follow(torch: Any, z: Any, t: Mapping[str, Any]) -> Any:
        z = z + t["bias"] if biased else z
        return getattr(torch.nn.functional, activation)(z) if activation else z

    return y, follow


def _first(x: Any) -> Any:
    """Channels first by name, last in memory."""
    return x.permute(0, 3, 1, 2)


def _last(y: Any) -> Any:
    return y.permute(0, 2, 3, 1)
