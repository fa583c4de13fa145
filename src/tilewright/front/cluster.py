"""The machines of a Ray cluster: on each one actor, which holds the runner and builders there.

    with joined("auto") as cluster:
        lanes, left_out = one_group(cluster.lanes(None, options, budget_s))
        machines = Machines(lanes, left_out + cluster.left_out, cluster.check)

An actor takes all cores (and GPUs) that Ray has on its machine, so nothing else of Ray's runs
beside it. It has a name: drivers that tune on one cluster at the same time share it, and their
programs wait for each other. It is started anew when it dies. Needs the extra `cluster`.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from math import inf
from typing import Any, TypeAlias

from tilewright.front.machine import as_target, compiler_of, machine_of
from tilewright.front.machines import (
    SHOWN,
    GoneError,
    Lane,
    Machines,
    Runners,
    commands_of,
    one_group,
    runner_lanes,
)
from tilewright.front.task_measurer import TaskMeasurer
from tilewright.ground import __version__
from tilewright.ground.errors import InputError, RunError
from tilewright.ground.text import one_line
from tilewright.measure.device_trial import device_of
from tilewright.measure.load import LoadWatch
from tilewright.measure.measurer import BatchFailedError, LocalMeasurer, MeasureResult
from tilewright.measure.pools import Outcome
from tilewright.measure.task import MeasureTask
from tilewright.measure.trial import RunOptions
from tilewright.records.machine import Machine
from tilewright.search.tasks import Measurer
from tilewright.target import CpuTarget, Target, available_cores

NAMESPACE = "tilewright"
START_S = 60.0  # that an actor has to start
ANSWER_S = 15.0
TRIES, AGAIN_S = 4, 0.5  # a dead actor's name is not free at once
BUILDER = "builder"  # the resource of a machine that only builds
POLL_S = 3.0  # between two looks at whether the cluster is there
CONNECT_S = 5.0
LOOPBACK = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"  # "0": a node's address is 127.0.0.1

Results: TypeAlias = list[MeasureResult]
Built: TypeAlias = list[Outcome]


class Host:
    """The actor: a LocalMeasurer, and what it is asked for. `spec` names the target as a user does;
    the classes are those of what measures, and of what watches the cores.
    """

    def __init__(
        self, spec: str | None, measurer: type[LocalMeasurer], watch: type[LoadWatch]
    ) -> None:
        self.target = as_target(spec)
        if isinstance(self.target, CpuTarget):  # what was measured is this machine's alone
            self.target = replace(self.target, measured=None)
        free = available_cores() - 1 if self.target.backend.apart else None
        self.local, self.watch = measurer(free_cores=free), watch()

    def about(self) -> tuple[str, str, Target, Machine]:
        """The machine's name, the package's version, the target, and what makes figures equal."""
        return socket.gethostname(), __version__, self.target, machine_of(self.target)

    def build(self, target: str, compiler: str, requests: Sequence[bytes]) -> tuple[str, Built]:
        """By which compiler, and what comes of build requests. Raises RunError for another one."""
        mine = compiler_of(Target.parse(target))
        if mine != compiler:
            raise RunError(f"{socket.gethostname()} has {mine}, not {compiler}")
        return mine, self.local.build(requests)

    def ask(self, options: RunOptions, verb: str, *given: Any) -> tuple[Results, str | None, str]:
        """What `verb` of the measurer gives; why all failed, if so; why the cores are taken."""
        self.local.options = options
        failed = None
        try:
            results: Results = getattr(self.local, verb)(*given)
        except BatchFailedError as error:
            results, failed = list(error.results), str(error)
        return results, failed, self.watch.look()


@dataclass(eq=False)
class Remote:
    """A LocalMeasurer on a machine, which is a `node` of Ray's, by its actor. `load` is what it
    said of its cores last.
    """

    cluster: Cluster
    node: dict[str, Any]
    spec: str | None
    options: RunOptions = field(default_factory=RunOptions)
    load: str = ""

    def __post_init__(self) -> None:
        self.name: str = self.node["NodeManagerHostname"]
        self.builds = BUILDER in self.node["Resources"]
        self.actor = self.start()

    def start(self) -> Any:
        """The actor, a new one where there is none."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy as Affinity

        resources, node = self.node["Resources"], self.node["NodeID"]
        spec = None if self.builds else self.spec
        what = sha256(f"{node} {spec} {__version__}".encode()).hexdigest()
        actor = _ray().remote(Host).options(
            name=what, namespace=NAMESPACE, get_if_exists=True, max_restarts=-1,
            num_cpus=resources["CPU"], num_gpus=resources.get("GPU", 0),
            scheduling_strategy=Affinity(node, soft=False),
        )  # fmt: skip
        return actor.remote(spec, LocalMeasurer, LoadWatch)

    def measure(self, *given: Any) -> Results:
        """See LocalMeasurer. Raises GoneError, too."""
        return self._ask("measure", *given)

    def confirm(self, *given: Any) -> Results:
        """See LocalMeasurer. Raises GoneError, too."""
        return self._ask("confirm", *given)

    def _ask(self, verb: str, *given: Any) -> Results:
        results, failed, self.load = self._got(self.actor.ask.remote(self.options, verb, *given))
        if failed is not None:
            raise BatchFailedError(failed, results)
        return list(results)

    def build(self, *given: Any) -> Any:
        """What the actor builds: a reference, for artifacts go straight to who measures them.
        Raises GoneError, too.
        """
        done, built = self.actor.build.options(num_returns=2).remote(*given)
        self._got(done)
        return built

    def about(self) -> tuple[str, str, Target, Machine]:
        """What the actor says of its machine, or another one started there: one that just died
        keeps its name for a moment. Raises GoneError.
        """
        for tries in range(TRIES):
            if tries:
                time.sleep(AGAIN_S)
                self.cluster.check()
                self.actor = self.start()
            with suppress(GoneError):
                return self._got(self.actor.about.remote(), ANSWER_S)  # type: ignore[no-any-return]
        raise GoneError(f"{self.name} does not answer")

    def _got(self, reference: Any, limit_s: float = inf) -> Any:
        """What an actor answers; its errors are ours. Raises GoneError, and RunError when the
        cluster is gone, of which Ray says nothing for a minute.
        """
        ray = _ray()
        until = time.monotonic() + limit_s
        try:
            while not ray.wait([reference], timeout=min(limit_s, POLL_S))[0]:
                self.cluster.check()
                if time.monotonic() >= until:
                    raise GoneError(f"{self.name} does not answer within {limit_s:g} s")
            return ray.get(reference)
        except ray.exceptions.RayError as error:
            cause = getattr(error, "cause", error)
            if not isinstance(cause, ray.exceptions.RayError):
                raise cause from None
            raise GoneError(f"{self.name}: {one_line(str(error), SHOWN)}") from error

    def said(self) -> str:
        """Why the machine's cores were taken when it last answered."""
        return self.load

    def close(self) -> None:
        """Leave the actor, which ends when no driver has it."""
        self.actor = None


