"""A runner that answers nonsense is an error that names it, whatever it says."""

from __future__ import annotations

import json
import sys

import pytest

from tilewright.ground.errors import RunError
from tilewright.measure.gate import Tolerance
from tilewright.measure.inputs import InputKind
from tilewright.measure.pools import RunnerClient, TaskSpec
from tilewright.measure.protocol import PROTOCOL
from tilewright.measure.trial import RunOptions, Timing
from tilewright.measure.workers import WorkerFailureError

TASK = TaskSpec("t", b"reference", (InputKind(),), Tolerance(), probes=((),))
HELLO = repr(f'{{"type": "hello", "protocol": {PROTOCOL}, "version": "1"}}')
RESULT = {
    "type": "result",
    "latencies_s": [1.0],
    "stopped_early": False,
    "spent_s": {"run": 0.5},
    "points_s": [],
}
DEEP = "lists in lists"
# Answers whatever it is asked with its arguments in turn, which are expressions for text.
FAKE = """
import sys
pipe = sys.stdin.buffer
for expression in sys.argv[1:]:
    pipe.read(1)
    body = eval(expression).encode()
    sys.stdout.buffer.write(b"TWP1" + len(body).to_bytes(4, "little") + body)
    sys.stdout.flush()
pipe.read()
"""


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("{", "a frame's header is no JSON"),
        (DEEP, "a frame's header is no JSON"),
        ('{"type": "run", "payloads": [-1]}', "payloads must be lengths"),
        ('{"type": "run", "payloads": 7}', "payloads must be lengths"),
        ('{"type": "error"}', "None"),
        ('{"type": "error", "stage": "ok", "error": "E", "message": "\\u001b[2J"}', r"\\x1b\[2J"),
        ('{"type": "result"}', "latencies_s must be a list of seconds, not None"),
        ('{"type": "run", "task": "t"}', "it is of type 'run', not 'result'"),
    ],
)
def test_nonsense_is_a_failure(answer: str, message: str) -> None:
    expression = "'[' * 100_000" if answer == DEEP else repr(answer)
    with (
        RunnerClient([sys.executable, "-S", "-c", FAKE, HELLO, expression]) as client,
        pytest.raises(WorkerFailureError, match=message) as caught,
    ):
        client.run(TASK, b"candidate", RunOptions(timeout_s=10))
    assert caught.value.failure.stage == "run"
    assert "\x1b" not in str(caught.value)


def test_an_echo_is_no_runner() -> None:
    with RunnerClient("cat") as client, pytest.raises(RunError, match="does not speak protocol"):
        client.load(TASK)


def test_a_loaded_task_has_the_values_asked_for() -> None:
    loaded = repr('{"type": "loaded", "reference_s": 1.0}')
    with (
        RunnerClient([sys.executable, "-S", "-c", FAKE, HELLO, loaded]) as client,
        pytest.raises(RunError, match=r"the reference program of t failed.*with 0 payloads"),
    ):
        client.load(TASK)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("type", "loaded"),
        ("latencies_s", []),
        ("latencies_s", [0.0]),
        ("latencies_s", [float("nan")]),
        ("latencies_s", ["1"]),
        ("latencies_s", 1.0),
        ("spent_s", [1.0]),
        ("spent_s", {"run": None}),
        ("region_s", "long"),
        ("points_s", None),
        ("points_s", [0.0]),
    ],
)
def test_results_are_checked(field: str, value: object) -> None:
    assert Timing.of_answer(json.loads(json.dumps(RESULT))).latencies_s == [1.0]
    with pytest.raises(RunError):
        Timing.of_answer({**RESULT, field: value})


DEEPEST = "'[' * 900 + ']' * 900"  # lists in lists that JSON still takes
EXPRESSIONS = [
    f"""'{{"type": "result", "latencies_s": ' + {DEEPEST} + '}}'""",
    f"""'{{"type": "result", "latencies_s": [1], "spent_s": {{"a": ' + {DEEPEST} + '}}}}'""",
    f"""'{{"type": "error", "error": ' + {DEEPEST} + '}}'""",
    """'{"type": "result", "latencies_s": [' + '1,' * 4000000 + '1]}'""",
    """'{"type": "result", "latencies_s": [' + '9' * 4000 + ']}'""",
    """'{"type": "error", "error": "E", "message": "' + 'x' * 10**7 + '"}'""",
]
MOST_TOLD = 11_000


@pytest.mark.parametrize("expression", EXPRESSIONS, ids=range(len(EXPRESSIONS)))
def test_what_is_told_of_an_answer_is_short(expression: str) -> None:
    with (
        RunnerClient([sys.executable, "-S", "-c", FAKE, HELLO, expression]) as client,
        pytest.raises(WorkerFailureError) as caught,
    ):
        client.run(TASK, b"candidate", RunOptions(timeout_s=10))
    assert len(f"{caught.value.failure}") < MOST_TOLD


@pytest.mark.parametrize("sizes", ["[1 << 60]", "[1 << 28] * 3", "[0] * 2000", "[10**4200]"])
@pytest.mark.parametrize("asked", ["hello", "run"])
def test_announced_sizes_are_not_believed(sizes: str, asked: str) -> None:
    """A frame that goes on without end is given up at its header."""
    body = f'\'{{"type": "result", "payloads": \' + repr({sizes}) + \'}}\''
    answers = [body] if asked == "hello" else [HELLO, body]
    with (
        RunnerClient([sys.executable, "-S", "-c", FAKE, *answers]) as client,
        pytest.raises(RunError, match=r"payloads are more than|no JSON"),
    ):
        client.run(TASK, b"candidate", RunOptions(timeout_s=10))
