"""PyTorch on the GPU, timed in CUDA graphs; on the CPU, to go through the code, as calls.

torch = Torch(on_gpu=True)
output, seconds = torch.problem(problem, arrays)
repeated = torch.repeated(call)
repeated.seconds(5)                 of a call, five times
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeAlias

import ml_dtypes
import numpy as np

from benchmarks.bolt_problems import Problem
from tilewright.contract.artifact import Array
from tilewright.runtime.device import Seconds

Call: TypeAlias = Callable[[], Any]
MOST_COPIES = 64  # of a call in a graph
ENOUGH_S = 1e-4  # of a graph


class Repeated(Protocol):
    """A call that is timed again and again."""

    def seconds(self, samples: int) -> Seconds:
        """Seconds of a call, so many times."""
        ...


class Torch:
    """See the module."""

    def __init__(self, on_gpu: bool) -> None:
        import torch

        self.torch = torch
        self.device = "cuda" if on_gpu else "cpu"
        torch.backends.cudnn.benchmark = True

    @property
    def version(self) -> str:
        """Its version, and that of cuDNN."""
        torch = self.torch
        return f"PyTorch {torch.__version__}, cuDNN {torch.backends.cudnn.version()}"

    def timed(self, call: Call, samples: int = 10) -> tuple[Array, float]:
        """Its output, and the seconds of a call."""
        found = self.output(call)
        return found, float(np.median(self.repeated(call).seconds(samples)))

    def output(self, call: Call) -> Array:
        """Its output, bfloat16 as float32."""
        torch = self.torch
        with torch.inference_mode():
            found = call()
            narrow = found.dtype == torch.bfloat16
            array: Array = (found.float() if narrow else found).cpu().numpy()
        return array

    def repeated(self, call: Call) -> Repeated:
        """A call as a graph of as many copies as take long enough for the clock."""
        if self.device == "cpu":
            return _Calls(self.torch, call)
        torch = self.torch
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.inference_mode(), torch.cuda.stream(side):
            for _ in range(3):
                call()
        torch.cuda.current_stream().wait_stream(side)
        copies = 1
        while True:
            found = _Graph(torch, call, copies)
            seconds = float(np.median(found.seconds(3))) * copies
            if seconds >= ENOUGH_S or copies == MOST_COPIES:
                return found
            copies = MOST_COPIES if copies == 1 and seconds < ENOUGH_S / 10 else copies * 8

    def tensors(self, arrays: Mapping[str, Array]) -> dict[str, Any]:
        """Arrays as tensors on the device."""
        torch = self.torch
        found = {}
        for name, array in arrays.items():
            narrow = array.dtype == ml_dtypes.bfloat16
            tensor = torch.from_numpy(array.view(np.int16) if narrow else array).to(self.device)
            found[name] = tensor.view(torch.bfloat16) if narrow else tensor
        return found

    def given(self, problem: Problem, arrays: Mapping[str, Array]) -> dict[str, Any]:
        """A problem's tensors. Weights of convolutions lie as cuDNN likes them."""
        tensors = self.tensors(arrays)
        for t in problem.dag.constants:
            if t.rank == 4:
                filters = tensors[t.name].permute(3, 2, 0, 1)
                last = self.torch.channels_last
                tensors[t.name] = filters.contiguous(memory_format=last)
        return tensors

    def problem(self, problem: Problem, arrays: Mapping[str, Array]) -> tuple[Array, float]:
        """The output of a problem's peer, and its seconds."""
        tensors = self.given(problem, arrays)
        return self.timed(lambda: problem.peer(self.torch, tensors))


class _Graph:
    """Copies of a call as a graph."""

    def __init__(self, torch: Any, call: Call, copies: int) -> None:
        self._torch, self._copies = torch, copies
        self._graph = torch.cuda.CUDAGraph()
        with torch.inference_mode(), torch.cuda.graph(self._graph):
            for _ in range(copies):
                call()

    def seconds(self, samples: int) -> Seconds:
        cuda = self._torch.cuda
        self._graph.replay()
        events = [cuda.Event(enable_timing=True) for _ in range(samples + 1)]
        events[0].record()
        for event in events[1:]:
            self._graph.replay()
            event.record()
        cuda.synchronize()
        spans = itertools.pairwise(events)
        return np.array([1e-3 * a.elapsed_time(b) / self._copies for a, b in spans])


class _Calls:
    """A call by the host's clock."""

    def __init__(self, torch: Any, call: Call) -> None:
        self._torch, self._call = torch, call

    def seconds(self, samples: int) -> Seconds:
        found = np.empty(samples)
        with self._torch.inference_mode():
            for i in range(samples):
                started = time.perf_counter()
                self._call()
                found[i] = time.perf_counter() - started
        return found
