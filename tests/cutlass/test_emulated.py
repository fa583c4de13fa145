"""Programs of templates run in the emulation and equal the mathematics; what is left out of their
pipelines shows.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from problems import (
    IN_REGISTERS,
    IN_SHARED,
    SM_75,
    SM_80,
    TILES,
    TURING_TILES,
    convolution,
    half,
    match,
    product,
    scores,
    two_convolutions,
    two_products,
)
from random_programs import EMULATED, NAMES, Batch, Random, draw

from tilewright.build.native import native_artifact
from tilewright.cutlass.architectures import Architecture
from tilewright.cutlass.parameters import Parameters
from tilewright.expr import operators as ops
from tilewright.expr.dag import ComputeDAG
from tilewright.ground.errors import RunError
from tilewright.runtime.device import DeviceFunction
from tilewright.runtime.emulated import EmulatedDevice

DRAWN = 12  # random programs of one compilation


def program(
    name: str, dag: ComputeDAG, parameters: Parameters, where: Architecture = SM_80
) -> Random:
    return Random(dag, match(name, dag, where), parameters)


@pytest.mark.parametrize(
    "seed", [1, 2, *(pytest.param(seed, marks=pytest.mark.thorough) for seed in range(3, 11))]
)
def test_random_programs_equal_the_mathematics(seed: int) -> None:
    """Random templates, parameters, ragged extents and epilogues."""
    programs = [draw(np.random.default_rng([seed, i]), NAMES[i % 4]) for i in range(DRAWN)]
    wrong = Batch.of(programs, seed).wrong()
    assert not any(wrong), [str(p) for p, n in zip(programs, wrong, strict=True) if n]


# One program for each pipeline: copies that are waited for, or two stages with barriers alone.
PIPELINES = {
    "gemm": ("gemm", product(150, 70, 136), TILES, SM_80),
    "gemm of two stages": ("gemm", product(150, 70, 136), TURING_TILES, SM_75),
    "conv": ("conv", convolution(32), TILES, SM_80),
    "conv of two stages": ("conv", convolution(32), TURING_TILES, SM_75),
    "b2b_gemm in registers": ("b2b_gemm", two_products(150, 136), IN_REGISTERS, SM_80),
    "b2b_gemm in shared memory": ("b2b_gemm", two_products(150, 136), IN_SHARED, SM_80),
    "b2b_conv in registers": ("b2b_conv", two_convolutions(), IN_REGISTERS, SM_80),
    "b2b_conv in shared memory": ("b2b_conv", two_convolutions(), IN_SHARED, SM_80),
    "b2b_gemm of two stages": (
        "b2b_gemm", two_products(150, 136), replace(IN_SHARED, stages=2), SM_75
    ),
    "b2b_conv of two stages": (
        "b2b_conv", two_convolutions(), replace(IN_REGISTERS, stages=2), SM_75
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def pipelines() -> Batch:
    """All of them, compiled together."""
    return Batch.of([program(*given) for given in PIPELINES.values()])


def wrong_or_lost(batch: Batch) -> list[int]:
    """Wrong elements of every program; of all, where the emulation stopped at one."""
    try:
        return batch.wrong()
    except RunError:
        return [1] * len(batch.programs)


def test_pipelines_equal_the_mathematics(pipelines: Batch) -> None:
    assert dict(zip(PIPELINES, pipelines.wrong(), strict=True)) == dict.fromkeys(PIPELINES, 0)


def test_waits_that_fall_short_by_one_are_noticed(
    pipelines: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every copy may then run as late as its next wait; two stages have no copies to wait for."""
    monkeypatch.setenv("TW_FAULT_WAITS", "1")
    wrong = dict(zip(PIPELINES, pipelines.wrong(), strict=True))
    for name, count in wrong.items():
        assert (count > 0) == ("two stages" not in name), name


@pytest.mark.parametrize("barrier", range(1, 6))
def test_barriers_that_are_left_out_are_noticed(
    pipelines: Batch, monkeypatch: pytest.MonkeyPatch, barrier: int
) -> None:
    """The first barriers are those of the main loops. A convolution's first one is before what its
    iterators look up is there.
    """
    monkeypatch.setenv("TW_FAULT_BARRIER", str(barrier))
    for name, count in zip(PIPELINES, wrong_or_lost(pipelines), strict=True):
        assert count > 0, f"{name} without barrier {barrier}"


