"""How each side is built and called: one table, every call as its Python user writes it.

    side = SIDES["onnxruntime"](case, 2, None)     side.call()   side.output() -> channels-last
    missing(["torch", "openvino"])                 those that are not installed

Inputs and outputs have a plain layout: channels-last for Tilewright, channels-first for the
others, and for PyTorch whichever of the two is faster (its channels-last tensors are the same
bytes as Tilewright's). Libraries are imported only by the process that runs them.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cases import Case
from benchmarks.peers.problems import problem_of, random_arrays
from tilewright.runtime.artifact import Array

OURS = "tilewright"


@dataclass(frozen=True)
class Side:
    """A program ready to run. `output` computes once more, in Tilewright's layout."""

    call: Callable[[], Any]
    output: Callable[[], Array]
    mode: str = ""


def _tilewright(case: Case, threads: int, db: Path | None) -> Side:
    """The best recorded program (the default one without records).

    Inputs stand on 64-byte boundaries, as Tilewright's own outputs do; others would be copied.
    """
    import tilewright as tw
    from tilewright.api import host_target
    from tilewright.runtime.buffers import aligned_empty

    dag = case.dag()
    arrays = random_arrays(dag)
    notes: list[str] = []
    records = db if db is not None and db.exists() else None
    function = tw.compile(
        tw.Task(dag.outputs, case.name),
        records,
        replace(host_target(), cores=threads),
        notes.append,
    )
    if dag.constants:
        function.prepare({t.name: arrays[t.name] for t in dag.constants})
    inputs = []
    for tensor in dag.inputs:
        given = arrays.pop(tensor.name)
        inputs.append(aligned_empty(given.shape, given.dtype))
        np.copyto(inputs[-1], given)
    mode = "untuned" if records is None or notes else "tuned"
    return Side(lambda: function(*inputs), lambda: function(*inputs)[0], mode)


def _torch(case: Case, threads: int, db: Path | None) -> Side:
    from benchmarks.peers.pytorch import fastest

    problem = problem_of(case, random_arrays(case.dag()))
    mode, call = fastest(problem, threads)
    return Side(call, lambda: problem.restore(call().contiguous().numpy()), mode)


def _onnxruntime(case: Case, threads: int, db: Path | None) -> Side:
    import onnxruntime

    from benchmarks.peers.onnx_models import onnx_model

    problem = problem_of(case, random_arrays(case.dag()))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(
        onnx_model(problem).SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    feeds = {f"x{i}": x for i, x in enumerate(problem.inputs)}
    return Side(
        lambda: session.run(None, feeds), lambda: problem.restore(session.run(None, feeds)[0])
    )


def _openvino(case: Case, threads: int, db: Path | None) -> Side:
    import openvino

    from benchmarks.peers.onnx_models import onnx_model

    problem = problem_of(case, random_arrays(case.dag()))
    core = openvino.Core()
    compiled = core.compile_model(
        core.read_model(onnx_model(problem).SerializeToString()),
        "CPU",
        {
            "INFERENCE_NUM_THREADS": threads,
            "PERFORMANCE_HINT": "LATENCY",
            "INFERENCE_PRECISION_HINT": "f32",
        },
    )
    request = compiled.create_infer_request()

    def call() -> Any:
        return request.infer(problem.inputs, share_inputs=True, share_outputs=True)

    return Side(call, lambda: problem.restore(np.array(call()[0])))


SIDES: dict[str, Callable[[Case, int, Path | None], Side]] = {
    OURS: _tilewright,
    "torch": _torch,
    "onnxruntime": _onnxruntime,
    "openvino": _openvino,
}
PEERS = tuple(name for name in SIDES if name != OURS)


def missing(peers: Iterable[str]) -> list[str]:
    """The peers whose package (of the same name) is not installed."""
    return [name for name in peers if importlib.util.find_spec(name) is None]
