"""Is the best program of a short list as good as what NVIDIA's own heuristics find?

    pip install 'tilewright[referee]'
    python -m benchmarks.cutlass_referee [--json FILE]

`nvidia-matmul-heuristics` estimates without a GPU how long an instance of CUTLASS 2's matrix
product takes. Of every problem it is asked for its own best instance, and for an estimate of each
program on our short list. The ratio is that of the two least estimates; above 1 the referee's is
faster. It also splits K between blocks, which these templates do not.

It estimates no tile with a side of 32; such programs of a list are left out (`estimated` counts the
others). It is proprietary and used here only; its figures are a model's, not a GPU's.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cutlass_offline import product
from benchmarks.provenance import provenance, result_file
from tilewright.cutlass.architectures import ARCHITECTURES
from tilewright.cutlass.gemm import Gemm
from tilewright.cutlass.guidelines import MOST
from tilewright.cutlass.parameters import Parameters

RESULTS = Path(__file__).parent / "results" / "cutlass_referee.json"
GPUS = {"A100_SXM_80GB": "sm_80", "RTX_3090": "sm_86", "H100_SXM": "sm_90"}
ROWS = (128, 512, 1280, 2048, 4096, 16384)
COLUMNS, DEPTH = (256, 768, 3072, 4096), (256, 1024, 4096)
NEAR = 1.05
PRECISION = "HSH"  # halves, summed in single precision


@dataclass
class Referee:
    """NVIDIA's heuristics for one GPU."""

    gpu: str

    def __post_init__(self) -> None:
        nv = importlib.import_module("nvMatmulHeuristics")
        self.nv: Any = nv
        self.heuristics = nv.NvMatmulHeuristicsInterfaceEx(
            backend=nv.NvMatmulHeuristicsTarget.CUTLASS,
            flags=nv.NvMatmulHeuristicsFlags.PERF_MODEL_BASED_AUTO_TUNING,
            gpu=nv.NvMatmulHeuristicsNvidiaGpu[self.gpu],
        )
        # The package's own wrapper of this function passes arguments that it does not take.
        self._estimate = self.heuristics.lib.nvMatmulHeuristicsEstimateRuntime
        self._estimate.restype = ctypes.c_double

    def problem(self, m: int, n: int, k: int) -> Any:
        layout = self.nv.NvMatmulHeuristicsMatmulLayout.NT_ROW_MAJOR
        return self.heuristics.makeNvMatmulHeuristicsProblem(m, n, k, layout)

    def best(self, problem: Any) -> tuple[float, Any]:
        """Its own best instance, with seconds."""
        found = self.heuristics.get(problem, 8, PRECISION)
        chosen = min(found, key=lambda one: one["runtime"])
        return float(chosen["runtime"]), chosen["kernel"]

    def seconds(self, problem: Any, p: Parameters, instruction: Sequence[int]) -> float | None:
        """Its estimate of a program; None where it has none."""
        config = self.heuristics.nvmmhKernelConfiguration()
        config.cta[:] = (p.block_m, p.block_n, p.block_k)
        config.warp[:] = (p.warp_m, p.warp_n, p.block_k)
        config.instr[:] = tuple(instruction)
        config.cluster[:] = (1, 1)
        config.splitK, config.loadStages, config.gridSwizzle = 1, p.stages, p.swizzle
        target = ctypes.c_int(self.nv.NvMatmulHeuristicsTarget.CUTLASS)
        seconds = self._estimate(
            self.heuristics.handle, PRECISION.encode(), target, ctypes.byref(problem),
            ctypes.byref(config), self.heuristics.hardware_descriptor,
        )  # fmt: skip
        return seconds if seconds > 0 else None


def compared(gpu: str) -> Iterator[dict[str, Any]]:
    """A row for each problem on one GPU."""
    referee, architecture = Referee(gpu), ARCHITECTURES[GPUS[gpu]]
    for m, n, k in ((m, n, k) for m in ROWS for n in COLUMNS for k in DEPTH):
        problem = referee.problem(m, n, k)
        theirs_s, kernel = referee.best(problem)
        match = Gemm().match(product(m, n, k), architecture)
        instruction = architecture.instructions[match.dtype]
        estimates = [referee.seconds(problem, p, instruction) for p in match.short_list(MOST)]
        ours = [s for s in estimates if s is not None]
        yield {
            "gpu": gpu,
            "problem": [m, n, k],
            "ratio": round(min(ours) / theirs_s, 4),
            "estimated": len(ours),
            "listed": len(estimates),
            "split_k": kernel.split_k,
        }


def summary(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The share of problems where the two are near each other, and the ratio's quantiles."""
    ratios = np.array([row["ratio"] for row in rows])
    return {
        "problems": len(rows),
        "near": round(float((ratios <= NEAR).mean()), 3),
        "median": round(float(np.median(ratios)), 3),
        "worst": round(float(ratios.max()), 3),
        "near_without_split_k": round(
            float(np.mean([row["ratio"] <= NEAR for row in rows if row["split_k"] == 1])), 3
        ),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", type=result_file, default=str(RESULTS))
    given = parser.parse_args(arguments)
    rows = [row for gpu in GPUS for row in compared(gpu)]
    by_gpu = {gpu: summary([row for row in rows if row["gpu"] == gpu]) for gpu in GPUS}
    head = {**provenance(), "summary": summary(rows), "gpus": by_gpu}
    text = json.dumps(head, indent=1).removesuffix("\n}")
    lines = ",\n".join(f"  {json.dumps(row)}" for row in rows)
    given.json.write_text(f'{text},\n "rows": [\n{lines}\n ]\n}}\n')
    print(head["summary"])


if __name__ == "__main__":
    main()
