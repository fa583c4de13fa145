"""Runs functions on CudaDevice and prints what came of it; started by test_cuda.py, which puts a
libcuda.so.1 in its way (libcuda.cpp).

    python cuda_program.py FOLDER        -> FOLDER/results.json

The bindings are NVIDIA's own; a "binary" is the path of a library with the emulated kernels.
"""

from __future__ import annotations

import ctypes
import gc
import json
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from gpu_cases import CASES

from device_calls import SizedProgram
from tilewright.build.compile import build_nest
from tilewright.build.native import build_native
from tilewright.contract.artifact import Artifact
from tilewright.contract.sizes import Size
from tilewright.cutlass import gene_of, matches_of
from tilewright.cutlass.parameters import Parameters
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Var
from tilewright.expr.operators import batch_matmul, matmul, relu
from tilewright.expr.tensors import compute, placeholder, reduce_axis
from tilewright.expr.tensors import sum as sum_over
from tilewright.ground.errors import TilewrightError
from tilewright.runtime.cuda import CudaDevice
from tilewright.runtime.device import DeviceFunction
from tilewright.runtime.emulated import HEADERS, TEMPLATE_OPTIONS, WRAPPERS
from tilewright.runtime.headers import folders
from tilewright.runtime.tensor_maps import EncodedMap
from tilewright.schedule.lower import lower
from tilewright.schedule.producers import template_gene
from tilewright.schedule.state import State
from tilewright.schedule.steps import Annotate, Split
from tilewright.schedule.templates import WARP_SPECIALIZED
from tilewright.target import Target

FOLDER = Path(sys.argv[1])
LIBRARY = ctypes.CDLL("libcuda.so.1")
SHAPES = {"a": (70, 72), "b": (72, 200)}


def binary(artifact: Artifact) -> Artifact:
    """The artifact with its emulated kernels in the form that libcuda.cpp loads."""
    text = artifact.object_code.decode()
    options = ["-std=c++17", "-O1", "-w", "-shared", "-fPIC", f"-I{HEADERS}"]
    lines = ['#include "cuda_emulation.h"', text, 'extern "C" {']
    if WRAPPERS in text:
        lines.insert(1, '#include "instructions.h"')
    elif "tw_" in text:
        options += [*TEMPLATE_OPTIONS, *(f"-I{f}" for f in (HEADERS / "shadow", *folders()))]
        lines.insert(1, '#include "warp.h"')
    for launch in artifact.launches:
        count, maps = len(launch.arguments), len(launch.maps)
        given = ", ".join(f"tw::Argument{{*(void**)a[{i}]}}" for i in range(count))
        given += "".join(f", *(tw_tensor_map*)a[{count + i}]" for i in range(maps))
        if launch.values:
            given += f", *({launch.kernel}_sizes*)a[{count + maps}]"
        behind = count + maps + bool(launch.values)
        given += "".join(f", *(int*)a[{behind + i}]" for i in range(len(launch.sizes)))
        lines.append(f"int count_{launch.kernel} = {count};")
        lines.append(f"int sizes_{launch.kernel} = {len(launch.sizes)};")
        lines.append(f"int maps_{launch.kernel} = {maps};")
        lines.append(f"int ints_{launch.kernel} = {len(launch.values)};")
        lines.append(
            f"void call_{launch.kernel}(const int* g, int x, int y, int shared, void** a) "
            f"{{ tw::launch({{g[0], g[1], g[2]}}, x, y, shared, "
            f"[&] {{ {launch.kernel}({given}); }}); }}"
        )
    source = FOLDER / f"{artifact.entry}.cpp"
    source.write_text("\n".join([*lines, "}", ""]))
    subprocess.run(["g++", *options, str(source), "-o", str(source.with_suffix(".so"))], check=True)
    return replace(artifact, object_code=bytes(source.with_suffix(".so")) + b"\0")


def difference(name: str, fn: DeviceFunction) -> float:
    """How far the outputs are from the math."""
    arrays = CASES[name].arrays(seed=2)
    (found,) = fn.run(arrays)
    (expected,) = CASES[name].dag().evaluate(arrays).values()
    return float(np.abs(found - expected).max())


def error_of(action: Callable[[], Any]) -> str:
    """What it raises."""
    try:
        action()
    except TilewrightError as error:
        return f"{type(error).__name__}: {error}"
    return "nothing"


def calls(name: str) -> int:
    """How often the driver's function was called."""
    return int(LIBRARY.calls(name.encode()))


def function(name: str, device: CudaDevice) -> DeviceFunction:
    """A case on the device; like a network's, its code is that of a part."""
    part = binary(replace(CASES[name].artifact(Target.parse("emulated")), entry=name))
    return DeviceFunction(replace(part, object_code=b""), device, [part])


def template(device: CudaDevice) -> dict[str, Any]:
    """A batch of matrix products by a template: its grid has three dimensions, its sizes are one
    structure, and it asks for more shared memory than blocks have.
    """
    a, b = (placeholder((3, *shape), "float16", name=n) for n, shape in SHAPES.items())
    dag = ComputeDAG([relu(batch_matmul(a, b))])
    target = Target.parse("emulated")
    (match,) = matches_of(dag, target)
    before = calls("cuFuncSetAttribute")
    p = Parameters(128, 128, 64, 64, 32, 2, swizzle=2)
    artifact = build_native(dag, gene_of(match, p), target, "product")
    (launch,) = artifact.launches
    part = binary(artifact)
    fn = DeviceFunction(replace(part, object_code=b""), device, [part])
    rng = np.random.default_rng(0)
    arrays = {t.name: (rng.integers(-8, 9, t.shape) / 8).astype("float16") for t in (a, b)}
    (found,) = fn.run(arrays)
    (expected,) = dag.evaluate(arrays, float64=True).values()
    greedy = replace(launch, dynamic_bytes=1 << 20, shared_bytes=1 << 20)
    return {
        "difference": float(np.abs(found - expected).max()),
        "grid": launch.grid,
        "dynamic_bytes": launch.dynamic_bytes,
        "asked": calls("cuFuncSetAttribute") - before,
        "too_much": error_of(lambda: device.load(replace(part, launches=(greedy,)))),
    }


