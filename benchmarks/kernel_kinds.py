"""Where a network's time goes: kernel calls by kind, beside the libraries' operators by type.

    python -m benchmarks.kernel_kinds --models bert-base-b1 [--db networks.db] [--calls]

Kernels are timed within runs of the network, and each by itself, again and again on the same data:
what it loses in the network to constants that no cache holds any more is the difference. Alone the
quickest call counts. A kind's time is the sum over its calls. Kinds are read off a kernel's math:

- contraction   sums of products whose operands are used again (convolutions, matrix products)
- reduction     other sums, maxima, norms
- elementwise   arithmetic without a reduction
- movement      elements only change their place (transposes, slices, concatenations)

onnxruntime and OpenVINO say themselves how long each of their nodes took; the times of two
threads' work overlap with nothing, so the sums are comparable.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import tilewright as tw
from benchmarks.models.export import onnx_file
from benchmarks.models.table import CASES, PUBLISHED, NetworkCase
from benchmarks.turns import chosen
from tilewright.contract.artifact import numpy_dtype
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Expr, Read, Select
from tilewright.expr.tensors import Compute
from tilewright.expr.traversal import reads
from tilewright.front.machine import host_target
from tilewright.graph.partition import KernelTask
from tilewright.runtime.function import CompiledFunction
from tilewright.schedule.state import State
from tilewright.space.predicates import has_data_reuse

BENCH_S = 0.05  # of one kernel
RUNS = 10  # of a library's model
SHOWN = 8  # types of a library's operators


@dataclass(frozen=True)
class Timed:
    """One task: its kind, the seconds of all its calls within a run, and of one call alone."""

    task: KernelTask
    kind: str
    total_s: float
    alone_s: float


def kind_of(dag: ComputeDAG) -> str:
    """One of the kinds above."""
    state = State(dag)
    stages = [s for s in state.stages.values() if isinstance(s.tensor.source, Compute)]
    reducing = [s for s in stages if s.compute.reduce_axes]
    if any(has_data_reuse(s) and len(reads(s.compute.body)) > 1 for s in reducing):
        return "contraction"
    if reducing:
        return "reduction"
    return "movement" if all(_moves(s.compute.body) for s in stages) else "elementwise"


def _moves(e: Expr) -> bool:
    match e:
        case Read():
            return True
        case Select(_, a, b):
            return all(_moves(x) or not reads(x) for x in (a, b))
    return False


def timed(case: NetworkCase, file: Path, db: Path | None, threads: int) -> list[Timed]:
    """Every task of the network, timed."""
    model = tw.load(file)
    net = tw.compile(model, db, target=replace(host_target(), cores=threads))
    within = {k.kernel: k.seconds for k in net.profile(case.inputs(), RUNS).kernels}
    found = []
    for task, artifact in zip(model.partition.tasks, net.kernels, strict=True):
        function = CompiledFunction(artifact)
        rng = np.random.default_rng(0)
        arrays = {
            s.name: rng.random(s.shape).astype(numpy_dtype(s.dtype))
            for s in (*artifact.inputs, *(p.source for p in artifact.packings))
        }
        if artifact.packings:
            function.prepare({p.source.name: arrays[p.source.name] for p in artifact.packings})
        inputs = {s.name: arrays[s.name] for s in artifact.inputs}
        once = float(function.bench(inputs, 3).min())
        count = max(3, min(1000, int(BENCH_S / once)))
        alone = float(function.bench(inputs, count).min())
        found.append(Timed(task, kind_of(task.dag), within[task.name], alone))
    return found


def by_kind(found: Iterable[Timed]) -> str:
    """A table: calls, tasks, time, share and rate of every kind."""
    groups: dict[str, list[Timed]] = defaultdict(list)
    for one in found:
        groups[one.kind].append(one)
    total = sum(t.total_s for group in groups.values() for t in group)
    head = f"{'kind':12}{'calls':>6}{'tasks':>6}{'ms':>9}{'share':>8}{'GFLOP/s':>9}{'alone':>9}"
    lines = [head]
    for kind, group in sorted(groups.items(), key=lambda g: -sum(t.total_s for t in g[1])):
        seconds = sum(t.total_s for t in group)
        flops = sum(t.task.weight * t.task.dag.useful_flops for t in group)
        calls = sum(t.task.weight for t in group)
        lines.append(
            f"{kind:12}{calls:6}{len(group):6}{1e3 * seconds:9.3f}{seconds / total:8.1%}"
            f"{flops / seconds / 1e9:9.1f}{1e3 * alone(group):9.3f}"
        )
    calls = sum(t.task.weight for g in groups.values() for t in g)
    whole = 1e3 * sum(map(alone, groups.values()))
    return "\n".join([*lines, f"{'all':12}{calls:6}{'':6}{1e3 * total:9.3f}{'':17}{whole:9.3f}"])


def alone(group: Iterable[Timed]) -> float:
    """Seconds of all calls, each as when run by itself."""
    return sum(t.task.weight * t.alone_s for t in group)


def by_task(found: Iterable[Timed]) -> str:
    """A line a task, the costliest first."""
    lines = []
    for one in sorted(found, key=lambda t: -t.total_s):
        each = one.total_s / one.task.weight
        rate = one.task.dag.useful_flops / each / 1e9
        lines.append(
            f"  {1e3 * one.total_s:8.3f} ms  {one.task.weight:3} x {1e6 * each:8.1f} µs "
            f"{rate:7.1f} GFLOP/s  alone {1e6 * one.alone_s:8.1f} µs  {one.kind:12} "
            f"{one.task.name}"
        )
    return "\n".join(lines)


def onnxruntime_types(case: NetworkCase, file: Path, threads: int) -> dict[str, tuple[int, float]]:
    """Calls and seconds of onnxruntime's nodes by type, each node's quickest run."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.enable_profiling = True
    with tempfile.TemporaryDirectory() as folder:
        options.profile_file_prefix = f"{folder}/profile"
        session = onnxruntime.InferenceSession(
            str(file), options, providers=["CPUExecutionProvider"]
        )
        names = [i.name for i in session.get_inputs()]
        feeds = dict(zip(names, case.inputs(), strict=True))
        for _ in range(RUNS):
            session.run(None, feeds)
        events = json.loads(Path(session.end_profiling()).read_text())
    times: dict[tuple[str, str], list[float]] = defaultdict(list)
    for event in events:
        if event.get("cat") == "Node" and event["name"].endswith("_kernel_time"):
            times[event["args"]["op_name"], event["name"]].append(event["dur"] * 1e-6)
    return _by_type((kind, min(t)) for (kind, _), t in times.items())


