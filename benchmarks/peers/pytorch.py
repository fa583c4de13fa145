"""PyTorch in its best mode for a problem, found by a short trial.

mode, call = fastest(problem, threads=2)       ("compile, channels-last", call)

Modes: eager and torch.compile (frozen: weights are constants, so it may rearrange them once), each
with channels-first and, for convolutions of rank 2 and 3, channels-last tensors.
"""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Callable
from statistics import median

import torch
import torch._inductor.config
from torch import Tensor, nn
from torch.nn import functional

from benchmarks.peers.problems import Problem

TRIAL_S = 0.15  # of one mode
WARM_CALLS = 3
LEAST_CALLS = 3
CHANNELS_LAST = {2: torch.channels_last, 3: torch.channels_last_3d}
CONVOLUTIONS = {
    "conv": (functional.conv1d, functional.conv2d, functional.conv3d),
    "conv_transpose": (
        functional.conv_transpose1d, functional.conv_transpose2d, functional.conv_transpose3d
    ),
}  # fmt: skip


class Convolution(nn.Module):
    """`conv` and `conv_transpose` of any rank, with bias and ReLU where the problem has them."""

    def __init__(self, problem: Problem) -> None:
        super().__init__()
        assert problem.weight is not None
        self.weight = nn.Parameter(torch.from_numpy(problem.weight), requires_grad=False)
        bias = None if problem.bias is None else torch.from_numpy(problem.bias)
        self.bias = None if bias is None else nn.Parameter(bias, requires_grad=False)
        self.function = CONVOLUTIONS[problem.kind][problem.rank - 1]
        self.options = {
            "stride": problem.stride,
            "padding": problem.padding,
            "dilation": problem.dilation,
            "groups": problem.groups,
        }
        self.relu = problem.relu

    def forward(self, x: Tensor) -> Tensor:
        y = self.function(x, self.weight, self.bias, **self.options)
        return functional.relu(y) if self.relu else y


class Product(nn.Module):
    """`matmul`."""

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        return a @ b


class Norm(nn.Module):
    """`norm`: one figure a matrix."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.linalg.vector_norm(x, dim=(-2, -1))


class Scores(nn.Module):
    """`scores`: [n, length, heads, hidden] twice -> softmax of [n, heads, length, length]."""

    def forward(self, q: Tensor, k: Tensor) -> Tensor:
        return (q.transpose(1, 2) @ k.permute(0, 2, 3, 1)).softmax(-1)


KINDS: dict[str, Callable[[Problem], nn.Module]] = {
    "conv": Convolution,
    "conv_transpose": Convolution,
    "matmul": lambda _: Product(),
    "norm": lambda _: Norm(),
    "scores": lambda _: Scores(),
}


def fastest(problem: Problem, threads: int) -> tuple[str, Callable[[], Tensor]]:
    """The mode with the least median time of a call, and that call.

    A mode that PyTorch fails to build is left out, with a line on standard error; raises
    RuntimeError when it fails in all of them.
    """
    torch.set_num_threads(threads)
    torch._inductor.config.freezing = True
    layouts = ["", "channels-last"] if problem.weight is not None and problem.rank > 1 else [""]
    best: tuple[float, str, Callable[[], Tensor]] | None = None
    for program, layout in itertools.product(("eager", "compile"), layouts):
        mode = ", ".join(filter(None, (program, layout)))
        try:
            call = _call(problem, program, layout)
            taken = _trial(call)
        except Exception as error:
            print(f"torch {mode}: {error}", file=sys.stderr)
            continue
        if best is None or taken < best[0]:
            best = taken, mode, call
    if best is None:
        raise RuntimeError("PyTorch runs this case in no mode")
    return best[1], best[2]


def _call(problem: Problem, program: str, layout: str) -> Callable[[], Tensor]:
    module = KINDS[problem.kind](problem).eval()
    inputs = [torch.from_numpy(x) for x in problem.inputs]
    if layout:
        memory_format = CHANNELS_LAST[problem.rank]
        module = module.to(memory_format=memory_format)
        inputs = [x.contiguous(memory_format=memory_format) for x in inputs]
    function = torch.compile(module) if program == "compile" else module

    def call() -> Tensor:
        with torch.inference_mode():
            result: Tensor = function(*inputs)
        return result

    return call


def _trial(call: Callable[[], Tensor]) -> float:
    for _ in range(WARM_CALLS):
        call()
    taken: list[float] = []
    begun = time.perf_counter()
    while len(taken) < LEAST_CALLS or time.perf_counter() - begun < TRIAL_S:
        started = time.perf_counter()
        call()
        taken.append(time.perf_counter() - started)
    return median(taken)
