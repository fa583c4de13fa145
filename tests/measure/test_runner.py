"""The runner's and builder's request handlers, in this process."""

from __future__ import annotations

from typing import Any

import fault_builds
import numpy as np
import pytest

from tilewright.ground.errors import BuildError
from tilewright.measure.builder import find_build
from tilewright.measure.gate import Tolerance
from tilewright.measure.inputs import InputKind
from tilewright.measure.protocol import PROTOCOL
from tilewright.measure.runner import Runner, machine_facts
from tilewright.measure.server import answer
from tilewright.measure.trial import RunOptions

pytestmark = pytest.mark.cpu

GOOD = fault_builds.candidate("good").to_bytes()
LOAD = {
    "type": "load_task",
    "task": "t",
    "seed": 3,
    "inputs": [InputKind().to_json()],
    "tolerance": Tolerance().to_json(),
    "probes": [[0, 1]],
    "places": [],
    "between_bytes": 0,
}
RUN = {
    "type": "run",
    "task": "t",
    "options": RunOptions(repeats=1, min_repeat_ms=0.1).to_json(),
    "timeout_s": 5,
}


def ask(runner: Runner, header: dict[str, Any], payload: bytes = b"") -> tuple[dict[str, Any], Any]:
    handlers = {"load_task": runner.load_task, "run": runner.run}
    return answer(handlers, {"cores": 2}, header, [payload])


def test_load_then_run() -> None:
    runner = Runner()
    loaded, (values,) = ask(runner, LOAD, GOOD)
    assert loaded["type"] == "loaded"
    assert loaded["reference_s"] > 0
    assert np.frombuffer(values, np.float32).shape == (2,)
    result, _ = ask(runner, RUN, GOOD)
    assert result["type"] == "result"
    assert len(result["latencies_s"]) == 1


def test_errors_have_stage_class_and_message() -> None:
    runner = Runner()
    unknown, _ = ask(runner, RUN, GOOD)
    assert (unknown["stage"], unknown["error"]) == ("run", "UnknownTaskError")
    ask(runner, LOAD, GOOD)
    wrong, _ = ask(runner, RUN, fault_builds.candidate("wrong").to_bytes())
    assert (wrong["stage"], wrong["error"]) == ("check", "WrongAnswer")
    other, _ = ask(runner, {"type": "dance"})
    assert other["message"] == "unknown message type 'dance'"
    bug, _ = ask(runner, {**RUN, "options": {"speed": 1}}, GOOD)
    assert bug["error"] == "TypeError"
    assert "(at trial.py:" in bug["message"]


def test_hello_checks_the_protocol() -> None:
    good, _ = ask(Runner(), {"type": "hello", "protocol": PROTOCOL})
    assert good["protocol"] == PROTOCOL
    assert good["cores"] == 2
    bad, _ = ask(Runner(), {"type": "hello", "protocol": 99})
    assert bad["type"] == "error"
    assert machine_facts()["cores"] >= 1


def test_least_recently_used_tasks_make_room() -> None:
    runner = Runner(task_bytes=1)
    ask(runner, LOAD, GOOD)
    ask(runner, {**LOAD, "task": "u"}, GOOD)
    assert ask(runner, RUN, GOOD)[0]["error"] == "UnknownTaskError"
    assert ask(runner, {**RUN, "task": "u"}, GOOD)[0]["type"] == "result"


def test_build_functions_by_name() -> None:
    assert find_build("fault_builds:build") is fault_builds.build
    for path in ("fault_builds:nothing", "nowhere:build", "fault_builds"):
        with pytest.raises(BuildError, match="no build function"):
            find_build(path)