def boxes(device: CudaDevice) -> dict[str, Any]:
    """A product whose factors are copied by tensor maps; on arrays that are aligned, or not."""
    a, b = (placeholder(shape, "float16", name=n) for n, shape in SHAPES.items())
    dag = ComputeDAG([relu(matmul(a, b))])
    gene = template_gene(WARP_SPECIALIZED.name, (64, 128, 64, 1, 3))
    artifact = binary(build_nest(dag, gene, Target.parse("emulated"), "boxes"))
    small = tuple(replace(x, shared_bytes=0) for x in artifact.launches)
    fn = DeviceFunction(replace(artifact, launches=small), device)
    rng = np.random.default_rng(0)
    arrays = {t.name: rng.integers(-2, 3, t.shape).astype("float16") for t in (a, b)}
    (found,) = fn.run(arrays)
    (expected,) = dag.evaluate(arrays).values()
    (launch,) = artifact.launches
    memory = device.allocate(1 << 16)
    return {
        "difference": float(np.abs(found - expected).max()),
        "maps": [[m.argument, m.shape, m.rows] for m in launch.maps],
        "unaligned": error_of(lambda: EncodedMap(device, launch.maps[0], memory.address + 8)),
        "refused": error_of(lambda: EncodedMap(device, launch.maps[0], memory.address + (1 << 20))),
    }


def rows(device: CudaDevice) -> dict[str, Any]:
    """Two kernels of as many rows as a call says. A length that comes again has a graph."""
    x, k = placeholder((Var("S"), 24), name="x"), reduce_axis(24, "k")
    total = compute((Var("S"),), lambda i: sum_over(x[i, k], k), name="total")
    y = compute(x.shape, lambda i, j: x[i, j] - total[i], name="y")
    dag = ComputeDAG([y], (Size("S", 0, 70),))
    trace = [
        step
        for name, axis in (("total", "i"), ("y", "i"))
        for step in (
            Split(name, axis, (16,)),
            Annotate(name, f"{axis}.0", "block"),
            Annotate(name, f"{axis}.1", "thread.x"),
        )
    ]
    lowered = lower(State(dag).replay(trace), "rows")
    run = SizedProgram(lowered, device, binary)
    names = ("cuLaunchKernel", "cuGraphLaunch")
    found: dict[str, Any] = {"differences": [], "calls": []}
    for n in (5, 70, 0):
        arrays = {"x": np.random.default_rng(n).standard_normal((n, 24)).astype("f4")}
        (got,) = run(arrays, {"S": n}).values()
        wanted = arrays["x"] - arrays["x"].sum(1, keepdims=True)
        found["differences"].append(float(np.abs(got - wanted).max(initial=0.0)))
    memory = [device.allocate(s.bytes) for s in run.artifact.buffers]
    scratch = device.allocate(run.artifact.scratch_bytes)
    for n in (5, 70, 5, 0):
        before = [calls(name) for name in names]
        run.loaded.run(memory, scratch, (n,))
        found["calls"].append([calls(c) - b for c, b in zip(names, before, strict=True)])
    return found


def main() -> None:
    device = CudaDevice()
    results: dict[str, Any] = {"target": str(device.target)}
    two = function("two_kernels", device)
    results["two_kernels"] = [difference("two_kernels", two) for _ in range(3)]
    names = (
        "cuLaunchKernel",
        "cuStreamBeginCapture",
        "cuGraphInstantiateWithFlags",
        "cuGraphLaunch",
    )
    results["calls"] = {name: calls(name) for name in names}
    arrays = CASES["two_kernels"].arrays()
    results["seconds"] = two.bench(arrays, 4).tolist()
    profile = two.profile(arrays, runs=1)
    results["profile"] = {k.kernel: k.seconds for k in profile.kernels}

    gemm = function("gemm", device)
    before = calls("cuGraphLaunch")
    results["gemm"] = difference("gemm", gemm)
    results["graphs_of_one_launch"] = calls("cuGraphLaunch") - before
    elsewhere: list[float] = []
    thread = threading.Thread(target=lambda: elsewhere.append(difference("gemm", gemm)))
    thread.start()
    thread.join()
    results["in_another_thread"] = elsewhere

    before = calls("cuFuncSetAttribute")
    deep = function("gemm_deep", device)
    results["deep"] = {
        "difference": difference("gemm_deep", deep),
        "dynamic_bytes": deep.artifact.launches[0].dynamic_bytes,
        "asked": calls("cuFuncSetAttribute") - before,
    }
    results["template"] = template(device)
    results["boxes"] = boxes(device)
    results["rows"] = rows(device)

    live, held = LIBRARY.live(), len(two.artifact.buffers) + 1
    wrong = replace(two.artifact, object_code=b"nothing\0")
    del two
    gc.collect()
    results["freed"] = live - LIBRARY.live() == held
    results["errors"] = {
        "memory": error_of(lambda: device.allocate(1 << 31)),
        "image": error_of(lambda: device.load(wrong)),
        "ordinal": error_of(lambda: CudaDevice(1)),
    }
    (FOLDER / "results.json").write_text(json.dumps(results))


if __name__ == "__main__":
    main()
