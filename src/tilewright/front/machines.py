"""Several equal machines as one measurer: each share of programs goes to one that is free.

    lanes, left_out = one_group(lanes, wanted=None)      those that figures may be compared between
    with contextlib.closing(Machines(lanes, left_out)) as machines:
        Tuner(..., machines, lanes=len(lanes), machines=machines.line)

A machine that does not answer loses what it was measuring, which goes to another, and is asked
again later. One whose cores others take, or on which a default program no longer takes what it
took, is set aside while another is left, and taken back.
"""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from math import inf
from time import monotonic
from typing import Any, TypeAlias, TypeVar

from tilewright.contract.arguments import command_words
from tilewright.contract.gene import Gene
from tilewright.front.machine import compiler_of
from tilewright.front.task_measurer import TaskMeasurer
from tilewright.ground import log
from tilewright.ground.errors import InputError, RunError, TilewrightError
from tilewright.ground.text import count, harmless, one_line
from tilewright.measure.measurer import MeasureResult
from tilewright.measure.trial import RunOptions
from tilewright.records.machine import Machine
from tilewright.search.disturbance import DRIFT
from tilewright.search.tasks import TuningTask
from tilewright.target import Target, available_cores

AWAY_S = 20.0  # before a machine that was set aside, or is gone, is tried again
CHECK = 64  # programs between two looks at a default program
WAIT_S = 0.5  # between two looks at machines that are away
CLOSE_S = 5.0  # that machines have to end what they do
WINDOW = 64  # shares that the rate is told of
SHOWN = 160  # characters of a reason
DEATHS = ("Exit", "SIGKILL", "SIGHUP", "SIGTERM")  # of a runner: is the machine still there?

Result = TypeVar("Result")
Runners: TypeAlias = Sequence[str] | Sequence[Sequence[str]] | str
"""The command of a runner, as a text or a list of words, or a list of such lists."""


def commands_of(runner: Runners | None) -> list[list[str]]:
    """Each command's words. Raises InputError."""
    if runner is None:
        return []
    if isinstance(runner, str):
        return [command_words(runner)]
    words = [word for word in runner if isinstance(word, str)]
    many = [list(each) for each in runner if not isinstance(each, str)]
    if not all(many) or bool(words) == bool(many):
        raise InputError(f"a runner is a text, a list of words, or several such lists: {runner!r}")
    return many or [words]


class GoneError(RunError):
    """What measured is gone, and with it what it was measuring."""


@dataclass(eq=False)
class Lane:
    """One machine. `answers` raises RunError when it is gone, `load` says why its cores are taken
    (nothing, if they are not or nobody knows), `stop` ends at once what it does. `note` is why it
    is away `until` then, by the monotonic clock.
    """

    name: str
    machine: Machine
    measurer: TaskMeasurer
    answers: Callable[[], object]
    load: Callable[[], str] = lambda: ""
    stop: Callable[[], object] = lambda: None
    note: str = ""
    is_gone: bool = False
    until: float = 0.0
    measured: int = 0  # since its last look at a default program


