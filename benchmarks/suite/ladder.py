"""A dozen small kernels, each of which needs one thing more of the device than those before.

    RUNGS["wgmma km"].problem()         what it computes: 64 x 64 results
    climb(words, journal)               runs each in a process of its own, eight seconds at most
    is_out(program, journal)            whether a program needs what did not work
    step(pack, device, name, journal)   one of them, in such a process

A wrong result is printed as blocks of 8 x 8, a digit for how many eighths of each are wrong: rows
or columns of blocks tell a swizzle from a stride, and both from a fragment.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from benchmarks.suite.bench import Bench
from benchmarks.suite.journal import FAILED, FAULT, RIGHT, WRONG, Journal, Line, read
from benchmarks.suite.pack import Pack, Program
from benchmarks.suite.watch import ended
from tilewright.contract.artifact import Array, TensorMap
from tilewright.expr import operators as ops
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Tensor
from tilewright.expr.tensors import placeholder
from tilewright.ground.errors import RunError, WrongAnswer
from tilewright.runtime.device import Device

LADDER = "ladder"  # the name of its programs in a pack
SIDE, BLOCK = 64, 8
RUN_S, PROCESS_S = 8.0, 30.0  # of a kernel, and of a process with the device's start
SLOW_S = 25.0  # of one that is compiled first
HALF, SINGLE = "float16", "float32"
SHARED_BYTES = 227 * 1024
THREADS = 128

COPY = """
extern "C" __global__ void __launch_bounds__(128) nothing(const float* x, float* y) {}
extern "C" __global__ void __launch_bounds__(128) copied(const float* x, float* y)
{
    for (int i = (int)threadIdx.x; i < 4096; i += 128) y[i] = x[i];
}
"""
SHARED = """
extern "C" __global__ void __launch_bounds__(128) shared_memory(const float* x, float* y)
{
    tw_dynamic_shared(shared);
#ifndef TW_EMULATION
    if (__cvta_generic_to_shared(shared) % 1024) return;  // windows are counted from there
#endif
    float* const first = (float*)shared;
    float* const last = (float*)(shared + 227 * 1024 - 4096 * 4);
    for (int i = (int)threadIdx.x; i < 4096; i += 128) first[i] = -1.0f;
    for (int i = (int)threadIdx.x; i < 4096; i += 128) last[i] = x[i];
    __syncthreads();
    for (int i = (int)threadIdx.x; i < 4096; i += 128) y[i] = last[i % 64 * 64 + i / 64];
}
"""
BOX = """
extern "C" __global__ void __launch_bounds__(128) boxed(
    const __half* x, __half* y, const __grid_constant__ tw_tensor_map view)
{
    tw_dynamic_shared(shared);
    __half* const tile = (__half*)shared;
    long long* const full = (long long*)(shared + 8192);
    if ((int)threadIdx.x == 0) tw_mbarrier_init(full, 1);
    tw_fence_proxy_async();
    __syncthreads();
    if ((int)threadIdx.x == 0) {
        tw_mbarrier_arrive_expect_tx(full, 8192);
        tw_cp_async_bulk_tensor_3d(tile, view, 0, -5, -8, full);
    }
    tw_mbarrier_try_wait_parity(full, 0);
    for (int i = (int)threadIdx.x; i < 4096; i += 128) y[i] = tile[i ^ (i >> 6 & 7) << 3];
}
"""


@dataclass(frozen=True)
class Kernel:
    """A kernel by hand: its source, the names of its launches, and what these give it."""

    text: str
    launches: Sequence[str]
    dynamic_bytes: int = 0
    maps: Sequence[TensorMap] = ()


@dataclass(frozen=True)
class Rung:
    """What is computed, by a kernel or by a `template` with `numbers`, which need not be among
    those that are worth a try.
    """

    dag: Callable[[], ComputeDAG]
    kernel: Kernel | None = None
    template: str = ""
    numbers: Mapping[str, int] = field(default_factory=dict)


def _turned(left: str, right: str, depth: int) -> ComputeDAG:
    """A product of two factors, each of which lies along the depth ("k") or across ("m")."""

    def factor(name: str, shape: tuple[int, int], is_turned: bool) -> Tensor:
        given = placeholder(shape[::-1] if is_turned else shape, HALF, name=name)
        return ops.transpose(given, (1, 0)) if is_turned else given

    a = factor("a", (SIDE, depth), left == "m")
    b = factor("b", (depth, SIDE), right == "k")
    return ComputeDAG([ops.matmul(a, b)])


def _alone(turn: bool) -> ComputeDAG:
    """`x` as it is, or transposed."""
    x = placeholder((SIDE, SIDE), SINGLE, name="x")
    return ComputeDAG([ops.transpose(x, (1, 0)) if turn else ops.multiply(x, 1.0)])


ROWS, COLUMNS = 50, 48  # of the array that boxes are of


def _bordered() -> ComputeDAG:
    x = placeholder((ROWS, COLUMNS), HALF, name="x")
    return ComputeDAG([ops.pad(x, [(5, SIDE - 5 - ROWS), (8, SIDE - 8 - COLUMNS)])])


VIEW = TensorMap(0, HALF, 0, (1, ROWS, COLUMNS), (ROWS * COLUMNS, COLUMNS, 1), SIDE, SIDE)
HOPPER = {"block_m": 64, "block_n": 128, "block_k": 64, "groups": 1, "stages": 3}
ORDINARY = {"block_m": 32, "block_n": 64, "block_k": 16, "thread_m": 4, "thread_n": 4}
CORES = {"block_m": 64, "block_n": 64, "block_k": 32, "warp_m": 32, "warp_n": 32, "stages": 3}


def _product(template: str, numbers: Mapping[str, int], left: str, right: str, depth: int) -> Rung:
    dag = partial(_turned, left, right, depth)
    return Rung(dag, template=f"matmul.{template}.1", numbers=numbers)


RUNGS: Mapping[str, Rung] = {
    "empty graph": Rung(partial(_alone, False), Kernel(COPY, ("nothing", "copied"))),
    "shared memory": Rung(
        partial(_alone, True), Kernel(SHARED, ("shared_memory",), dynamic_bytes=SHARED_BYTES)
    ),
    "threads": _product("threads", ORDINARY, "k", "m", 100),
    "mma": _product("tensor_cores", CORES, "k", "m", 32),
    "ring of copies": _product("tensor_cores", CORES, "k", "m", 200),
    **{
        f"wgmma {form}": _product("warpgroups", HOPPER, *form, 64)
        for form in ("kk", "km", "mk", "mm")
    },
    "box": Rung(_bordered, Kernel(BOX, ("boxed",), dynamic_bytes=8192 + 8, maps=(VIEW,))),
    "ring of boxes": _product("warp_specialized", {**HOPPER, "stages": 2}, "k", "m", 192),
    "roles": _product("warp_specialized", {**HOPPER, "stages": 4}, "k", "m", 640),
    "split": _product("tensor_cores_split", {**CORES, "split": 4}, "k", "m", 1024),
}  # fmt: skip


def programs(pack: Pack) -> dict[str, Program]:
    """Those of a pack, by the names of their rungs."""
    case = pack.cases.get(LADDER)
    return {} if case is None else dict(zip(case["names"], pack.programs(LADDER), strict=True))


def climb(words: Sequence[str], pack: Pack, journal: Journal) -> None:
    """All rungs that are not known."""
    known = journal.find(LADDER)
    for name, program in programs(pack).items():
        if program.key in known or journal.deadline.passed:
            continue
        before = len(read(journal.file))
        status = ended([*words, "--rung", name], PROCESS_S)
        journal.place.unlink(missing_ok=True)
        found = [line for line in read(journal.file)[before:] if line["step"] == LADDER]
        if not found:
            why = "it did not end" if status in (None, -signal.SIGALRM) else f"status {status}"
            found = [_noted(journal, name, program, FAULT, why)]
        else:
            journal.lines += found
        print(f"{LADDER} {name}: {found[-1]['verdict']} {found[-1]['why']}", flush=True)


def _noted(journal: Journal, name: str, program: Program, verdict: str, why: str) -> Line:
    features = sorted(program.features)
    return journal.add(LADDER, name, program, verdict=verdict, why=why, features=features)


def step(pack: Pack, device: Device, name: str, journal: Journal) -> None:
    """Run one in a graph, and note what came of it."""
    program = programs(pack)[name]
    verdict, why = RIGHT, ""
    bench = Bench(device, RUNGS[name].dag())
    limit_s = RUN_S if device.target.kind == "cuda" else SLOW_S
    try:
        with journal.at(LADDER, name, program, limit_s):
            loaded = bench.load(program.artifact)
            loaded.check()
            loaded.seconds(1)
    except WrongAnswer as error:
        picture = blocks(bench.last, bench.expected.values, bench.expected.limits)
        print("\n".join([f"{name}: {error}", *picture]), flush=True)
        verdict, why = WRONG, " ".join([str(error), *picture])
    except RunError as error:
        verdict, why = FAILED, str(error)
    _noted(journal, name, program, verdict, why)


def blocks(got: Array, expected: Array, limits: Array) -> list[str]:
    """A line for every row of blocks: a digit for every block, in eighths that are wrong, rounded
    up; "." where it is right.
    """
    difference = np.abs(got.reshape(-1).astype(np.float64) - expected)
    wrong = ~(difference <= limits).reshape(SIDE, SIDE)
    counts = wrong.reshape(SIDE // BLOCK, BLOCK, SIDE // BLOCK, BLOCK).sum(axis=(1, 3))
    digits = -(-8 * counts // BLOCK**2)
    return ["".join(str(d) if d else "." for d in row) for row in digits]


def is_out(program: Program, journal: Journal) -> bool:
    """Whether a program has all the instructions that a rung has which failed, or some that no rung
    got to work; where such a rung has none, it is of the same template.
    """
    found = journal.find(LADDER).values()
    fine = {f for line in found if line["verdict"] == RIGHT for f in line["features"]}
    for line in found:
        has = set(line["features"])
        if line["verdict"] == RIGHT:
            continue
        if not has and line["template"] and line["template"] == program.template:
            return True
        if (has and has <= program.features) or (has - fine) & program.features:
            return True
    return False
