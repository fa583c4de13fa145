"""Runs functions on arrays of CUDA's; started by test_cuda_arrays.py as cuda_program.py is.

python cuda_array_program.py FOLDER        -> FOLDER/results.json
"""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
from cuda_program import FOLDER, LIBRARY, binary, calls, error_of, function
from gpu_cases import CASES

from tilewright.build.compile import build_nest
from tilewright.contract.gene import Gene
from tilewright.graph.builder import GraphBuilder
from tilewright.graph.partition import partition
from tilewright.network.link import linked
from tilewright.runtime import dlpack
from tilewright.runtime.cuda import CudaDevice
from tilewright.runtime.cuda_arrays import CudaArray
from tilewright.runtime.device import DeviceFunction
from tilewright.space.space import Space
from tilewright.target import Target

Array = np.ndarray[Any, Any]
COPIES = ("cuMemcpyHtoDAsync", "cuMemcpyDtoHAsync")


class Interface:
    """Somebody's array with `__cuda_array_interface__`; `changes` are made to it."""

    def __init__(self, device: CudaDevice, array: Array, offset: int = 0, **changes: Any) -> None:
        self.memory = device.allocate(array.nbytes + offset)
        self.address = self.memory.address + offset
        if not offset:
            device.upload(array, self.memory)
        self.shape = array.shape
        self.__cuda_array_interface__ = {
            "version": 3,
            "shape": array.shape,
            "typestr": array.dtype.str,
            "data": (self.address, False),
            **changes,
        }


class Tensor:
    """Somebody's array with DLPack, as PyTorch's tensors are."""

    def __init__(self, device: CudaDevice, array: Array, number: int = 0) -> None:
        self.memory = device.allocate(array.nbytes)
        device.upload(array, self.memory)
        self.shape, self.dtype, self.number = array.shape, array.dtype, number
        self.streams: list[int] = []

    def detach(self) -> Tensor:
        return self

    def __dlpack_device__(self) -> tuple[int, int]:
        return dlpack.CUDA, self.number

    def __dlpack__(self, *, stream: int) -> Any:
        self.streams.append(stream)
        return dlpack.exported(
            self.memory, self.memory.address, self.shape, self.dtype, self.number
        )


def copies() -> int:
    """Copies between the CPU and the device so far."""
    return sum(map(calls, COPIES))


def values_of(results: Sequence[Any]) -> list[Any]:
    """On the CPU."""
    return [r if isinstance(r, np.ndarray) else r.numpy() for r in results]


def products(device: CudaDevice) -> dict[str, Any]:
    """A matrix product whose operands are here and there: how far from the math, how many copies,
    what comes.
    """
    gemm, arrays = function("gemm", device), CASES["gemm"].arrays()
    a, b = (arrays[name] for name in ("A", "B"))
    (expected,) = CASES["gemm"].dag().evaluate(arrays).values()
    result, host = Interface(device, np.zeros_like(expected)), np.zeros_like(expected)
    tensor = Tensor(device, b)
    waited = calls("cuStreamWaitEvent")
    cases: dict[str, Callable[[], list[Any]]] = {
        "interface": lambda: gemm(Interface(device, a), B=Interface(device, b, stream=1)),
        "dlpack": lambda: gemm(Tensor(device, a), tensor),
        "mixed": lambda: gemm(a, Interface(device, b)),
        "out": lambda: gemm(Interface(device, a), Interface(device, b), out=[result]),
        "out_of_numpy": lambda: gemm(a, b, out=[result]),
        "numpy_out": lambda: gemm(Interface(device, a), Interface(device, b), out=[host]),
        "numpy": lambda: gemm(a, b),
    }
    found: dict[str, Any] = {}
    for name, call in cases.items():
        before = copies()
        (y,) = call()
        kind, moved = type(y).__name__, copies() - before
        if y is result:
            y = CudaArray(device, result.memory, expected.shape, expected.dtype)
        (y,) = values_of([y])
        found[name] = [float(np.abs(y - expected).max()), kind, moved]
    found["stream"] = set(tensor.streams) == {int(device.stream)}
    found["waited"] = calls("cuStreamWaitEvent") - waited
    found["timed"] = len(gemm.bench((Tensor(device, a), tensor), 3))
    return found


