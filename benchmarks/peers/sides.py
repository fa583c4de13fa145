"""How each side is built and called: one table, every call as its Python user writes it.

    side = SIDES["onnxruntime"](subject, target, None)     side.call()   side.output()
    missing(["torch", "openvino"])                    those that are not installed

Libraries are imported only by the process that runs them. PyTorch runs on the GPU of a CUDA target;
everything else a library does, it does on the CPU, with as many threads as the target has cores.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers.subjects import Side, Subject
from tilewright.contract.artifact import Array
from tilewright.target import CpuTarget, Target

OURS = "tilewright"
UNTUNED = "untuned"
UNCHAINED = "unchained"
UNTUNED_UNCHAINED = "untuned, unchained"
LIBRARY = "library"
ROOFLINE = "roofline"
COPY = "copy"


def _tilewright(subject: Subject, target: Target, db: Path | None) -> Side:
    """The best recorded programs (the default ones without records)."""
    return subject.tilewright(target, db)


def _untuned(subject: Subject, target: Target, db: Path | None) -> Side:
    return subject.tilewright(target, None)


def _unchained(subject: Subject, target: Target, db: Path | None) -> Side:
    """The same with every contraction in a kernel of its own."""
    from benchmarks.peers.chain_subject import ChainSubject

    assert isinstance(subject, ChainSubject)
    return subject.unchained(target, db)


def _untuned_unchained(subject: Subject, target: Target, db: Path | None) -> Side:
    return _unchained(subject, target, None)


def _library(subject: Subject, target: Target, db: Path | None) -> Side:
    """The network saved as a shared library and loaded again; records where there are any."""
    from benchmarks.peers.network_subject import ServedNetwork

    assert isinstance(subject, ServedNetwork)
    return subject.library(target, db)


def _roofline(subject: Subject, target: Target, db: Path | None) -> Side:
    """What the case needs at least; there is no output."""
    from benchmarks.peers.operator_subject import OperatorSubject
    from benchmarks.roofline import least_side

    assert isinstance(subject, OperatorSubject)
    assert isinstance(target, CpuTarget)
    return least_side(subject.case, target)


def _copy(subject: Subject, target: Target, db: Path | None) -> Side:
    """A copy of as many bytes as the case reads and writes; there is no output."""
    from benchmarks.peers.network_subject import ServedNetwork
    from benchmarks.roofline import copy_side

    assert isinstance(subject, ServedNetwork)
    assert isinstance(target, CpuTarget)
    return copy_side(subject.moved_bytes(), target)


def _torch(subject: Subject, target: Target, db: Path | None) -> Side:
    from benchmarks.peers.pytorch import fastest

    mode, call, clock = fastest(subject, target)

    def output() -> Array:
        y = call().contiguous().cpu()
        return subject.restore(y.float().numpy() if y.is_floating_point() else y.numpy())

    return Side(call, output, mode, clock=clock)


def _onnxruntime(subject: Subject, target: Target, db: Path | None) -> Side:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = target.cores
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(
        subject.onnx(), options, providers=["CPUExecutionProvider"]
    )
    names = [i.name for i in session.get_inputs()]
    feeds = dict(zip(names, subject.inputs, strict=True))
    if getattr(subject, "is_bound", False):
        return _bound(session, feeds)
    return Side(
        lambda: session.run(None, feeds), lambda: subject.restore(session.run(None, feeds)[0])
    )


def _bound(session: Any, feeds: Mapping[str, Array]) -> Side:
    """Inputs and outputs bound once, to memory that calls use again: a cache and its next one."""
    import onnxruntime

    binding = session.io_binding()
    values = {name: onnxruntime.OrtValue.ortvalue_from_numpy(a) for name, a in feeds.items()}
    for name, value in values.items():
        binding.bind_ortvalue_input(name, value)
    first, *_ = outputs = [o.name for o in session.get_outputs()]
    for name, result in zip(outputs, session.run(None, dict(feeds)), strict=True):
        binding.bind_ortvalue_output(name, onnxruntime.OrtValue.ortvalue_from_numpy(result))

    def call() -> None:
        session.run_with_iobinding(binding)

    def output() -> Array:
        call()
        found: Array = dict(zip(outputs, binding.get_outputs(), strict=True))[first].numpy()
        return found

    return Side(call, output, "bound")


def _openvino(subject: Subject, target: Target, db: Path | None) -> Side:
    import openvino

    core = openvino.Core()
    compiled = core.compile_model(
        core.read_model(subject.onnx()),
        "CPU",
        {
            "INFERENCE_NUM_THREADS": target.cores,
            "PERFORMANCE_HINT": "LATENCY",
            "INFERENCE_PRECISION_HINT": "bf16" if subject.math == "bfloat16" else "f32",
        },
    )

    def another() -> Callable[[], Any]:
        request = compiled.create_infer_request()
        return lambda: request.infer(subject.inputs, share_inputs=True, share_outputs=True)

    call = another()
    return Side(call, lambda: subject.restore(np.array(call()[0])), another=another)


SIDES: dict[str, Callable[[Subject, Target, Path | None], Side]] = {
    OURS: _tilewright,
    UNTUNED: _untuned,
    UNCHAINED: _unchained,
    UNTUNED_UNCHAINED: _untuned_unchained,
    LIBRARY: _library,
    ROOFLINE: _roofline,
    COPY: _copy,
    "torch": _torch,
    "onnxruntime": _onnxruntime,
    "openvino": _openvino,
}
OWN = (OURS, UNTUNED, UNCHAINED, UNTUNED_UNCHAINED, LIBRARY, ROOFLINE, COPY)
PEERS = tuple(name for name in SIDES if name not in OWN)


def missing(peers: Iterable[str]) -> list[str]:
    """The peers whose package (of the same name) is not installed."""
    return [name for name in peers if importlib.util.find_spec(name) is None]
