"""What a compiled call costs beyond its kernel, in µs.

    python -m benchmarks.call_overhead [--json FILE]

The kernel is timed natively (`bench`), the call from Python with `perf_counter_ns` (0.05 µs of it
are the clock's), in turns; every call by itself, since one that waits for a busy core would spoil
a mean. Figures are medians of the turns' medians. Called from Python a kernel is also slower than
in a native loop, because the interpreter has used the caches meanwhile.

The kernels are untuned: an elementwise one of 64 floats, a matrix product whose default program
has a parallel region, and a network of one elementwise kernel.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable

import numpy as np
from onnx import TensorProto, helper

import tilewright as tw
from benchmarks.provenance import provenance, result_file
from tilewright.contract.artifact import Array, numpy_dtype
from tilewright.network.executor import Network
from tilewright.runtime import CompiledFunction, aligned_empty

TURNS, CALLS = 41, 1000


def elementwise() -> Network | CompiledFunction:
    """64 floats, one thread."""
    a = tw.placeholder((64,), name="a")
    return tw.compile(tw.Task([a, tw.compute((64,), lambda i: a[i] + 1.0, name="b")]))


def product() -> Network | CompiledFunction:
    """128 x 128 x 128: the smallest power of two whose default program is parallel."""
    n = 128
    a, b = tw.placeholder((n, n), name="a"), tw.placeholder((n, n), name="b")
    k = tw.reduce_axis(n, "k")
    c = tw.compute((n, n), lambda i, j: tw.sum(a[i, k] * b[k, j], k), name="c")
    return tw.compile(tw.Task([a, b, c]))


def network() -> Network | CompiledFunction:
    """The smallest model: Relu of 64 floats."""
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [64]) for n in "xy")
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "relu", [x], [y])
    return tw.compile(tw.load(helper.make_model(graph).SerializeToString()))


def overheads(compiled: Network | CompiledFunction) -> tuple[float, dict[str, float]]:
    """The kernel's time, and what each way to call it takes beyond that; µs."""
    function = compiled.function if isinstance(compiled, Network) else compiled
    named = {s.name: _ones(s.shape, s.dtype) for s in function.artifact.inputs}
    given = list(named.values())
    out = [_ones(s.shape, s.dtype) for s in function.artifact.outputs]
    calls: dict[str, Callable[[], object]] = {
        "fn(x)": lambda: compiled(*given),
        "fn(x, out=…)": lambda: compiled(*given, out=out),
        "fn.run({…})": lambda: compiled.run(named),
    }
    kernel, beyond = [], {name: list[float]() for name in calls}
    for _ in range(TURNS):
        kernel.append(float(np.median(function.bench(given, CALLS))) * 1e6)
        for name, call in calls.items():
            beyond[name].append(_median_us(call) - kernel[-1])
    return statistics.median(kernel), {n: statistics.median(b) for n, b in beyond.items()}


def _median_us(call: Callable[[], object]) -> float:
    found = []
    for _ in range(CALLS):
        started = time.perf_counter_ns()
        call()
        found.append(time.perf_counter_ns() - started)
    return statistics.median(found) * 1e-3


def _ones(shape: tuple[int, ...], dtype: str) -> Array:
    array = aligned_empty(shape, numpy_dtype(dtype))
    array.fill(1)
    return array


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--json", type=result_file, help="also write the figures to this file")
    options = parser.parse_args()
    functions = {}
    for make in (elementwise, product, network):
        kernel, beyond = overheads(make())
        listed = ", ".join(f"{name} {us:.2f}" for name, us in beyond.items())
        print(f"{make.__name__}: kernel {kernel:.2f} µs; beyond it: {listed} µs")
        functions[make.__name__] = {"kernel_us": kernel, "beyond_us": beyond}
    if options.json:
        found = {"benchmark": "call_overhead", **provenance(), "functions": functions}
        options.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
