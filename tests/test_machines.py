"""Several machines as one measurer: who gets what, who is set aside, who is gone."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import tilewright as tw
from cli_models import cli, save_classifier
from made_up_latencies import Simulated
from tilewright.expr import operators as ops
from tilewright.expr.dag import ComputeDAG
from tilewright.front import machines as several
from tilewright.front.machines import CHECK, GoneError, Lane, Machines, commands_of, one_group
from tilewright.front.task_measurer import TaskMeasurer
from tilewright.ground.errors import InputError, RunError
from tilewright.measure.measurer import MeasureResult
from tilewright.measure.task import MeasureTask
from tilewright.records.database import Database
from tilewright.records.machine import Machine
from tilewright.search.tasks import TuningTask
from tilewright.space.default import default_gene
from tilewright.target import Target
from workloads import given

TARGET = Target.parse("cpu:icelake-server cores=2")
TASK = TuningTask("relu", ComputeDAG([ops.relu(given(8, 8))]))
OTHER = TuningTask("tanh", ComputeDAG([ops.tanh(given(8, 8))]))
RUNNER = [sys.executable, "-m", "tilewright.measure.runner"]


def machine(cpu: str = "simulated", cores: int = 2) -> Machine:
    return Machine.of("cpu", cpu=cpu, features="+avx2", cores=cores, compiler="none")


class Board(Simulated):
    """A machine that takes `latency_s` for every program, and dies when it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.latency_s, self.dies, self.busy = 1e-3, False, ""
        self.asked: list[int] = []
        self.given: list[str] = []
        self.gate: threading.Event | None = None

    def measure(
        self, task: MeasureTask, candidates: Sequence[bytes], *more: Any
    ) -> list[MeasureResult]:
        self.given += more[2:]
        if self.gate is not None:
            assert self.gate.wait(20)
        self.check()
        self.asked.append(len(candidates))
        return [MeasureResult("ok", latencies_s=(self.latency_s,)) for _ in candidates]

    def check(self) -> None:
        if self.dies:
            raise RunError("the board does not answer")


def lane(name: str, about: Machine | None = None) -> Lane:
    board = Board()
    measurer = TaskMeasurer(TARGET, local=board)
    return Lane(name, about or machine(), measurer, board.check, load=lambda: board.busy)


