"""What every workload's space is, candidate by candidate: nothing of it changes unnoticed.

    pytest tests/manifest --manifest-rows 64          all recorded rows
    pytest tests/manifest --update-golden             write them anew, then read the diff

A golden file holds, for each target, the sketches with digests of their decisions' tables, digests
of each of 64 seeded candidates' nests and of a few ones' code, and numbers that stand for features
and estimates: sums over all candidates with random weights, which any change moves. Those are
compared to five digits, since logarithms differ in the last from machine to machine.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from manifest_cases import WORKLOADS, digest

from tilewright.codegen import clike
from tilewright.codegen.llvm.functions import emit
from tilewright.codegen.passes import prepared
from tilewright.cost.candidates import Population
from tilewright.cost.extractor import FeatureExtractor
from tilewright.ground.errors import BuildError
from tilewright.nest.nodes import Program
from tilewright.nest.print import program_text
from tilewright.schedule.producers import lowered_of
from tilewright.space.candidate_space import Producer
from tilewright.space.default import default_of
from tilewright.space.space import Space
from tilewright.target import CpuTarget, GpuTarget, Target

GOLDEN = Path(__file__).parent.parent / "golden" / "manifest"
TARGETS = ("cpu:icelake-server cores=2", "cpu:haswell cores=4", "cuda:h100")
ROWS = 64
CODES = 8  # of these rows, whose code is recorded, too
SUMS = 6
TOLERANCE = 1e-5
SEED = 28


def sketch_line(sketch: Producer) -> str:
    """Name, numbers of decisions and constraints, a digest of all decisions' tables."""
    tables = hashlib.sha256()
    for d in sketch.decisions:
        tables.update(f"{d.name} {next(iter(d.mutations))} {d.columns}".encode())
        tables.update(np.ascontiguousarray(d.table, np.int64).tobytes())
    counts = f"{len(sketch.decisions)} decisions, {len(sketch.constraints)} constraints"
    return f"sketch {sketch.name or 'plain loops'}: {counts}, {tables.hexdigest()[:8]}"


def code_of(program: Program, target: Target) -> str:
    """LLVM IR or C; the refusal where it cannot be written."""
    try:
        if isinstance(target, CpuTarget):
            return emit(prepared(program, target), target, 0).ir
        assert isinstance(target, GpuTarget)
        return clike.emit(program, clike.dialect_of(target)).ir
    except BuildError as error:
        return str(error)


def sums(values: np.ndarray) -> str:
    """Sums of `[m]` or `[m, columns]` with random weights, as text."""
    weights = np.random.default_rng(SEED).standard_normal((SUMS, values.size))
    return " ".join(f"{v:.7e}" for v in weights @ values.astype(np.float64).reshape(-1))


def programs(space: Space, population: Population) -> Iterable[Program]:
    """The candidates' concrete nests."""
    for k, row in zip(population.sketch, population.rows, strict=True):
        yield lowered_of(space.dag, space.gene(int(k), row), "kernel").program


def described(name: str, target: Target, rows: int, codes: int) -> list[str]:
    """The manifest of one workload on one target; of `rows` rows alone, where that is asked."""
    space = Space(WORKLOADS[name](), target)
    population = space.sample(np.random.default_rng(SEED), ROWS)
    extractor = FeatureExtractor(space)
    features, owner = extractor.extract(population)
    default = default_of(space, extractor)
    nests = list(programs(space, population[:rows]))
    lines = [f"target {target}", *map(sketch_line, space.sketches)]
    lines.append(f"rows {digest(population.rows.tobytes() + population.sketch.tobytes())}")
    lines.append(f"owners {digest(owner.tobytes())}")
    lines.append(f"features {sums(features)}")
    lines.append(f"estimates {sums(extractor.latency(population))}")
    lines.append(f"default {digest(default.rows.tobytes() + default.sketch.tobytes())}")
    lines.append("nests " + " ".join(digest(program_text(p)) for p in nests))
    lines.append("codes " + " ".join(digest(code_of(p, target)) for p in nests[:codes]))
    return lines


def agree(found: str, expected: str) -> bool:
    """Whether two lines say the same: digests of rows as far as both have them, and numbers."""
    kind, *words = found.split(" ")
    head, *others = expected.split(" ")
    if kind != head:
        return False
    if kind in ("nests", "codes"):
        return words == others[: len(words)]
    if kind in ("features", "estimates"):
        pairs = list(zip(words, others, strict=False))
        scale = max((abs(float(b)) for _, b in pairs), default=0.0)
        close = all(
            math.isclose(float(a), float(b), rel_tol=TOLERANCE, abs_tol=TOLERANCE * scale)
            for a, b in pairs
        )
        return len(words) == len(others) and close
    return found == expected


@pytest.mark.no_cover
@pytest.mark.parametrize("name", WORKLOADS)
def test_manifest(name: str, request: pytest.FixtureRequest) -> None:
    path = GOLDEN / f"{name}.txt"
    update = request.config.getoption("--update-golden")
    rows = ROWS if update else request.config.getoption("--manifest-rows")
    codes = CODES if update or rows > CODES else max(1, rows // 2)
    lines = [line for t in TARGETS for line in described(name, Target.parse(t), rows, codes)]
    if update:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{line}\n" for line in lines))
        return
    expected = path.read_text().splitlines() if path.is_file() else []
    changed = [
        f"- {old}\n+ {new}"
        for old, new in zip(expected, lines, strict=False)
        if not agree(new, old)
    ]
    if len(expected) != len(lines):
        changed.append(f"{len(lines)} lines instead of {len(expected)}")
    assert not changed, "\n".join(("if that is right, run --update-golden", *changed))


def test_a_changed_line_is_seen() -> None:
    """Of what the comparison allows for, nothing else passes."""
    assert agree("nests aa bb", "nests aa bb cc") and not agree("nests aa cc", "nests aa bb cc")
    assert agree("features 1.000000 5.0", "features 1.000001 5.0")
    assert not agree("features 1.001 5.0", "features 1.0 5.0")
    assert not agree("rows ab", "rows ac")
    assert not agree("sketch a: 1", "sketch b: 1")


def test_a_digest_depends_on_every_feature() -> None:
    values = np.zeros((4, 7))
    texts = {sums(values)}
    for i in range(values.size):
        values.flat[i] = 1.0
        texts.add(sums(values))
        values.flat[i] = 0.0
    assert len(texts) == values.size + 1
