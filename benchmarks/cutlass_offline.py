"""Every program on the short lists of CUTLASS's templates compiles, for every architecture, without
a GPU.

    python -m benchmarks.cutlass_offline [--architectures LIST] [--json FILE] [--minutes N] [--anew]

The computations are those of Bolt's evaluation: large and small matrix products, BERT's, a batch of
them, the convolutions of ResNet-50, padded ones (table 3), pairs of products (table 1) and of
convolutions (table 2), in half precision with bias and activation. Programs whose sources are equal
are one: sizes are arguments. Several share a compilation.

  errors    programs that NVRTC rejects
  spills    programs whose threads keep something in memory for want of registers
  cpu_s     CPU time of compiling, by program (of its compilation, shared evenly)
  memory    of this process at its largest

What FILE and the cache of compiled programs have is not compiled again; a slice ends after
`--minutes`, and the next one goes on.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.deadline import Deadline
from benchmarks.provenance import kept_file, provenance
from benchmarks.turns import chosen
from tilewright.build.native import TOGETHER, prebuild, written
from tilewright.cutlass import Match, Native, Program
from tilewright.cutlass.architectures import ARCHITECTURES
from tilewright.cutlass.genes import TEMPLATES
from tilewright.cutlass.guidelines import MOST
from tilewright.expr import operators as ops
from tilewright.expr.contraction.factors import NoMatch
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Tensor
from tilewright.expr.tensors import placeholder
from tilewright.ground.errors import BuildError
from tilewright.runtime.nvrtc import compiler

RESULTS = Path(__file__).parent / "results" / "cutlass_offline.json"
LISTED = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90")
KIB = 1024


def half(shape: Sequence[int], name: str, constant: bool = False) -> Tensor:
    return placeholder(tuple(shape), "float16", name=name, constant=constant)


def product(m: int, n: int, k: int) -> ComputeDAG:
    y = ops.dense(half((m, k), "a"), half((k, n), "w", True), half((n,), "bias", True))
    return ComputeDAG([ops.relu(y)])


def batched(batch: int, m: int, n: int, k: int) -> ComputeDAG:
    y = ops.batch_matmul(half((batch, m, k), "a"), half((batch, k, n), "b"))
    return ComputeDAG([y])


def convolution(n: int, size: int, c: int, o: int, kernel: int, stride: int) -> ComputeDAG:
    x, w = half((n, size, size, c), "x"), half((kernel, kernel, c, o), "w", True)
    y = ops.conv(x, w, half((o,), "bias", True), stride=stride, padding=kernel // 2)
    return ComputeDAG([ops.relu(y)])


def products(m: int, n0: int, k0: int, n1: int) -> ComputeDAG:
    y = ops.relu(ops.matmul(half((m, k0), "a"), half((k0, n0), "w0", True)))
    return ComputeDAG([ops.relu(ops.matmul(y, half((n0, n1), "w1", True), name="second"))])


def convolutions(size: int, c: int, o: int, stride: int) -> ComputeDAG:
    x, w = half((32, size, size, c), "x"), half((3, 3, c, o), "w0", True)
    y = ops.relu(ops.conv(x, w, half((o,), "b0", True), stride=stride, padding=1))
    w1, b1 = half((1, 1, o, o), "w1", True), half((o,), "b1", True)
    return ComputeDAG([ops.relu(ops.conv(y, w1, b1, name="second"))])


def computations() -> dict[str, ComputeDAG]:
    """By name, as the paper has them."""
    return {
        "GEMM 4096": product(4096, 4096, 4096),
        "GEMM 256": product(256, 256, 256),
        "BERT 1280x3072x768": product(1280, 3072, 768),
        "batch of 384": batched(384, 40, 40, 64),
        "conv 56x56 64-64": convolution(32, 56, 64, 64, 3, 1),
        "conv 7x7 512-512": convolution(32, 7, 512, 512, 3, 1),
        "conv 20x20 46-32": convolution(32, 20, 46, 32, 3, 1),
        "pair 16384 64-256-16": products(16384, 64, 256, 16),
        "pair 32768 128-576-64": products(32768, 128, 576, 64),
        "pair 128320 32-96-96": products(128320, 32, 96, 96),
        "pair 56x56 64-64": convolutions(56, 64, 64, 1),
        "pair 112x112 48-48": convolutions(112, 48, 48, 2),
    }


def programs(architecture: str) -> dict[str, tuple[str, Program]]:
    """All programs of the lists by the names of their kernels, with the template."""
    found: dict[str, tuple[str, Program]] = {}
    for dag in computations().values():
        for match in _matches(dag, architecture):
            for p in match.short_list(MOST):
                program = written(Native(match, p))
                found.setdefault(program.calls[-1].kernel, (match.template, program))
    return found


def _matches(dag: ComputeDAG, architecture: str) -> Iterator[Match]:
    found = (template.match(dag, ARCHITECTURES[architecture]) for template in TEMPLATES)
    return (match for match in found if not isinstance(match, NoMatch))


def summary(rows: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Figures of all rows."""
    built = [r for r in rows.values() if "error" not in r]
    return {
        "programs": len(rows),
        "errors": len(rows) - len(built),
        "spills": sum(r["spill_bytes"] > 0 for r in built),
        "most_registers": max((r["registers"] for r in built), default=0),
        "cpu_s_of_a_program": round(sum(r["cpu_s"] for r in built) / max(len(built), 1), 2),
        "memory_mib": max((r["memory_mib"] for r in built), default=0),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--architectures", default=",".join(LISTED))
    parser.add_argument("--json", type=kept_file, default=str(RESULTS))
    parser.add_argument("--minutes", type=float, default=9.0)
    parser.add_argument("--anew", action="store_true")
    given = parser.parse_args(arguments)
    deadline = Deadline.after(given.minutes)
    known: dict[str, Any] = {}
    if given.json.exists() and not given.anew:
        known = json.loads(given.json.read_text())
    rows: dict[str, dict[str, Any]] = known.get("rows", {})
    compiled = 0
    started = time.process_time()
    for architecture in chosen(given.architectures, LISTED):
        listed = programs(architecture)
        rows = {  # without programs that are no longer on a list
            name: row
            for name, row in rows.items()
            if not name.startswith(f"{architecture} ") or name.partition(" ")[2] in listed
        }
        left = [k for k in listed if f"{architecture} {k}" not in rows]
        for first in range(0, len(left), TOGETHER):
            if deadline.passed:
                break
            unit = left[first : first + TOGETHER]
            compiled += len(unit)
            rows |= _compile(architecture, {k: listed[k] for k in unit})
            _write(given.json, rows)
        done = {k: v for k, v in rows.items() if k.startswith(f"{architecture} ")}
        print(f"{architecture}: {len(done)} of {len(listed)} programs, {summary(done)}")
    print(f"{compiled} compiled now, in {time.process_time() - started:.1f} s of CPU")
    _write(given.json, rows)


def _write(file: Path, rows: Mapping[str, Mapping[str, Any]]) -> None:
    head = {**provenance(), "compiler": compiler(), "summary": summary(rows)}
    lines = ",\n".join(f"  {json.dumps(key)}: {json.dumps(row)}" for key, row in rows.items())
    text = json.dumps(head, indent=1).removesuffix("\n}")
    file.write_text(f'{text},\n "rows": {{\n{lines}\n }}\n}}\n')


def _compile(architecture: str, unit: Mapping[str, tuple[str, Program]]) -> dict[str, Any]:
    """The rows of programs compiled together; of each by itself where that fails."""
    try:
        found = prebuild([program for _, program in unit.values()], architecture)
    except BuildError as error:
        if len(unit) > 1:
            return {
                name: row
                for k, v in unit.items()
                for name, row in _compile(architecture, {k: v}).items()
            }
        ((kernel, (template, _)),) = unit.items()
        return {f"{architecture} {kernel}": {"template": template, "error": str(error)}}
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // KIB
    reports = [(r, c.cpu_s / len(c.reports)) for c in found for r in c.reports]
    if len(reports) < len(unit):  # in the cache already, of a run whose results were lost
        return {}
    return {
        f"{architecture} {kernel}": {
            "template": template,
            "registers": report.registers,
            "spill_bytes": report.spill_bytes,
            "cpu_s": round(cpu_s, 3),
            "memory_mib": memory,
        }
        for (kernel, (template, _)), (report, cpu_s) in zip(unit.items(), reports, strict=True)
    }


if __name__ == "__main__":
    main()