def board_of(one: Lane) -> Board:
    assert isinstance(one.measurer.local, Board)
    return one.measurer.local


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Time goes on as it is told."""
    now = [100.0]
    monkeypatch.setattr(several, "monotonic", lambda: now[0])
    return lambda seconds: now.__setitem__(0, now[0] + seconds)


def ask(many: Machines, task: TuningTask = TASK, n: int = 4) -> list[MeasureResult]:
    default = default_gene(task.space(TARGET))
    return many.measure(task, default, [default] * n, None, 1e-3)


def asked(many: Machines) -> list[int]:
    return [sum(board_of(one).asked) for one in many.lanes]


def test_a_task_goes_to_a_machine_that_knows_it() -> None:
    many = Machines([lane("a"), lane("b")])
    for task in (TASK, OTHER, TASK, OTHER, TASK):
        ask(many, task)
    assert sorted(asked(many)) == [8, 12]


@pytest.mark.parametrize("lost", ["nothing", "builder", "lane"])
def test_what_another_machine_built_is_measured(
    lost: str, caplog: pytest.LogCaptureFixture
) -> None:
    def build(requests: list[bytes]) -> str:
        if lost == "builder":
            raise GoneError("the builder does not answer")
        assert requests == TaskMeasurer(TARGET, local=Board()).requests(TASK, [default] * 4)
        return "built"

    default = default_gene(TASK.space(TARGET))
    many = Machines([lane("a"), lane("b")], builders=[build])
    board_of(many.lanes[0]).dies = lost == "lane"
    ask(many)
    ask(many)
    given = [text for one in many.lanes for text in board_of(one).given]
    assert given == ["built"] * {"nothing": 2, "builder": 0, "lane": 2}[lost]
    assert sum(asked(many)) == 8
    assert sum("no longer builds" in text for text in caplog.messages) == (lost == "builder")


@pytest.mark.parametrize("dead", [(0,), (0, 1)])
def test_what_a_dead_machine_was_measuring_goes_to_another(
    dead: tuple[int, ...], clock: Callable[[float], None], caplog: pytest.LogCaptureFixture
) -> None:
    many = Machines([lane(name) for name in "abc"])
    for number in dead:
        board_of(many.lanes[number]).dies = True
    found = [ask(many) for _ in range(5)]
    assert all(len(results) == 4 for results in found)
    assert sum(asked(many)) == 20
    assert all(asked(many)[number] == 0 for number in dead)
    gone = [text for text in caplog.messages if "is gone: the board does not answer" in text]
    assert len(gone) <= len(dead)
    # One that answers again is taken back, after a while.
    for number in dead:
        board_of(many.lanes[number]).dies = False
    clock(2 * several.AWAY_S)
    for task in (TASK, OTHER) * 3:
        ask(many, task)
    assert not many.look()


def test_when_no_machine_is_left_there_is_one_error() -> None:
    many = Machines([lane("a"), lane("b")])
    for one in many.lanes:
        board_of(one).dies = True
    with pytest.raises(RunError, match=r"no machine is left.*the same command goes on"):
        ask(many)
    lost = Machines([lane("a")], is_there=lambda: (_ for _ in ()).throw(RunError("all is gone")))
    board_of(lost.lanes[0]).dies = True
    with pytest.raises(RunError, match=r"^all is gone$"):
        ask(lost)


def test_an_error_of_a_machine_that_answers_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> list[MeasureResult]:
        raise RunError("the reference program of relu failed")

    many = Machines([lane("a"), lane("b")])
    for one in many.lanes:
        monkeypatch.setattr(board_of(one), "measure", fails)
    with pytest.raises(RunError, match="the reference program"):
        ask(many)
    assert not many.look()


def test_what_is_gone_and_there_again_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    many = Machines([lane("a")])
    board, faults = board_of(many.lanes[0]), [GoneError("its actor died"), None]
    measure = board.measure

    def once(*words: Any) -> list[MeasureResult]:
        if (fault := faults.pop(0)) is not None:
            raise fault
        return measure(*words)

    monkeypatch.setattr(board, "measure", once)
    assert len(ask(many)) == 4


def test_a_runner_that_ended_with_its_machine_has_measured_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The last program of a share met the end: that is not its fault."""
    many = Machines([lane("a"), lane("b")])
    board = board_of(many.lanes[0])

    def ends(task: MeasureTask, candidates: Sequence[bytes], *_: float) -> list[MeasureResult]:
        board.dies = True
        return [MeasureResult("run", "Exit", "ended with code 255") for _ in candidates]

    monkeypatch.setattr(board, "measure", ends)
    assert all(r.stage == "ok" for r in ask(many))
    assert asked(many) == [0, 4]


@pytest.mark.parametrize("kind", ["load", "slower", "faster"])
def test_a_machine_that_is_not_as_it_was_is_set_aside_and_taken_back(
    kind: str, clock: Callable[[float], None], caplog: pytest.LogCaptureFixture
) -> None:
    many = Machines([lane("a"), lane("b")])
    ask(many)
    (known,) = [one for one in many.lanes if board_of(one).asked]
    board = board_of(known)
    board.busy = "another program takes 1.0 of 2 cores" if kind == "load" else ""
    board.latency_s *= {"load": 1.0, "slower": 2.0, "faster": 0.4}[kind]
    known.measured = CHECK
    for _ in range(4):
        ask(many)
    reason = board.busy or "the default program of relu takes "
    assert f"{known.name} ({reason}" in many.look()
    assert f"away: {known.name} (" in many.line()
    assert [other for other in many.lanes if other is not known and not other.note]
    assert any(f"{known.name} is set aside: {reason}" in text for text in caplog.messages)
    before = len(board.asked)
    ask(many)
    assert len(board.asked) == before
    board.busy, board.latency_s = "", 1e-3
    clock(2 * several.AWAY_S)
    ask(many)
    assert not many.look()
    assert f"{known.name} measures again" in caplog.messages


