"""`tilewright-runner`: the program that checks and times candidates on the measuring machine.

    requests on standard input ─► load_task, run ─► results on standard output

It is started by the tuner, here or through any command that carries standard input and output
(`ssh pi@board tilewright-runner`). The messages are described in docs/runner-protocol.md.
"""

from __future__ import annotations

import argparse
from collections import OrderedDict
from collections.abc import Callable
from statistics import fmean

from threadpoolctl import threadpool_limits

from tilewright.contract.artifact import Artifact
from tilewright.contract.surroundings import Setting
from tilewright.ground.lazy import llvm
from tilewright.measure.gate import Tolerance
from tilewright.measure.inputs import InputKind, Place
from tilewright.measure.protocol import Header, Payloads
from tilewright.measure.quiet import Pace, Patience, undisturbed
from tilewright.measure.server import Answer, SpoiltError, UnknownTaskError, serve
from tilewright.measure.sized_trial import SizedTask
from tilewright.measure.trial import RunOptions, Timing
from tilewright.measure.trial_task import TrialTask, trial_task_of
from tilewright.runtime.host import host_architecture
from tilewright.target import CpuTarget, Target, available_cores

# Tasks kept loaded; beyond it the least recently used one is dropped (and loaded again on demand).
DEFAULT_TASK_BYTES = 1 << 30
TIMING_SHARE = 0.3  # of the time that a run may take, for timings tried again


class Runner:
    """The tasks of one runner process."""

    def __init__(self, task_bytes: int = DEFAULT_TASK_BYTES) -> None:
        self._task_bytes = task_bytes
        self._patience = Patience()
        self._pace: Pace | None = None
        self._tasks: OrderedDict[str, TrialTask] = OrderedDict()

    def load_task(self, header: Header, payloads: Payloads) -> Answer:
        """Make a task's inputs, run its reference, answer the outputs at the asked points."""
        reference = Artifact.from_bytes(payloads[0])
        kinds = [InputKind.from_json(k) for k in header["inputs"]]
        tolerance = Tolerance.from_json(header["tolerance"])
        seed, setting = header["seed"], Setting(header["between_bytes"])
        task: TrialTask
        if places := [Place.from_json(place) for place in header["places"]]:
            task = SizedTask(reference, kinds, tolerance, seed, setting, places)
        else:
            kind = trial_task_of(Target.parse(reference.target))
            task = kind(reference, kinds, tolerance, seed, setting)
        values = task.values_at(header["probes"])
        self._tasks[header["task"]] = task
        self._make_room()
        return {"type": "loaded", "reference_s": task.reference_s}, values

    def run(self, header: Header, payloads: Payloads) -> Answer:
        """Check and time one candidate."""
        name = header["task"]
        if name not in self._tasks:
            raise UnknownTaskError(f"task {name} is not loaded")
        self._tasks.move_to_end(name)
        options = RunOptions.from_json(header["options"])
        artifact, task = Artifact.from_bytes(payloads[0]), self._tasks[name]
        limit_s = options.timeout_s * TIMING_SHARE
        pace = self._pace_of(artifact)

        def retry(timed: Callable[[], Timing]) -> Timing:
            slowdown = pace.slowdown if pace else lambda: 0.0
            return undisturbed(timed, self._patience, slowdown, limit_s)

        regions_s = [pace.region_s()] if pace else []
        try:
            timing = task.run(artifact, options, retry)
        except Exception as error:
            if task.spoilt:
                raise SpoiltError from error
            raise
        regions_s += [pace.region_s()] if pace else []
        return {
            "type": "result",
            "latencies_s": timing.latencies_s,
            "stopped_early": timing.stopped_early,
            "spent_s": timing.spent_s,
            "region_s": fmean(regions_s) if regions_s else None,
            "points_s": timing.points_s,
        }, ()

    def _pace_of(self, artifact: Artifact) -> Pace | None:
        """What tells how fast this machine is just now; of a device's programs only waits tell.

        Figures that are relative to a reference need it, too: what slows down multiply-adds may
        leave a program alone that waits for memory.
        """
        target = Target.parse(artifact.target)
        if not isinstance(target, CpuTarget):
            return None
        if self._pace is None or self._pace.target != target:
            self._pace = Pace(target)
        return self._pace

    def _make_room(self) -> None:
        while len(self._tasks) > 1:
            if sum(t.nbytes for t in self._tasks.values()) <= self._task_bytes:
                return
            self._tasks.popitem(last=False)


def machine_facts() -> Header:
    """What a runner says about its machine in `hello`."""
    features = sorted(name for name, on in llvm.get_host_cpu_features().items() if on)
    return {
        "architecture": host_architecture(),
        "cpu": llvm.get_host_cpu_name(),
        "features": features,
        "cores": available_cores(),
    }


def main() -> None:
    """The entry point of the command `tilewright-runner`."""
    parser = argparse.ArgumentParser(
        prog="tilewright-runner",
        description="Checks and times compiled candidates for a Tilewright tuner, which starts it "
        "and talks to it over standard input and output: "
        'tilewright tune ... --runner "ssh pi@board tilewright-runner".',
    )
    parser.add_argument(
        "--task-bytes",
        type=int,
        default=DEFAULT_TASK_BYTES,
        help="memory for inputs and expected outputs of the tasks kept loaded (%(default)s)",
    )
    runner = Runner(parser.parse_args().task_bytes)
    # Packing weights multiplies matrices. A BLAS thread that helped waits for more, actively, while
    # kernels lose time slices to it.
    with threadpool_limits(1, user_api="blas"):
        serve({"load_task": runner.load_task, "run": runner.run}, machine_facts())


if __name__ == "__main__":
    main()
