"""The two uses of workers: a pool of builders, and the client of one runner.

with BuilderPool("tilewright.build:build_request", processes=2) as pool:
    for index, outcome in pool.build(requests): ...       Built or Failure, as they finish

with RunnerClient() as runner:                            or RunnerClient(["ssh", "pi", …])
    timing = runner.run(task, artifact, RunOptions())
"""

from __future__ import annotations

import queue
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed, wait
from dataclasses import dataclass
from typing import Any, Self

from tilewright.contract import arguments
from tilewright.contract.surroundings import ALONE, Setting
from tilewright.ground.errors import RunError
from tilewright.ground.text import harmless
from tilewright.measure.gate import Tolerance
from tilewright.measure.inputs import InputKind, Place
from tilewright.measure.protocol import Header
from tilewright.measure.server import UnknownTaskError
from tilewright.measure.trial import RunOptions, Timing, is_time
from tilewright.measure.workers import RequestFailure, Worker, WorkerFailureError, worker_command

LOAD_TIMEOUT_S = 120.0
DEFAULT_BUILD_TIMEOUT_S = 30.0
KILL_AGAIN_S = 0.05  # what is killed between two requests starts anew for the next one


@dataclass(frozen=True, slots=True)
class Built:
    """A finished build: the artifact's bytes and the seconds it took."""

    artifact: bytes
    build_s: float


Outcome = Built | RequestFailure


class BuilderPool:
    """Processes that call one build function; each request is bytes and succeeds or fails alone."""

    def __init__(
        self,
        build: str,
        processes: int,
        timeout_s: float = DEFAULT_BUILD_TIMEOUT_S,
        memory_bytes: int = 0,
        env: Mapping[str, str] | None = None,
    ) -> None:
        """`build` is "module:attribute" of a function from bytes to bytes.

        `memory_bytes` limits each process's address space (0: no limit).
        """
        self.timeout_s = timeout_s
        command = worker_command("builder", build, "--memory-bytes", str(memory_bytes))
        self.workers = [Worker(command, "build", env) for _ in range(max(1, processes))]
        self._idle: queue.SimpleQueue[Worker] = queue.SimpleQueue()
        for worker in self.workers:
            self._idle.put(worker)
        self._threads = ThreadPoolExecutor(len(self.workers), "tilewright-builder")
        self._futures: set[Future[Outcome]] = set()

    def build(self, requests: Sequence[bytes]) -> Iterator[tuple[int, Outcome]]:
        """Build all requests; (index, outcome) pairs in the order they finish."""
        futures: dict[Future[Outcome], int] = {
            self._threads.submit(self._build_one, request): i for i, request in enumerate(requests)
        }
        self._futures |= futures.keys()
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        finally:
            for future in futures:
                future.cancel()
            self._futures = {f for f in self._futures if not f.done()}

    def _build_one(self, request: bytes) -> Outcome:
        worker = self._idle.get()
        try:
            answer, payloads = worker.request({"type": "build"}, [request], self.timeout_s)
            build_s: Any = answer.get("build_s")
            if answer["type"] != "built" or len(payloads) != 1 or not is_time(build_s):
                raise worker.nonsense("it is no 'built' with a time and one payload")
            return Built(payloads[0], build_s)
        except WorkerFailureError as error:
            return error.failure
        finally:
            self._idle.put(worker)

    def close(self) -> None:
        """End the processes at once, whatever they are building."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        while running := [f for f in self._futures if not f.done()]:
            for worker in self.workers:
                worker.kill()
            wait(running, KILL_AGAIN_S)
        self._threads.shutdown(wait=True)
        for worker in self.workers:
            worker.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclass(frozen=True, slots=True)
class TaskSpec:
    """What a runner needs to know of a task.

    `inputs` are the kinds of the inputs, then of the constants in their logical layouts; `probes`
    are flat indices of outputs (one tuple for each) whose reference values are sent back. With
    sizes it is measured at `places`, and has probes of each output at each.
    """

    name: str
    reference: bytes
    inputs: tuple[InputKind, ...]
    tolerance: Tolerance
    seed: int = 0
    probes: tuple[tuple[int, ...], ...] = ()
    setting: Setting = ALONE
    places: tuple[Place, ...] = ()


class RunnerClient:
    """A runner process, local or behind any command, that gets its tasks as it needs them."""

    def __init__(
        self, command: Sequence[str] | str | None = None, env: Mapping[str, str] | None = None
    ) -> None:
        """`command` starts the runner (None: here, with this Python); a string is split as a
        shell would. Raises InputError for one that cannot be.
        """
        if isinstance(command, str):
            command = arguments.command_words(command)
        self.worker = Worker(command or worker_command("runner"), "run", env)

    @property
    def facts(self) -> Header:
        """What the runner says of its machine: architecture, cpu, features, cores."""
        self.worker.start()
        return self.worker.facts

    def load(self, task: TaskSpec) -> list[bytes]:
        """Load a task; the reference's outputs at `task.probes`, as raw bytes.

        Raises RunError when the reference fails there; a runner that dies is tried once more.
        """
        header = {
            "type": "load_task",
            "task": task.name,
            "seed": task.seed,
            "inputs": [kind.to_json() for kind in task.inputs],
            "tolerance": task.tolerance.to_json(),
            "probes": [list(p) for p in task.probes],
            "between_bytes": task.setting.between_bytes,
            "places": [place.to_json() for place in task.places],
        }
        for attempt in (1, 2):
            try:
                answer, values = self.worker.request(header, [task.reference], LOAD_TIMEOUT_S)
                if answer["type"] != "loaded" or len(values) != len(task.probes):
                    kind = harmless(f"{answer['type']!r:.80}")
                    raise self.worker.nonsense(
                        f"{kind} with {len(values)} payloads, not 'loaded' with {len(task.probes)}"
                    )
                return values
            except WorkerFailureError as error:
                if error.failure.stage == self.worker.stage and attempt == 1:
                    continue
                raise RunError(
                    f"the reference program of {task.name} failed: {error.failure.error}: {error}"
                ) from error
        raise AssertionError("unreachable")

    def run(self, task: TaskSpec, artifact: bytes, options: RunOptions) -> Timing:
        """Check and time a candidate. Raises WorkerFailureError when it fails."""
        header = {"type": "run", "task": task.name, "options": options.to_json()}
        try:
            answer, _ = self.worker.request(header, [artifact], options.timeout_s)
        except WorkerFailureError as error:
            if error.failure.error != UnknownTaskError.__name__:
                raise
            self.load(task)
            answer, _ = self.worker.request(header, [artifact], options.timeout_s)
        try:
            return Timing.of_answer(answer)
        except RunError as error:
            raise self.worker.nonsense(str(error)) from error

    def close(self) -> None:
        """End the process."""
        self.worker.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