def test_the_last_machine_goes_on_however_busy_it_is(clock: Callable[[float], None]) -> None:
    many = Machines([lane("a"), lane("b")])
    for one in many.lanes:
        board_of(one).busy = "another program takes 1.0 of 2 cores"
    assert [len(ask(many)) for _ in range(6)] == [4] * 6


def test_machines_of_several_kinds() -> None:
    small, large = machine("cortex-a53", 4), machine("cortex-a72", 4)
    lanes = [lane("a", small), lane("b", large), lane("c", small)]
    chosen, left_out = one_group(lanes)
    assert [one.name for one in chosen] == ["a", "c"]
    assert left_out == ["b (cpu cortex-a72 instead of cortex-a53)"]
    assert "left out: b (cpu cortex-a72" in Machines(chosen, left_out).line()
    assert [one.name for one in one_group(lanes, "a72")[0]] == ["b"]
    for wanted, said in (("cortex", "more than one kind of"), ("pentium", "no machine")):
        with pytest.raises(InputError, match=said) as caught:
            one_group(lanes, wanted)
        assert "2 times cortex-a53, 4 cores" in str(caught.value)


def test_closing_ends_what_waits_and_what_measures() -> None:
    one = lane("a")
    board = board_of(one)
    board.gate, one.stop = threading.Event(), lambda: board.gate and board.gate.set()
    many = Machines([one])
    ends: list[str] = []

    def run() -> None:
        try:
            ask(many)
            ends.append("measured")
        except RunError as error:
            ends.append(str(error))

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    while many._free:
        pass
    many.close()
    for thread in threads:
        thread.join(20)
    assert sorted(ends) == ["measured", "measuring has ended"]


def test_progress_says_who_is_idle() -> None:
    many = Machines([lane("a"), lane("b")])
    assert many.line() == "0 of 2 machines measure · 0.0 trials/s · idle: a, b"


@pytest.mark.parametrize(
    ("runner", "expected"),
    [
        (None, []),
        ("ssh 'my pi' runner", [["ssh", "my pi", "runner"]]),
        (["ssh", "pi"], [["ssh", "pi"]]),
        ([["ssh", "a"], ("ssh", "b")], [["ssh", "a"], ["ssh", "b"]]),
    ],
)
def test_commands(runner: Any, expected: list[list[str]]) -> None:
    assert commands_of(runner) == expected


@pytest.mark.parametrize("runner", [[], [[]], [["a"], "b"], [["a"], []], " "])
def test_what_is_no_command(runner: Any) -> None:
    with pytest.raises(InputError, match="runner"):
        commands_of(runner)


@pytest.mark.cpu
def test_two_runners_measure_one_model(tmp_path: Path) -> None:
    """Real ones, by the command line."""
    model = save_classifier(tmp_path / "m.onnx")
    command = " ".join(RUNNER)
    result = cli(
        "tune", model, "--trials", 6, "--db", tmp_path / "t.db", "--strategy", "random",
        "--runner", command, "--runner", command,
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "of 2 machines measure" in result.stderr + result.stdout
    with Database.open(tmp_path / "t.db", readonly=True) as database:
        assert 6 <= len(list(database.trials())) <= 7


@pytest.mark.cpu
def test_a_runner_that_is_none_among_several(tmp_path: Path) -> None:
    a = tw.placeholder((8, 8), name="a")
    with pytest.raises(RunError, match=r"does not speak protocol|cannot use the worker"):
        tw.tune(
            tw.Task([a, tw.operators.relu(a)], "relu"), trials=1, db=tmp_path / "t.db",
            runner=[RUNNER, ["cat"]],
        )  # fmt: skip
