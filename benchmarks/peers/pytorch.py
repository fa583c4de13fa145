"""PyTorch in its best mode for a subject, found by a short trial.

mode, call, clock = fastest(subject, target)       ("compile, channels-last", call, None)

Modes: eager and torch.compile (frozen: weights are constants, so it may rearrange them once), each
with channels-first and, for images of rank 2 and 3, channels-last tensors. On a GPU, torch.compile
with CUDA graphs, too; cuDNN tries its algorithms, and float32 is float32, not TF32. There the
module and its inputs are on the device, and `clock` takes the times of calls by its events.
"""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from statistics import median
from typing import Any

import torch
import torch._inductor.config
from torch import Tensor

from benchmarks.peers.subjects import Subject
from tilewright.target import CudaTarget, Target

TRIAL_S = 0.15  # of one mode
WARM_CALLS = 3
LEAST_CALLS = 3
CHANNELS_LAST = {2: torch.channels_last, 3: torch.channels_last_3d}
# What a mode makes of a module; the last one needs a GPU.
PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "eager": lambda module: module,
    "compile": torch.compile,
    "compile, graphs": partial(torch.compile, mode="reduce-overhead"),
}

Clock = Callable[[int], Sequence[float]]


def fastest(subject: Subject, target: Target) -> tuple[str, Callable[[], Tensor], Clock | None]:
    """The mode with the least median time of a call, that call, and its clock on a GPU.

    A mode that PyTorch fails to build is left out, with a line on standard error; raises
    RuntimeError when it fails in all of them.
    """
    torch.set_num_threads(target.cores)
    torch._inductor.config.freezing = True
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    is_gpu = isinstance(target, CudaTarget)
    device = "cuda" if is_gpu else "cpu"
    layouts = ["", "channels-last"] if subject.rank in CHANNELS_LAST else [""]
    best: tuple[float, str, Callable[[], Tensor]] | None = None
    for program, layout in itertools.product(list(PROGRAMS)[: 3 if is_gpu else 2], layouts):
        mode = ", ".join(filter(None, (program, layout)))
        try:
            call = _call(subject, program, layout, device)
            taken = _trial(call, _clock_of(call) if is_gpu else None)
        except Exception as error:
            print(f"torch {mode}: {error}", file=sys.stderr)
            continue
        if best is None or taken < best[0]:
            best = taken, mode, call
    if best is None:
        raise RuntimeError("PyTorch runs this case in no mode")
    return best[1], best[2], _clock_of(best[2]) if is_gpu else None


def _call(subject: Subject, program: str, layout: str, device: str) -> Callable[[], Tensor]:
    module = subject.module().to(device)
    # In memory of PyTorch's own, which is aligned.
    inputs = [torch.from_numpy(x).to(device, copy=True) for x in subject.inputs]
    if layout:
        memory_format = CHANNELS_LAST[subject.rank]
        module = module.to(memory_format=memory_format)
        inputs = [
            x.contiguous(memory_format=memory_format) if x.ndim == subject.rank + 2 else x
            for x in inputs
        ]
    function = PROGRAMS[program](module)
    narrow = subject.math == "bfloat16"

    def call() -> Tensor:
        with torch.inference_mode(), torch.autocast(device, torch.bfloat16, enabled=narrow):
            result: Tensor = function(*inputs)
        return result

    return call


def _clock_of(call: Callable[[], Tensor]) -> Clock:
    """Seconds of calls, one right after the other, between events of the device."""

    def clock(count: int) -> list[float]:
        events = [torch.cuda.Event(enable_timing=True) for _ in range(count + 1)]
        events[0].record()
        for event in events[1:]:
            call()
            event.record()
        torch.cuda.synchronize()
        return [1e-3 * a.elapsed_time(b) for a, b in itertools.pairwise(events)]

    return clock


def _trial(call: Callable[[], Tensor], clock: Clock | None) -> float:
    for _ in range(WARM_CALLS):
        call()
    taken: list[float] = []
    begun = time.perf_counter()
    while len(taken) < LEAST_CALLS or time.perf_counter() - begun < TRIAL_S:
        if clock is not None:
            taken += clock(LEAST_CALLS)
            continue
        started = time.perf_counter()
        call()
        taken.append(time.perf_counter() - started)
    return median(taken)
