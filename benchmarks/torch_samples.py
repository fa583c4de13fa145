"""PyTorch's own samples of its operators, by torch.compile against eager mode.

    python -m benchmarks.torch_samples [--filter GLOB] [--samples N] [--part 1/4] [--json FILE]

Every operator of PyTorch's test-suite that takes float32 on the CPU is called with a few of its
samples (forward only, drawn with a fixed seed). What differs from eager mode by more than 1e-3 of
an element (and 1e-4) counts; the goal is none. Operators whose results eager mode does not repeat
are left out. A sample is *compiled* when all of its graph is, *in part* when a warning names what
is left to eager mode, *eager* when nothing is compiled, and *refused* when torch.compile raises.

Needs `pip install expecttest`, as PyTorch's test-suite does. Every operator runs in a process of
its own for at most five minutes; with --json, what is there already is not run again.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import multiprocessing
import random
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import torch
from rich.console import Console

import tilewright as tw
from benchmarks.provenance import provenance
from tilewright.front.torch_backend import EagerFallback

RTOL, ATOL = 1e-3, 1e-4
LIMIT_S = 300
FORK = multiprocessing.get_context("fork")  # the operators take seconds to import


@dataclass(frozen=True, slots=True)
class Found:
    """What became of one sample of an operator."""

    operator: str
    sample: int
    status: str  # compiled, in part, eager, refused, different, not repeated, no answer
    reason: str = ""


def operators(pattern: str) -> list[Any]:
    """PyTorch's operators with float32 samples on the CPU."""
    from torch.testing._internal.common_methods_invocations import op_db

    return [
        op
        for op in op_db
        if torch.float32 in op.supported_dtypes("cpu")
        and fnmatch.fnmatch(_name(op), pattern)
        and "empty" not in _name(op)  # whatever memory holds
    ]


def _name(op: Any) -> str:
    return f"{op.name}.{op.variant_test_name}" if op.variant_test_name else str(op.name)


def run(op: Any, count: int) -> Iterator[Found]:
    """Some of an operator's samples, spread over all of them."""
    torch.manual_seed(0)
    samples = list(op.sample_inputs("cpu", torch.float32, requires_grad=False))
    chosen = random.Random(_name(op)).sample(range(len(samples)), min(count, len(samples)))
    for i in sorted(chosen):
        yield Found(_name(op), i, *_outcome(op, samples[i]))


def _outcome(op: Any, sample: Any) -> tuple[str, str]:
    """The status of a sample, and why."""
    torch.compiler.reset()
    models: list[tw.Model] = []

    def call(given: Any) -> Any:
        return op(given.input, *given.args, **given.kwargs)

    def fresh() -> Any:
        return sample.transform(lambda x: x.clone() if isinstance(x, torch.Tensor) else x)

    with torch.no_grad(), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        torch.manual_seed(1)
        try:
            expected = call(fresh())
        except RuntimeError as error:  # views of memory that a copy has not
            return "not repeated", str(error).splitlines()[0]
        torch.manual_seed(2)
        if _difference(call(fresh()), expected):
            return "not repeated", ""
        fast = torch.compile(call, backend="tilewright", options={"models": models})
        try:
            found = fast(fresh())
        except Exception as error:  # whatever torch.compile raises
            return "refused", f"{type(error).__name__}: {error}".splitlines()[0]
    reasons = [str(w.message) for w in told if issubclass(w.category, EagerFallback)]
    if difference := _difference(found, expected):
        return "different", difference
    if not models:
        return "eager", "; ".join(reasons)
    return "in part" if reasons else "compiled", "; ".join(reasons)


def _difference(ours: Any, theirs: Any) -> str:
    """How far results are from others, in words; "" if they are equal."""
    try:
        torch.testing.assert_close(ours, theirs, rtol=RTOL, atol=ATOL, equal_nan=True)
    except AssertionError as error:
        return " ".join(str(error).split())
    except (TypeError, ValueError):  # results that cannot be compared: no tensors
        return "" if ours == theirs else f"{ours} instead of {theirs}"
    return ""


def guarded(op: Any, count: int) -> list[Found]:
    """The same in another process, which may crash or hang."""
    ours, theirs = FORK.Pipe(duplex=False)
    process = FORK.Process(target=_serve, args=(op, count, theirs), daemon=True)
    process.start()
    theirs.close()
    found = []
    try:
        while ours.poll(LIMIT_S):
            found.append(ours.recv())
        process.kill()
        return [*found, Found(_name(op), len(found), "no answer", f"more than {LIMIT_S} s")]
    except EOFError:
        process.join()
    if process.exitcode:
        found.append(Found(_name(op), len(found), "no answer", f"exit status {process.exitcode}"))
    return found


def _serve(op: Any, count: int, pipe: Connection) -> None:
    for found in run(op, count):
        pipe.send(found)
    pipe.close()


def print_results(console: Console, found: Sequence[Found]) -> None:
    """Every sample that differs, and counts."""
    for one in found:
        if one.status in ("different", "no answer"):
            text = f"{one.operator}[{one.sample}]: {one.status}: {one.reason}"
            console.print(text, markup=False, soft_wrap=True)
    counts = Counter(one.status for one in found)
    names = len({one.operator for one in found})
    told = ", ".join(f"{n} {status}" for status, n in counts.most_common())
    console.print(f"{len(found)} samples of {names} operators: {told}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--filter", default="*", help="names of operators, as a glob")
    parser.add_argument("--samples", type=int, default=2, help="of each operator")
    parser.add_argument("--part", default="1/1", help="of the operators, such as 2/4")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args()
    part, parts = map(int, options.part.split("/"))
    torch.set_num_threads(1)  # threads do not survive a fork
    found: list[Found] = []
    if options.json and options.json.exists():
        found = [Found(**one) for one in json.loads(options.json.read_text())["samples"]]
    done = {one.operator for one in found}
    console = Console()
    for op in operators(options.filter)[part - 1 :: parts]:
        if _name(op) in done:
            continue
        found += guarded(op, options.samples)
        if options.json:
            figures = {
                "benchmark": "torch_samples",
                **provenance(),
                "torch": torch.__version__,
                "samples": [asdict(one) for one in found],
            }
            options.json.write_text(json.dumps(figures, indent=1) + "\n")
    print_results(console, found)


if __name__ == "__main__":
    main()
