"""onnxruntime beside Tilewright, where it is installed.

peer = onnxruntime_peer("net.onnx", threads=2)        None without onnxruntime
outputs = peer({"x": x})
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

import numpy as np

from tilewright.contract.artifact import Array
from tilewright.ground.errors import InputError

PEER = "onnxruntime"  # its name in tables and messages

Peer: TypeAlias = Callable[[Mapping[str, Array]], list[Array]]


def onnxruntime_peer(model: Path | str | bytes, threads: int) -> Peer | None:
    """A function that runs a model (a file, or its content) with onnxruntime on so many threads;
    None if that is not installed.

    Raises InputError when onnxruntime does not take the model.
    """
    if importlib.util.find_spec("onnxruntime") is None:
        return None
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    try:
        session = onnxruntime.InferenceSession(
            model if isinstance(model, bytes) else str(model),
            options,
            providers=["CPUExecutionProvider"],
        )
    except Exception as error:
        # onnxruntime's exceptions have no common base but this one.
        what = "the model with more outputs" if isinstance(model, bytes) else model
        raise InputError(f"onnxruntime does not take {what}: {error}") from error

    def run(inputs: Mapping[str, Array]) -> list[Array]:
        return [np.asarray(y) for y in session.run(None, dict(inputs))]

    return run
