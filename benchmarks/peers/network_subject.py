"""A network of `benchmarks.models` as a subject; every side starts from its ONNX file or module.

Tilewright's side reports what compiling cost, too: CPU seconds (of the processes that it starts,
too), and the memory by which this process grew at most, from reading the file to the first result.
Untuned kernels are compiled anew for that, not taken from the user's cache. `overhead` is the part
of a native run that passes outside of kernels.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from math import prod
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.models.export import path_of
from benchmarks.models.narrow import NARROW
from benchmarks.models.shaped import SHAPED, CachedNetwork
from benchmarks.models.table import CASES
from benchmarks.peers.subjects import Side, device_clock
from tilewright.contract.artifact import Array
from tilewright.target import Target

if TYPE_CHECKING:
    from torch import nn

MIB = 2**20
PROFILED = 10  # runs
NEAR_SHAPES = 5


class NetworkSubject:
    """A case of `benchmarks.models.table` by name; its ONNX file is in `folder`."""

    math = "float32"
    shapes: Mapping[str, Any] | None = None
    state: str | None = None

    def __init__(self, name: str, folder: Path) -> None:
        """Raises KeyError for a name that there is not."""
        self.case = CASES[name]
        self.file = path_of(self.case, folder)
        self.inputs = self.case.inputs()
        self.rank = self.case.network.rank

    def tilewright(self, target: Target, db: Path | None) -> Side:
        import tilewright as tw
        from tilewright.runtime.buffers import aligned_empty

        records = db if db is not None and db.exists() else None
        inputs = []
        for given in self.inputs:
            inputs.append(aligned_empty(given.shape, given.dtype))
            np.copyto(inputs[-1], given)
        _warm_up(tw, target)
        before = _memory("VmRSS")
        with _cold_cache() if records is None else contextlib.nullcontext():
            started = _cpu_s()
            model = tw.load(self.file)
            imported = _cpu_s()
            net = tw.compile(model, records, target=target)
            compiled = _cpu_s()
        net(*inputs)
        calls, tasks = len(model.partition.subgraphs), len(model.partition.tasks)
        facts: dict[str, Any] = {
            "import_s": imported - started,
            "compile_s": compiled - imported,
            "peak_memory_mib": (_memory("VmHWM") - before) / MIB,
            "weights_mib": self.file.stat().st_size / MIB,
            "activations_mib": net.artifact.scratch_bytes / MIB,
            "kernel_calls": calls,
            "tasks": tasks,
        }
        profile = net.profile(inputs, PROFILED)
        facts["overhead"] = 1 - profile.kernels_s / profile.latency_s
        mode = "untuned" if records is None else "tuned"
        clock = device_clock(net.function, inputs)
        return Side(lambda: net(*inputs), lambda: net(*inputs)[0], mode, facts, clock)

    def onnx(self) -> str:
        return str(self.file)

    def module(self) -> nn.Module:
        return self.case.module()

    def restore(self, y: Array) -> Array:
        return y


class ServedNetwork(NetworkSubject):
    """The same for what times calls alone: compiled with the user's cache, without figures of the
    build, called on the peers' arrays.
    """

    def tilewright(self, target: Target, db: Path | None) -> Side:
        net, mode = self._compiled(target, db)
        return Side(lambda: net(*self.inputs), lambda: net(*self.inputs)[0], mode)

    def moved_bytes(self) -> int:
        """What is read and written at least, but for weights: all inputs and outputs."""
        import onnx

        written = 0
        for y in onnx.load(self.file).graph.output:
            tensor = y.type.tensor_type
            dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
            written += dtype.itemsize * prod(d.dim_value for d in tensor.shape.dim)
        return written + sum(x.nbytes for x in self.inputs)

    def _compiled(self, target: Target, db: Path | None) -> tuple[Any, str]:
        import tilewright as tw

        records = db if db is not None and db.exists() else None
        net = tw.compile(
            tw.load(self.file, shapes=self.shapes, math=self.math, state=self.state),
            records,
            target=target,
        )
        return net, "untuned" if records is None else "tuned"


class NarrowSubject(ServedNetwork):
    """A case of `benchmarks.models.narrow` by name; its ONNX file is in `folder`. Factors of an
    `is_exact` one are not rounded.
    """

    def __init__(self, name: str, folder: Path, is_exact: bool = False) -> None:
        """Raises KeyError for a name that there is not."""
        self.narrow = NARROW[name]
        self.file = self.narrow.path(folder)
        self.math = "float32" if is_exact else self.narrow.math
        self.inputs, self.rank = self.narrow.inputs(), self.narrow.rank

    def module(self) -> nn.Module:
        """Raises LookupError where the file alone says what is computed."""
        import torch

        case = self.narrow
        if case.math == "float32":
            raise LookupError(f"{case.name} is no PyTorch module")
        if not case.shape:
            return CASES[case.subject].module()
        w = torch.from_numpy(case.weights())
        if w.ndim == 2:
            made: nn.Module = torch.nn.Linear(*w.shape, bias=False)
            w = w.T
        else:
            stride, padding = case.shape[5:]
            window = {"stride": stride, "padding": padding, "bias": False}
            made = torch.nn.Conv2d(w.shape[1], w.shape[0], w.shape[2], **window)
        made.load_state_dict({"weight": w})
        return made.eval()


class ShapedSubject(ServedNetwork):
    """A case of `benchmarks.models.shaped` by name, of the network for its range or of a `static`
    one; its ONNX file is in `folder`.
    """

    def __init__(self, name: str, folder: Path, is_static: bool) -> None:
        """Raises KeyError for a name that there is not."""
        self.shaped, self.is_static = SHAPED[name], is_static
        self.file = self.shaped.network.file(folder)
        self.named = self.shaped.inputs()
        self.inputs = tuple(self.named.values())
        self.shapes = self.shaped.shapes(is_static)
        self.rank = self.shaped.network.rank
        self.state = None if is_static else self.shaped.network.state
        self.is_bound = isinstance(self.shaped.network, CachedNetwork)

    def module(self) -> nn.Module:
        """Raises LookupError for a network that is no module."""
        if isinstance(self.shaped.network, CachedNetwork):
            raise LookupError(f"{self.shaped.network.name} is no PyTorch module")
        return CASES[self.shaped.network.case].module()

    def tilewright(self, target: Target, db: Path | None) -> Side:
        """Also: what the first call of a shape near this one takes longer than the second, after a
        call of the most, which used all memory.
        """
        net, mode = self._compiled(target, db)
        most = {name: ends[1] for name, ends in self.shaped.network.ranges.items()}
        before = replace(self.shaped, values=most).inputs()
        calls = self._stream if self.state is not None else _called
        longer = [0.0]
        if not self.is_static:
            calls(net, before)()
            others = (calls(net, one.inputs()) for one in self.shaped.near(NEAR_SHAPES))
            longer = [_seconds(call) - _seconds(call) for call in others]
        call = calls(net, self.named)
        facts = {
            "first_call_ms": 1e3 * median(longer),
            "code_bytes": sum(len(a.object_code) for a in (net.artifact, *net.kernels)),
            "arena_bytes": net.artifact.scratch_bytes,
        }
        return Side(call, lambda: call()[0], mode, facts)

    def _stream(self, net: Any, inputs: Mapping[str, Array]) -> Callable[[], Any]:
        """A token behind a cache of these inputs, again and again; what an encoder gave stays."""
        network = self.shaped.network
        assert isinstance(network, CachedNetwork)
        decoder = network.decoder
        stream = net.stream({name: inputs[name] for name in decoder.crossed})
        stream.fill({name: inputs[name] for name in decoder.states})
        new = [inputs[spec.name] for spec in stream.inputs]

        def call() -> Any:
            results = stream(*new)
            stream.rewind(1)
            return results

        return call


def _seconds(call: Callable[[], Any]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def _called(net: Any, inputs: Mapping[str, Array]) -> Callable[[], Any]:
    return partial(net, *inputs.values())


def _warm_up(tw: Any, target: Any) -> None:
    """Compile and run a product, so that libraries are loaded, with the pages of their code that
    compilation touches, and do not count.
    """
    x, w = tw.placeholder((64, 64), name="x"), tw.placeholder((64, 64), name="w", constant=True)
    k = tw.reduce_axis(64, "k")
    y = tw.compute((64, 64), lambda i, j: tw.sum(x[i, k] * w[k, j], k), name="y")
    with _cold_cache():
        compiled = tw.compile(tw.Task([x, w, y]), target=target)
    zeros = np.zeros((64, 64), np.float32)
    compiled.prepare({"w": zeros})
    compiled(zeros)


def _cpu_s() -> float:
    """CPU seconds of this process and of those that it started and that have ended."""
    return sum(os.times()[:4])


def _memory(field: str) -> int:
    """Bytes of this process: VmRSS now, VmHWM the most ever."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"/proc/self/status has no {field}")


@contextlib.contextmanager
def _cold_cache() -> Iterator[None]:
    """An empty folder for compiled kernels."""
    usual = os.environ.get("TILEWRIGHT_CACHE")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TILEWRIGHT_CACHE"] = folder
        try:
            yield
        finally:
            del os.environ["TILEWRIGHT_CACHE"]
            if usual is not None:
                os.environ["TILEWRIGHT_CACHE"] = usual
