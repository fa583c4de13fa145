"""How much more several machines measure, and whether the search is as good for it.

    python -m benchmarks.cluster [--json FILE] [--parts busy,quality,ray] [--nodes 1,8,64,256]

*busy*: machines that only sleep, 0.15 s for every program, in this process, under the real tuner
and its records. Counted from the first round of the search to the end of its last: of the time of
all machines, how much they measured. *quality*: machines whose programs have smooth made-up times
(`simulated_gpu`); the best program of a search on so many, after as many trials as the serial one,
over that one's: seeds are other machines and other searches. *ray*: a real Ray cluster of one and
of two nodes here, a core each, on the loopback device, and real programs: trials a second.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tilewright as tw
from benchmarks.cases import CASES
from benchmarks.provenance import provenance, result_file
from benchmarks.simulated_gpu import SimulatedGpu
from tilewright.contract.gene import Gene
from tilewright.front.machine import machine_of
from tilewright.measure.measurer import MeasureResult
from tilewright.records.database import Database
from tilewright.search.objectives import ObjectiveModel, TotalLatency
from tilewright.search.progress import SEARCH, Budget, Progress
from tilewright.search.task_scheduler import TaskScheduler
from tilewright.search.tasks import TuningTask, infos_of
from tilewright.search.tuner import Tuner
from tilewright.target import Target

TRIAL_S = 0.15
NODES = (1, 8, 64, 256)
TRIALS_A_NODE, MOST_TRIALS = 160, 24576  # of a busy run: some 24 s
QUALITY_TRIALS, SEEDS = 512, 5
RAY_TRIALS = 128
GPU = Target.parse("cuda:h100")
SEARCHED = ("GMM-2-b1", "C2D-2-b1", "DEP-2-b1")
PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass
class Sleeping(SimulatedGpu):
    """A simulated machine that takes its time, and counts it; any number of threads are as many."""

    trial_s: float = TRIAL_S
    is_smooth: bool = True
    busy_s: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def measure(
        self,
        task: TuningTask,
        default: Gene,
        genes: Sequence[Gene],
        best_s: float | None,
        default_s: float | None = None,
    ) -> list[MeasureResult]:
        found = self._found(task, genes)
        started = time.monotonic()
        time.sleep(self.trial_s * len(genes))
        with self._lock:
            self.busy_s += time.monotonic() - started
        return found

    def _found(self, task: TuningTask, genes: Sequence[Gene]) -> list[MeasureResult]:
        """Smooth times, which take this process some time; or any."""
        if self.is_smooth:
            with self._lock:
                return [MeasureResult("ok", latencies_s=(s,)) for s in self._seconds(task, genes)]
        numbers = (int(gene.hash[:4], 16) for gene in genes)
        return [MeasureResult("ok", latencies_s=(1e-3 + number * 1e-8,)) for number in numbers]


def tasks_of(names: Sequence[str]) -> list[TuningTask]:
    """Operators of the benchmarks."""
    return [TuningTask(name, CASES[name].dag()) for name in names]


def scheduler(tasks: Sequence[TuningTask], latencies: Sequence[float], seed: int) -> TaskScheduler:
    """Gradients of the sum."""
    model = ObjectiveModel("all", tuple(range(len(tasks))), (1.0,) * len(tasks))
    return TaskScheduler(infos_of(tasks, latencies), [model], TotalLatency(), seed=seed)


@contextmanager
def tuner_of(machine: Sleeping, lanes: int, seed: int = 0) -> Iterator[Tuner]:
    """A tuner with new records."""
    with (
        tempfile.TemporaryDirectory() as folder,
        Database.open(Path(folder) / "t.db") as database,
    ):
        yield Tuner(
            tasks_of(SEARCHED), database, machine_of(GPU), machine, GPU, scheduler, seed=seed,
            lanes=lanes,
        )  # fmt: skip


def memory_bytes() -> int:
    """What this process holds."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE


def busy(lanes: int) -> dict[str, float]:
    """How busy so many simulated machines are."""
    machine = Sleeping(GPU, is_smooth=False)
    moments: list[tuple[float, float, int, int]] = []

    def observe(progress: Progress) -> None:
        if progress.phase == SEARCH:
            moments.append((time.monotonic(), machine.busy_s, progress.trials, memory_bytes()))

    with tuner_of(machine, lanes) as tuner:
        begun: list[tuple[float, float]] = []
        keep, tuner._recorded = (
            tuner._recorded,
            lambda: (  # type: ignore[method-assign]
                begun.append((time.monotonic(), machine.busy_s)) or keep()
            ),
        )
        tuner.run(Budget(trials=min(TRIALS_A_NODE * lanes, MOST_TRIALS)), observe)
    (started, before), (ended, after, trials, last) = begun[0], moments[-1]
    half = next(m[3] for m in moments if m[2] >= trials / 2)
    spent = ended - started
    return {
        "busy": (after - before) / (spent * lanes),
        "trials": trials,
        "trials_per_s": trials / spent,
        "seconds": spent,
        "memory_growth": last / half,
    }


def quality(lanes: int, seed: int) -> float:
    """The sum of the best latencies after so many trials."""
    machine = Sleeping(GPU, seed, trial_s=TRIAL_S if lanes > 1 else 0.0)
    with tuner_of(machine, lanes, seed) as tuner:
        found = tuner.run(Budget(trials=QUALITY_TRIALS))
    return sum(s.best_s or float("inf") for s in found)


def ray_rate(nodes: int) -> float:
    """Trials a second of real programs on a cluster of so many nodes, a core each."""
    os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"  # loopback
    import ray
    from ray.cluster_utils import Cluster

    ray._private.ray_constants.ENABLE_RAY_CLUSTER = False
    cores = sorted(os.sched_getaffinity(0))
    head = {"num_cpus": 0, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    try:
        for node in range(nodes):
            os.sched_setaffinity(0, {cores[node % len(cores)]})  # what it starts inherits it
            cluster.add_node(num_cpus=1)
        os.sched_setaffinity(0, cores)
        model = tw.Task(CASES[SEARCHED[0]].dag().outputs, SEARCHED[0])
        moments: list[tuple[float, int]] = []
        with tempfile.TemporaryDirectory() as folder:
            tw.tune(
                model, trials=RAY_TRIALS, db=Path(folder) / "t.db", cluster=cluster.address,
                strategy="random", progress=False,
                callbacks=[
                    lambda p: moments.append((time.monotonic(), p.trials))
                    if p.phase == SEARCH or not p.trials else None
                ],
            )  # fmt: skip
        before = [m for m in moments if not m[1]][-1]
        return moments[-1][1] / (moments[-1][0] - before[0])
    finally:
        os.sched_setaffinity(0, cores)
        ray.shutdown()
        cluster.shutdown()


def measure(parts: Sequence[str], nodes: Sequence[int]) -> dict[str, Any]:
    """All parts that are asked for."""
    found: dict[str, Any] = {"summary": {}}
    if "busy" in parts:
        runs = {str(n): busy(n) for n in nodes}
        found["busy"] = runs
        found["summary"]["busy"] = {n: round(run["busy"], 3) for n, run in runs.items()}
        for n, run in runs.items():
            print(f"{n} nodes: {run}", flush=True)
    if "quality" in parts:
        serial = {seed: quality(1, seed) for seed in range(SEEDS)}
        ratios = {
            str(n): [quality(n, seed) / serial[seed] for seed in range(SEEDS)]
            for n in nodes
            if n > 1
        }
        found["best_over_serial"] = ratios
        means = {n: round(statistics.geometric_mean(each), 4) for n, each in ratios.items()}
        found["summary"]["best_over_serial"] = means
        print(f"best over the serial search's: {ratios}", flush=True)
    if "ray" in parts:
        rates = {str(n): ray_rate(n) for n in (1, 2)}
        found["trials_per_s"] = rates
        found["summary"]["two_nodes_speedup"] = round(rates["2"] / rates["1"], 3)
        print(f"trials a second on Ray nodes: {rates}", flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--json", type=result_file, help="also write the figures to this file")
    parser.add_argument("--parts", default="busy,quality,ray", help="%(default)s, or some of them")
    parser.add_argument("--nodes", default=",".join(map(str, NODES)), help="%(default)s")
    options = parser.parse_args()
    found = measure(options.parts.split(","), [int(n) for n in options.nodes.split(",")])
    print(json.dumps(found["summary"]))
    if options.json:
        options.json.write_text(json.dumps({**provenance(), **found}, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