def openvino_types(case: NetworkCase, file: Path, threads: int) -> dict[str, tuple[int, float]]:
    """The same of OpenVINO's nodes."""
    import openvino

    settings = {
        "INFERENCE_NUM_THREADS": threads,
        "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_PRECISION_HINT": "f32",
        "PERF_COUNT": True,
    }
    request = openvino.Core().compile_model(str(file), "CPU", settings).create_infer_request()
    times: dict[tuple[str, str], list[float]] = defaultdict(list)
    for _ in range(RUNS):
        request.infer(case.inputs())
        for node in request.get_profiling_info():
            if node.real_time.total_seconds() > 0:
                times[node.node_type, node.node_name].append(node.real_time.total_seconds())
    return _by_type((kind, min(t)) for (kind, _), t in times.items())


def _by_type(nodes: Iterable[tuple[str, float]]) -> dict[str, tuple[int, float]]:
    groups: dict[str, list[float]] = defaultdict(list)
    for kind, seconds in nodes:
        groups[kind].append(seconds)
    return {kind: (len(times), sum(times)) for kind, times in groups.items()}


def types_line(name: str, types: dict[str, tuple[int, float]]) -> str:
    """The costliest types and the sum."""
    ranked = sorted(types.items(), key=lambda t: -t[1][1])
    shown = ", ".join(f"{kind} {n} x = {1e3 * s:.2f} ms" for kind, (n, s) in ranked[:SHOWN])
    total = sum(s for _, s in types.values())
    return f"{name}: {1e3 * total:.2f} ms in {sum(n for n, _ in types.values())} nodes: {shown}"


LIBRARIES = {"onnxruntime": onnxruntime_types, "openvino": openvino_types}


def main(words: Sequence[str] | None = None) -> int:
    """Print the tables; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--models", default=",".join(PUBLISHED), help="names or globs (all)")
    parser.add_argument("--db", type=Path, help="records; without them the default programs")
    parser.add_argument("--folder", type=Path, default=Path("networks"), help="of ONNX files")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--peers", default=",".join(LIBRARIES), help="%(default)s")
    parser.add_argument("--calls", action="store_true", help="every task, too")
    options = parser.parse_args(words)
    for name in chosen(options.models, CASES):
        case = CASES[name]
        file = onnx_file(case, options.folder)
        found = timed(case, file, options.db, options.threads)
        print(f"\n{name}\n{by_kind(found)}")
        if options.calls:
            print(by_task(found))
        for peer in filter(None, options.peers.split(",")):
            print(types_line(peer, LIBRARIES[peer](case, file, options.threads)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
