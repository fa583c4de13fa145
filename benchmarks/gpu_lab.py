"""Programs of one computation on a device: built in processes, checked, timed by its clock.

    with Lab.open(device) as lab:
        found = lab.best(dag, lab.templates(dag), arrays, expected)    the fastest right one
        found.seconds, found.gene

Every program's output is compared with what is expected before it is timed; one that is wrong is an
error of the benchmark, not a slow program.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from tilewright.build.compile import build_request, make_request
from tilewright.contract.artifact import Array, Artifact
from tilewright.contract.gene import Gene
from tilewright.cost.extractor import FeatureExtractor
from tilewright.cutlass import offered
from tilewright.expr.dag import ComputeDAG
from tilewright.ground.errors import TilewrightError
from tilewright.runtime.device import Device, DeviceFunction
from tilewright.search.strategies.profiler import PROGRAMS, profile_of
from tilewright.space.space import Space

TIMED = 10  # figures of a program, of which the median counts
# Of the largest output: half precision has 11 bits, and two contractions round twice.
TOLERANCE = 1e-2


@dataclass(frozen=True)
class Found:
    """A program that was timed, how many were, and how many could not be built or run."""

    seconds: float
    gene: Gene
    programs: int
    failed: int


class WrongError(RuntimeError):
    """A program's output is not what is expected."""


@dataclass(frozen=True)
class Lab:
    """A device, and processes that build for it."""

    device: Device
    pool: ProcessPoolExecutor

    @staticmethod
    @contextmanager
    def open(device: Device) -> Iterator[Lab]:
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(os.cpu_count(), context) as pool:
            yield Lab(device, pool)

    def templates(self, dag: ComputeDAG) -> list[Gene]:
        """What templates offer, the most promising first."""
        return offered(dag, self.device.target)

    def sketches(self, dag: ComputeDAG, most: int = PROGRAMS) -> list[Gene]:
        """The profile of the space that is derived from the mathematics."""
        space = Space(dag, self.device.target)
        found = profile_of(space, FeatureExtractor(space), most).population
        return [space.gene(int(k), row) for k, row in zip(found.sketch, found.rows, strict=True)]

    def best(
        self,
        dag: ComputeDAG,
        genes: Sequence[Gene],
        arrays: Mapping[str, Array],
        expected: Array | None = None,
    ) -> Found | None:
        """The fastest of some programs; None where none can be built and run.

        Raises WrongError for an output that is not as `expected` (None: that of the first).
        """
        target = self.device.target
        requests = [make_request(dag, gene, target, "program") for gene in genes]
        found: list[tuple[float, Gene]] = []
        for gene, built in zip(
            genes, self.pool.map(built_or_none, requests, chunksize=1), strict=True
        ):
            if built is None:
                continue
            try:
                output, seconds = self.timed(dag, Artifact.from_bytes(built), arrays)
            except TilewrightError as error:
                print(f"{gene.text}: {error}", file=sys.stderr)
                continue
            expected = output if expected is None else expected
            check(output, expected, gene.text)
            found.append((seconds, gene))
        if not found:
            return None
        seconds, gene = min(found, key=lambda pair: pair[0])
        return Found(seconds, gene, len(found), len(genes) - len(found))

    def timed(
        self, dag: ComputeDAG, artifact: Artifact, arrays: Mapping[str, Array]
    ) -> tuple[Array, float]:
        """The first output, and the seconds of a run."""
        function = DeviceFunction(artifact, self.device)
        if dag.constants:
            function.prepare({t.name: arrays[t.name] for t in dag.constants})
        inputs = [arrays[t.name] for t in dag.inputs]
        output: Array = function(*inputs)[0]
        return output, float(np.median(function.bench(inputs, TIMED)))


def check(output: Array, expected: Array, what: str) -> None:
    """Raises WrongError unless an output is as expected; NaN never is."""
    wanted = expected.astype(np.float32)
    difference = np.abs(output.astype(np.float32) - wanted.reshape(output.shape))
    limit = TOLERANCE * float(np.abs(wanted).max())
    if not (difference <= limit).all():
        wrong = np.count_nonzero(~(difference <= limit))
        raise WrongError(f"{what} is wrong at {wrong} of {output.size} elements")


def random_arrays(dag: ComputeDAG, seed: int = 0) -> dict[str, Array]:
    """Inputs and constants, whose sums stay of the size of one."""
    rng = np.random.default_rng(seed)
    found: dict[str, Array] = {}
    for tensor in (*dag.inputs, *dag.constants):
        shape = tuple(int(e) for e in tensor.shape if isinstance(e, int))
        depth = int(np.prod(shape[:-1])) if tensor.name.startswith("w") else 1
        values = rng.standard_normal(shape, np.float32) / np.float32(depth) ** np.float32(0.5)
        found[tensor.name] = values.astype(tensor.dtype.numpy)
    return found


def built_or_none(request: bytes) -> bytes | None:
    """An artifact's bytes, or None with the reason on standard error (in a process of the pool)."""
    try:
        return build_request(request)
    except TilewrightError as error:
        print(str(error)[:300], file=sys.stderr)
        return None