def errors(device: CudaDevice) -> dict[str, str]:
    """What is said of arrays that do not fit."""
    gemm, arrays = function("gemm", device), CASES["gemm"].arrays()
    a, b = (arrays[name] for name in ("A", "B"))
    good = Interface(device, b)
    result = Interface(device, np.zeros((32, 32), np.float32))
    wrong = {
        "dtype": Interface(device, a.astype(np.float64)),
        "shape": Interface(device, np.ascontiguousarray(a.T)),
        "strides": Interface(device, a, strides=(4, 128)),
        "device": Tensor(device, a, number=1),
        "alignment": Interface(device, a, offset=4),
        "nowhere": Interface(device, a, data=(4096, False)),
    }
    found = {name: error_of(lambda x=x: gemm(x, good)) for name, x in wrong.items()}
    found["count"] = error_of(lambda: gemm(good))
    given = Interface(device, a)
    inside = Interface(device, a, data=(result.address + 1024, False))
    constant = Interface(device, np.zeros((32, 32), np.float32), data=(result.address, True))
    found["out_count"] = error_of(lambda: gemm(given, good, out=[]))
    found["out_readonly"] = error_of(lambda: gemm(given, good, out=[constant]))
    found["out_shape"] = error_of(lambda: gemm(given, good, out=[given]))
    found["out_overlap"] = error_of(lambda: gemm(inside, good, out=[result]))
    return found


def graphs(device: CudaDevice, two: DeviceFunction, x: Array) -> dict[str, Any]:
    """Graphs of a function of two launches, by where its arrays are."""
    names = "cuGraphInstantiateWithFlags", "cuGraphExecDestroy"
    given, result = Interface(device, x), Interface(device, x)
    counts = []
    for _ in range(3):
        two(given, out=[result])
        counts.append(calls(names[0]))
    before = calls(names[1])
    held = [Interface(device, x) for _ in range(12)]
    for each in held:
        two(each, out=[result])
    return {"again": counts[-1] - counts[0], "destroyed": calls(names[1]) - before}


def lives(device: CudaDevice, two: DeviceFunction, x: Array) -> list[int]:
    """How much more memory there is with a result, with what is made of it alone, with nothing."""
    given = Interface(device, x)
    gc.collect()
    before, counts = LIBRARY.live(), []
    (y,) = two(given)
    capsule = y.__dlpack__(stream=2, max_version=(1, 0))
    counts.append(LIBRARY.live() - before)
    del y
    counts.append(LIBRARY.live() - before)
    del capsule
    return [*counts, LIBRARY.live() - before]


def network(device: CudaDevice) -> tuple[int, float]:
    """A network's launches, and how far its result for an array there is from that for NumPy's."""
    b, rng, target = GraphBuilder("net"), np.random.default_rng(0), Target.parse("emulated")
    x = b.input("x", (8, 16), "float32")
    product = b.emit("matmul", x, b.constant("w", rng.random((16, 8), np.float32)))
    y = b.emit("softmax", b.emit("matmul", product, product), axis=1)
    cut = partition(b.build([y], ["y"]))
    kernels = {
        t.key: build_nest(t.dag, gene_of(Space(t.dag, target)), target, f"task_{i}")
        for i, t in enumerate(cut.tasks)
    }
    net = linked(cut, kernels, target)
    parts = [binary(part) for part in net.kernels]
    fn = DeviceFunction(net.artifact, device, parts, constants=net.constants)
    array = rng.random((8, 16), np.float32)
    (host,), (there,) = fn(array), fn(Interface(device, array))
    return len(net.artifact.launches), float(np.abs(host - there.numpy()).max())


def gene_of(space: Space) -> Gene:
    """Some valid program."""
    found = space.sample(np.random.default_rng(0), 32)
    return space.gene(int(found.sketch[0]), found.rows[0])


def main() -> None:
    device = CudaDevice()
    two, x = function("two_kernels", device), CASES["two_kernels"].arrays()["x"]
    (once,) = two(x)
    (y,) = two(Interface(device, x))
    (again,) = two(y)
    (expected,) = two(once)
    results: dict[str, Any] = {
        "products": products(device),
        "errors": errors(device),
        "network": network(device),
        "chained": float(np.abs(again.numpy() - expected).max()),
        "text": repr(y),
        "graphs": graphs(device, two, x),
        "lives": lives(device, two, x),
    }
    sys.modules["torch"] = SimpleNamespace(Tensor=Tensor, from_dlpack=lambda y: ("tensor", y.shape))
    results["tensors"] = two(Tensor(device, x))
    (FOLDER / "results.json").write_text(json.dumps(results))


if __name__ == "__main__":
    main()
