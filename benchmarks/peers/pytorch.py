"""PyTorch in its best mode for a subject, found by a short trial.

mode, call = fastest(subject, threads=2)       ("compile, channels-last", call)

Modes: eager and torch.compile (frozen: weights are constants, so it may rearrange them once), each
with channels-first and, for images of rank 2 and 3, channels-last tensors.
"""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Callable
from statistics import median

import torch
import torch._inductor.config
from torch import Tensor

from benchmarks.peers.subjects import Subject

TRIAL_S = 0.15  # of one mode
WARM_CALLS = 3
LEAST_CALLS = 3
CHANNELS_LAST = {2: torch.channels_last, 3: torch.channels_last_3d}


def fastest(subject: Subject, threads: int) -> tuple[str, Callable[[], Tensor]]:
    """The mode with the least median time of a call, and that call.

    A mode that PyTorch fails to build is left out, with a line on standard error; raises
    RuntimeError when it fails in all of them.
    """
    torch.set_num_threads(threads)
    torch._inductor.config.freezing = True
    layouts = ["", "channels-last"] if subject.rank in CHANNELS_LAST else [""]
    best: tuple[float, str, Callable[[], Tensor]] | None = None
    for program, layout in itertools.product(("eager", "compile"), layouts):
        mode = ", ".join(filter(None, (program, layout)))
        try:
            call = _call(subject, program, layout)
            taken = _trial(call)
        except Exception as error:
            print(f"torch {mode}: {error}", file=sys.stderr)
            continue
        if best is None or taken < best[0]:
            best = taken, mode, call
    if best is None:
        raise RuntimeError("PyTorch runs this case in no mode")
    return best[1], best[2]


def _call(subject: Subject, program: str, layout: str) -> Callable[[], Tensor]:
    module = subject.module()
    inputs = [torch.from_numpy(x) for x in subject.inputs]
    if layout:
        memory_format = CHANNELS_LAST[subject.rank]
        module = module.to(memory_format=memory_format)
        inputs = [
            x.contiguous(memory_format=memory_format) if x.ndim == subject.rank + 2 else x
            for x in inputs
        ]
    function = torch.compile(module) if program == "compile" else module

    def call() -> Tensor:
        with torch.inference_mode():
            result: Tensor = function(*inputs)
        return result

    return call


def _trial(call: Callable[[], Tensor]) -> float:
    for _ in range(WARM_CALLS):
        call()
    taken: list[float] = []
    begun = time.perf_counter()
    while len(taken) < LEAST_CALLS or time.perf_counter() - begun < TRIAL_S:
        started = time.perf_counter()
        call()
        taken.append(time.perf_counter() - started)
    return median(taken)