def test_more_columns_of_a_warp_than_the_epilogue_has_pointers_for_are_wrong(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As they are on a GPU: the emulation takes the ways that CUDA's own compiler does."""
    monkeypatch.setattr("tilewright.cutlass.gemm.EPILOGUE_WARP_COLUMNS", 128)
    wide = program("gemm", product(64, 128, 64), replace(TILES, block_n=128, warp_m=16, warp_n=128))
    assert Batch.of([wide]).wrong() > [0]


def test_reductions_of_columns_equal_the_mathematics() -> None:
    """Of several tiles of ragged columns, every reduction, in one launch more."""
    a, w = half((70, 136), "a"), half((136, 203), "w", True)
    y = ops.gelu(ops.matmul(a, w))
    reductions = (ops.reduce_sum, ops.reduce_max, ops.reduce_min, ops.reduce_mean)
    dags = [ComputeDAG([ops.tanh(reduce(y, [1]))]) for reduce in reductions]
    batch = Batch.of([program("gemm", dag, TILES) for dag in (*dags, scores())])
    assert batch.wrong() == [0] * 5
    assert [len(p.artifact("k").launches) for p in batch.programs] == [2] * 5
    assert all(p.artifact("k").scratch_bytes >= 4 * 70 * 4 for p in batch.programs)


def arrays(dag: ComputeDAG, fill: float) -> dict[str, np.ndarray]:
    return {
        t.name: np.full([e for e in t.shape if isinstance(e, int)], fill, t.dtype.numpy)
        for t in (*dag.inputs, *dag.constants)
    }


def test_infinities_and_nans_beside_padding_stay_where_they_are() -> None:
    """A border of zeros beside infinities, K padded beside NaNs, channels that are not there."""
    cases = [
        ("gemm", product(33, 30, 46), replace(TILES, pad=1)),
        ("gemm", product(33, 30, 46), replace(TILES, align=2)),
        ("conv", convolution(3), replace(TILES, pad=1)),
        ("conv", convolution(46, 30), replace(TILES, align=2)),
        ("conv", convolution(174, 16, size=5), replace(TILES, pad=1)),
        ("gemm", product(1, 20, 64), TILES),
    ]
    batch = Batch.of([program(*given) for given in cases])
    assert batch.wrong() == [0] * len(cases)
    rng = np.random.default_rng(0)
    position = 0
    for one in batch.programs:
        dag = one.dag
        x = batch.inputs[position]
        flat = x.reshape(-1)
        flat[rng.integers(0, flat.size, 3)] = (np.inf, -np.inf, np.nan)
        position += len(dag.inputs)
    found = batch.function(*batch.inputs)
    position = 0
    for i, (one, got) in enumerate(zip(batch.programs, found, strict=True)):
        dag = one.dag
        values = {t.name: batch.inputs[position + j] for j, t in enumerate(dag.inputs)}
        position += len(dag.inputs)
        values |= {t.name: batch.constants[f"{i}.{t.name}"] for t in dag.constants}
        with np.errstate(invalid="ignore"):
            (want,) = dag.evaluate(values, float64=True).values()
        assert (np.isfinite(got) == np.isfinite(want)).all(), str(one)
        assert not np.isfinite(want).all()
        assert np.isfinite(want).any() or want.shape[0] == 1, "other rows do not see them"


def test_programs_of_one_form_share_their_source() -> None:
    """Sizes are arguments: shapes and strides are not in the text, so one binary serves all."""
    texts = {
        match("gemm", product(m, 64, k)).program(TILES, "k").text
        for m, k in ((100, 64), (7, 128), (33, 32))
    }
    assert len(texts) == 1
    ragged = match("gemm", product(100, 63, 64)).program(TILES, "k").text
    assert ragged not in texts, "63 columns are not whole accesses"


def test_reads_beyond_a_buffer_end_the_program() -> None:
    """The emulation has memory that cannot be read behind every buffer."""
    dag = ComputeDAG([ops.matmul(half((64, 64), "a"), half((64, 64), "b"))])
    found = match("gemm", dag)
    written = found.program(TILES, "k")
    call = written.calls[-1]
    longer = replace(call, grid=(40, 1, 1), values=(40 * 64, *call.values[1:]))
    artifact = native_artifact(dag, replace(written, calls=(longer,)), EMULATED, "k")
    function = DeviceFunction(artifact, EmulatedDevice())
    with pytest.raises(RunError, match="reads or writes outside of all memory"):
        function(*arrays(dag, 1.0).values())