def runner_lanes(
    commands: Sequence[Sequence[str]],
    target: Target,
    options: RunOptions | None,
    budget_s: float | None,
    opened: ExitStack,
) -> list[Lane]:
    """One for each runner's command, which ends with `opened`; builders are here, and share the
    cores. Raises RunError for a command that starts no runner.
    """
    lanes: list[Lane] = []
    builders = max(1, available_cores() // len(commands))
    for command in commands:
        measurer = TaskMeasurer(target, command, options, budget_s, builders=builders)
        opened.callback(measurer.close)
        runner = measurer.local.runner
        facts, worker = runner.facts, runner.worker
        machine = Machine.of(
            target.kind, cpu=str(facts.get("cpu", "?")), features=map(str, facts["features"]),
            cores=int(facts["cores"]), compiler=compiler_of(target),
        )  # fmt: skip
        name = harmless(" ".join(command))
        lanes.append(Lane(name, machine, measurer, worker.start, stop=worker.kill))
    return lanes


def one_group(lanes: Sequence[Lane], wanted: str | None = None) -> tuple[list[Lane], list[str]]:
    """The lanes of equal machines, those that `wanted` is part of the name of, or the most; and why
    others are left out. Raises InputError where none or several kinds are wanted.
    """
    sizes = Counter(lane.machine for lane in lanes)
    kinds = [m for m, _ in sizes.most_common() if wanted is None or wanted in str(m)]
    if not kinds or (wanted is not None and len(kinds) > 1):
        listed = "; ".join(f"{count(n, 'time')} {m}" for m, n in sizes.items()) or "none"
        which = "no" if not kinds else "more than one kind of"
        raise InputError(f"{which} machine is {wanted!r}; there are: {listed}")
    chosen = kinds[0]
    left_out = []
    for lane in lanes:
        if lane.machine != chosen:
            reason = "; ".join(chosen.differences(lane.machine))
            left_out.append(f"{lane.name} ({one_line(reason, SHOWN)})")
    return [lane for lane in lanes if lane.machine == chosen], left_out


@dataclass(eq=False)
class Machines:
    """A measurer for as many threads as there are lanes and builders. `left_out` are machines of
    other kinds; `is_there` raises RunError when all that leads to them is gone. `builders` give
    what a machine that does not measure makes of requests, in a form that a lane's measurer takes.
    """

    lanes: Sequence[Lane]
    left_out: Sequence[str] = ()
    is_there: Callable[[], object] = lambda: None
    builders: Sequence[Callable[[list[bytes]], Any]] = ()
    _ends: deque[tuple[float, int]] = field(default_factory=lambda: deque(maxlen=WINDOW))
    _is_closed: bool = False

    def __post_init__(self) -> None:
        self._change = threading.Condition()
        self._free, self._idle = list(self.lanes), list(self.builders)
        for text in self.left_out:
            log.warning("left out: %s", text)

    @property
    def target(self) -> Target:
        """What programs are made for."""
        return self.lanes[0].measurer.target

    # ---- measuring ----------------------------------------------------------------------------

    def measure(
        self,
        task: TuningTask,
        default: Gene,
        genes: Sequence[Gene],
        best_s: float | None,
        default_s: float | None = None,
    ) -> list[MeasureResult]:
        """Results of programs, all of one machine; see `Measurer`."""

        built = self._built(task, genes)

        def work(lane: Lane) -> list[MeasureResult]:
            once = [built.pop()] if built else []  # it may be what is lost
            found = lane.measurer.measure(task, default, genes, best_s, default_s, *once)
            lane.measured += len(genes)
            if any(r.error in DEATHS for r in found):
                lane.answers()
            return found

        found = self._on_one(work, task, default, default_s)
        with self._change:
            self._ends.append((monotonic(), len(genes)))
        return found

    def confirm(
        self, task: TuningTask, default: Gene, genes: Sequence[Gene]
    ) -> list[tuple[float, ...]]:
        """Latencies of finalists and the default program, in turns on one machine."""
        return self._on_one(lambda lane: lane.measurer.confirm(task, default, genes), task, default)

    def _built(self, task: TuningTask, genes: Sequence[Gene]) -> list[Any]:
        """What a machine that does not measure makes of programs; nothing where none is free."""
        with self._change:
            builders = [self._idle.pop()] if self._idle else []
        try:
            built = [build(self.lanes[0].measurer.requests(task, genes)) for build in builders]
        except TilewrightError as error:
            log.warning("no longer builds: %s", error)
            return []
        with self._change:
            self._idle += builders
        return built

    def _on_one(
        self,
        work: Callable[[Lane], Result],
        task: TuningTask,
        default: Gene,
        default_s: float | None = None,
    ) -> Result:
        while True:
            lane = self._take(task)
            try:
                if self._is_fit(lane, task, default, default_s):
                    return work(lane)
            except RunError as error:
                if self._is_closed or not (self._is_lost(lane) or isinstance(error, GoneError)):
                    raise
                self._check_left(error)
            finally:
                with self._change:
                    self._free.append(lane)
                    self._change.notify_all()

    def _take(self, task: TuningTask) -> Lane:
        """A free machine, one that knows the task if there is one; waits for it."""
        with self._change:
            while True:
                if self._is_closed:
                    raise RunError("measuring has ended")
                now = monotonic()
                is_any_fit = any(not lane.note for lane in self.lanes)
                ready = [
                    lane
                    for lane in self._free
                    if now >= lane.until or not (is_any_fit or lane.is_gone)
                ]
                if ready:
                    chosen = min(ready, key=lambda lane: task.hash not in lane.measurer.loaded)
                    self._free.remove(chosen)
                    chosen.measurer.loaded.add(task.hash)
                    return chosen
                self._change.wait(WAIT_S)

    # ---- machines that are not as they were ---------------------------------------------------

    def _is_fit(self, lane: Lane, task: TuningTask, default: Gene, default_s: float | None) -> bool:
        """Whether a machine is to measure now: it answers, nobody takes its cores, and it is as
        fast as it was; or it is the last.
        """
        was, reason = lane.note, lane.load()
        if lane.is_gone:
            lane.answers()
            lane.is_gone = False
        if not reason and default_s and (lane.measured >= CHECK or was):
            reason = self._drift(lane, task, default, default_s)
        lane.note, lane.until = reason, monotonic() + AWAY_S if reason else 0.0
        if was and not reason:
            log.warning("%s measures again", lane.name)
        if reason and not was:
            log.warning("%s is set aside: %s", lane.name, reason)
        return not reason or not any(not other.note for other in self.lanes)

    def _drift(self, lane: Lane, task: TuningTask, default: Gene, default_s: float) -> str:
        """That a default program takes another time than it did, twice in a row."""
        lane.measured = 0
        ratio = 1.0
        for _ in range(2):
            (found,) = lane.measurer.measure(task, default, [default], None)
            ratio = found.latency_s / default_s
            if 1 / DRIFT <= ratio <= DRIFT:
                return ""
        if ratio == inf:
            return f"the default program of {task.name} fails"
        return f"the default program of {task.name} takes {ratio:.1f} times as long as it did"

    def _is_lost(self, lane: Lane) -> bool:
        """Whether a machine is gone, after an error; it is away then."""
        try:
            lane.answers()
        except RunError as error:
            reason = one_line(str(error), SHOWN)
            lane.note, lane.is_gone, lane.until = reason, True, monotonic() + AWAY_S
            if not self._is_closed:
                log.warning("%s is gone: %s", lane.name, reason)
            return True
        return False

    def _check_left(self, error: RunError) -> None:
        """Raise RunError when no machine is left."""
        self.is_there()
        if all(lane.is_gone for lane in self.lanes):
            raise RunError(
                f"no machine is left to measure on; the last one said: {error}. What was measured "
                "is recorded: the same command goes on"
            ) from error

    # ---- what is told -------------------------------------------------------------------------

    def line(self) -> str:
        """`3 of 4 machines measure · 21.0 trials/s · idle: a · away: b (its cores are taken)`."""
        with self._change:
            idle = [lane.name for lane in self._free if not lane.note]
            ends = list(self._ends)
        spent_s = monotonic() - ends[0][0] if ends else 0.0
        rate = sum(n for _, n in ends[1:]) / spent_s if spent_s > 0 else 0.0
        here = sum(not lane.note for lane in self.lanes)
        parts = [f"{here - len(idle)} of {count(len(self.lanes), 'machine')} measure"]
        parts.append(f"{rate:.1f} trials/s")
        lists = ("idle", idle), ("away", [self.look()]), ("left out", self.left_out)
        parts += [f"{state}: {', '.join(names)}" for state, names in lists if any(names)]
        return " · ".join(parts)

    def look(self) -> str:
        """Which machines are away, and why."""
        return ", ".join(f"{lane.name} ({lane.note})" for lane in self.lanes if lane.note)

    def close(self) -> None:
        """End what machines do, and then their processes."""
        with self._change:
            self._is_closed = True
            self._change.notify_all()
            for lane in self.lanes:
                if lane not in self._free:
                    lane.stop()
            self._change.wait_for(lambda: len(self._free) == len(self.lanes), CLOSE_S)
        for lane in self.lanes:
            lane.measurer.close()