@dataclass(eq=False)
class Cluster:
    """A cluster that this process has joined. `left_out` says which of its machines cannot measure,
    and why; `remotes` are those that may build.
    """

    address: str
    left_out: list[str] = field(default_factory=list)
    remotes: list[Remote] = field(default_factory=list)

    def lanes(
        self, spec: str | None, options: RunOptions | None, budget_s: float | None
    ) -> list[Lane]:
        """One for each machine that has cores for Ray. Raises RunError where there is none."""
        ray = _ray()
        nodes = [node for node in ray.nodes() if node["Alive"]]
        remotes = [Remote(self, n, spec) for n in nodes if n["Resources"].get("CPU")]
        idle = [n["NodeManagerHostname"] for n in nodes if not n["Resources"].get("CPU")]
        self.left_out += [f"{name} (it has no cores for Ray)" for name in idle]
        asked = {remote.actor.about.remote(): remote for remote in remotes}
        answered, _ = ray.wait(list(asked), num_returns=len(asked), timeout=START_S)
        lanes: list[Lane] = []
        known: dict[str, MeasureTask] = {}
        for reference, remote in asked.items():
            if reference not in answered:
                self.left_out.append(f"{remote.name} (its cores are taken by other work of Ray)")
                continue
            name, version, target, machine = remote.about()
            alike = sum(lane.name.partition("#")[0] == name for lane in lanes)
            remote.name = f"{name}#{alike + 1}" if alike else name
            if version != __version__:
                self.left_out.append(f"{remote.name} (Tilewright {version}, not {__version__})")
                continue
            self.remotes.append(remote)
            if remote.builds:
                self.left_out.append(f"{remote.name} (it builds)")
                continue
            measurer = TaskMeasurer(target, None, options, budget_s, known, local=remote)
            lanes.append(Lane(remote.name, machine, measurer, remote.about, remote.said))
        if not lanes:
            why = ", ".join(self.left_out) or "it has none"
            raise RunError(f"no machine of the Ray cluster at {self.address} can measure: {why}")
        return lanes

    def check(self) -> None:
        """Raise RunError when the cluster's head does not answer."""
        host, _, port = self.address.rpartition(":")
        try:
            socket.create_connection((host, int(port)), CONNECT_S).close()
        except (OSError, ValueError) as error:
            raise RunError(
                f"no Ray cluster answers at {self.address!r} ({error}): start it (ray start "
                "--head), and run the same command again. What was measured is recorded"
            ) from error


@dataclass(frozen=True)
class Site:
    """Where a run measures: so many shares at once (`lanes`), on this machine alone (`is_here`).
    `look` says why cores are taken, `line` what several machines do.
    """

    target: Target
    measurer: Measurer
    look: Callable[[], str]
    line: Callable[[], str] = lambda: ""
    lanes: int = 1
    is_here: bool = False


@contextmanager
def site(
    cluster: str | None,
    runner: Runners | None,
    target: Target | str | None,
    machine: str | None,
    options: RunOptions | None,
    budget_s: float | None,
) -> Iterator[Site]:
    """The machines of a cluster, or of several runners; else the one of a runner, or this one.
    Raises InputError for what does not go together, TargetError for a device that is not here.
    """
    commands = commands_of(runner)
    if cluster is not None and runner is not None:
        raise InputError("a cluster has its own runners: give cluster or runner, not both")
    if machine is not None and cluster is None and len(commands) < 2:
        raise InputError(f"machine={machine!r} chooses among several: give a cluster, or runners")
    with ExitStack() as stack:
        if cluster is not None:
            found = stack.enter_context(joined(cluster))
            spec = None if target is None else str(target)
            lanes, others = one_group(found.lanes(spec, options, budget_s), machine)
            measuring = [lane.measurer.local for lane in lanes]
            wanted = str(lanes[0].measurer.target), lanes[0].machine.compiler
            spare = [partial(r.build, *wanted) for r in found.remotes if r not in measuring]
            many = Machines(lanes, [*others, *found.left_out], found.check, spare)
        elif len(commands) > 1:
            lanes = runner_lanes(commands, as_target(target), options, budget_s, stack)
            many = Machines(*one_group(lanes, machine))
        else:
            chosen, command = as_target(target), next(iter(commands), None)
            if command is None and chosen.backend.device is not None:
                device_of(chosen)
            one = stack.enter_context(closing(TaskMeasurer(chosen, command, options, budget_s)))
            look = LoadWatch().look if command is None else str
            yield Site(chosen, one, look, is_here=command is None)
            return
        stack.enter_context(closing(many))
        yield Site(many.target, many, many.look, many.line, len(many.lanes) + len(many.builders))


@contextmanager
def joined(address: str) -> Iterator[Cluster]:
    """Join the cluster at "HOST:PORT"; "auto": the one that this machine is of, or else one of this
    machine alone, which nobody else reaches and which is started for as long. Raises RunError where
    no cluster answers.
    """
    ray = _ray()
    found = _running(ray) if address == "auto" else address
    if found is not None:
        Cluster(found).check()
    is_mine = not ray.is_initialized()
    if is_mine and found is None:
        os.environ[LOOPBACK] = "0"
        ray._private.ray_constants.ENABLE_RAY_CLUSTER = False
    if is_mine:
        try:
            ray.init(
                found or "local", namespace=NAMESPACE, log_to_driver=False, logging_level="error"
            )
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise RunError(f"the Ray cluster at {found} cannot be joined: {error}") from error
    try:
        yield Cluster(ray.get_runtime_context().gcs_address)
    finally:
        if is_mine:
            ray.shutdown()


def _running(ray: Any) -> str | None:
    """The address of the cluster that this machine is of, if one answers there."""
    address = os.environ.get("RAY_ADDRESS") or ray._private.utils.read_ray_address()
    try:
        Cluster(address or "").check()
    except RunError:  # the file that names it outlives a cluster
        return None
    return address


def _ray() -> Any:
    """The module. Raises RunError where it is not installed."""
    try:
        import ray
        import ray.exceptions
    except ModuleNotFoundError as error:
        raise RunError(
            "--cluster needs Ray, which is not installed: pip install 'tilewright[cluster]'"
        ) from error
    return ray
