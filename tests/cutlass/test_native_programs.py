"""Templates as producers of programs: genes, builds, records, the search, and what is shown."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from problems import IN_SHARED, TILES, convolution, half, match, product, two_convolutions

import tilewright as tw
from tilewright.build import build_request, make_request
from tilewright.build.layers import Layers
from tilewright.build.native import build_native
from tilewright.contract.artifact import Artifact
from tilewright.contract.gene import Gene
from tilewright.cutlass import gene_of, matches_of, native_of, offered
from tilewright.cutlass import genes as cutlass_genes
from tilewright.expr import operators as ops
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.serialize import workload_hash
from tilewright.expr.tensors import placeholder
from tilewright.ground.errors import ScheduleError
from tilewright.measure.trial import RunOptions
from tilewright.records.database import Database
from tilewright.runtime import nvrtc
from tilewright.search.strategies.evolution import TEMPLATE
from tilewright.search.strategies.memory import Candidate, Listed
from tilewright.search.tasks import TaskSearch, TuningTask
from tilewright.space.space import Space
from tilewright.target import Target
from tilewright.target.cpu import host_cpu

A100, EMULATED = Target.parse("cuda:a100"), Target.parse("emulated")
QUICK = RunOptions(repeats=1, min_repeat_ms=1, timeout_s=60)


def test_genes_are_read_back() -> None:
    dag = product(100, 64, 64)
    gene = gene_of(match("gemm", dag), TILES)
    assert gene.text == (
        '{"producer":{"native":"cutlass.gemm"},"decisions":{"block":[64,64,32],"warp":[32,32],'
        '"stages":3,"swizzle":1,"align":8,"pad":0,"second":[0,0,0],"shared":0}}'
    )
    again = native_of(dag, Gene.of(gene.text), A100)
    assert again.parameters == TILES and again.match.template == "cutlass.gemm"
    assert gene.key == "native" and Gene("[]").key != "native"
    pair = two_convolutions()
    gene = gene_of(match("b2b_conv", pair), IN_SHARED)
    assert native_of(pair, gene, A100).parameters == IN_SHARED


@pytest.mark.parametrize(
    ("producer", "changes", "message"),
    [
        ('{"native":"cutlass.other"}', {}, "no template is called 'cutlass.other'; known: "),
        ('{"native":"cutlass.conv"}', {}, "cutlass.conv does not compute this: no factor is read"),
        ('{"native":"cutlass.gemm"}', {"stages": 9}, "cutlass.gemm: stages: it is not so that"),
        ('{"native":"cutlass.gemm"}', {"warp": [0, 32]}, "warp_m must not be 0"),
        ('{"native":"cutlass.gemm"}', {"align": 0}, "cutlass.gemm: align must not be 0"),
        ('{"native":"cutlass.gemm"}', {"warp": [32]}, "warp must have 2 numbers"),
        ('{"native":"cutlass.gemm"}', {"extra": 1}, "has no decision extra"),
    ],
)
def test_genes_that_cannot_be_are_refused(
    producer: str, changes: dict[str, object], message: str
) -> None:
    dag = product(100, 64, 64)
    decisions = json.loads(gene_of(match("gemm", dag), TILES).decisions) | changes
    with pytest.raises(ScheduleError, match=message):
        native_of(dag, Gene(producer, json.dumps(decisions)), A100)
    pair = two_convolutions()
    single = gene_of(match("b2b_conv", pair), TILES)
    with pytest.raises(ScheduleError, match="block_n1, warp_m1, warp_n1 must not be 0"):
        native_of(pair, single, A100)
    with pytest.raises(ScheduleError, match="has no tensor cores"):
        native_of(dag, gene_of(match("gemm", dag), TILES), Target.parse("cuda:v100"))


def test_templates_take_turns_in_what_is_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    genes = offered(two_convolutions(), A100)
    assert 0 < len(genes) <= 40 and {g.producer for g in genes} == {'{"native":"cutlass.b2b_conv"}'}
    assert len({g.text for g in offered(product(512, 512, 512), A100)}) > 20
    assert offered(product(512, 512, 512), Target.parse("cuda:v100")) == []
    monkeypatch.setattr(cutlass_genes, "missing", lambda: "no headers")
    assert offered(product(512, 512, 512), A100) == []


def test_programs_are_candidates_of_the_space() -> None:
    """Behind its sketches, the most promising first; nothing that is drawn or changed is one."""
    dag = product(512, 512, 512)
    space = Space(dag, A100)
    assert list(space.natives) == offered(dag, A100)
    for number, gene in enumerate(space.natives[:3], len(space.sketches)):
        found = space.row_of(gene)
        assert found is not None and (found.sketch == number).all()
        assert space.gene(number, found.rows[0]) == gene
    assert (space.sample(np.random.default_rng(0), 256).sketch < len(space.sketches)).all()
    assert Space(product(64, 64, 64), host_cpu()).natives == ()


def test_programs_are_offered_once() -> None:
    task = TuningTask("product", product(512, 512, 512))
    search = TaskSearch.start(task, task.space(A100), None, lambda *_: Listed(None, None))
    rng = np.random.default_rng(0)
    gene = search.space.natives[2]
    known = Candidate.at(search.space.row_of(gene), gene)
    search.offered.tell([known], [1.0])
    first, then = search.offered.ask(rng, 5), search.offered.ask(rng, 5)
    assert [c.origin for c in first] == [TEMPLATE] * 5
    genes = [c.gene for c in (*first, *then)]
    assert genes == [g for g in search.space.natives if g != known.gene][:10]


def test_binaries_are_shared_by_workloads(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The second workload, of other sizes, compiles nothing; its launch differs."""
    monkeypatch.setenv("TILEWRIGHT_CACHE", str(tmp_path))
    one, two = product(100, 64, 64), product(300, 128, 256)
    first = build_native(one, gene_of(match("gemm", one), TILES), A100, "first")
    assert first.object_code[:4] == b"\x7fELF" and first.report is not None
    assert first.report.spill_bytes == 0 and first.report.registers > 32

    def never(*_: object) -> None:
        raise AssertionError("compiled again")

    monkeypatch.setattr("tilewright.build.native.compile_cuda", never)
    second = build_native(two, gene_of(match("gemm", two), TILES), A100, "second")
    assert second.object_code == first.object_code
    a, b = first.launches[-1], second.launches[-1]
    assert a.kernel == b.kernel and a.dynamic_bytes == b.dynamic_bytes == 3 * 128 * 32 * 2
    assert (a.grid, b.grid) == ((2, 1, 1), (5, 2, 1))
    assert a.values[:3] == (100, 64, 64) and b.values[:3] == (300, 128, 256)
    assert Artifact.from_bytes(second.to_bytes()) == second
    request = make_request(two, gene_of(match("gemm", two), TILES), A100, "second")
    assert Artifact.from_bytes(build_request(request)) == second
    assert nvrtc.compiler().startswith("NVRTC ")


def test_what_int32_does_not_count_is_refused() -> None:
    rows = placeholder((2**17, 2**15), "float16", name="a")
    dag = ComputeDAG([ops.matmul(rows, half((2**15, 64), "w", True), name="y")])
    many = placeholder((3, 2**28, 8), "float16", name="b")
    batched = ComputeDAG([ops.batch_matmul(many, half((3, 8, 8), "v"))])
    assert match("gemm", dag).program(TILES, "k").calls[-1].values[0] == 2**17
    with pytest.raises(ScheduleError, match="kernels count in int32, which"):
        match("gemm", batched).program(TILES, "k")


def test_inputs_are_packed_in_memory_of_the_plan() -> None:
    """Three channels are filled up to eight by a kernel of its own, weights when it is loaded."""
    dag = convolution(3, 16)
    gene = gene_of(match("conv", dag), replace(TILES, pad=1))
    artifact = build_native(dag, gene, EMULATED, "conv")
    pack, conv = artifact.launches
    assert pack.arguments == (0, -1) and conv.arguments[0] == -1, "scratch memory begins there"
    assert artifact.scratch_bytes == 2 * 9 * 9 * 8 * 2 + (-2 * 9 * 9 * 8 * 2) % 64
    weights = artifact.packings[0]
    assert weights.source.shape == (3, 3, 3, 16) and weights.shape == (16, 3, 3, 8)
    packed = weights.apply(np.ones((3, 3, 3, 16), np.float16))
    assert packed[..., :3].all() and not packed[..., 3:].any()


def test_every_form_of_a_program_is_shown() -> None:
    dag = product(100, 64, 64)
    layers = Layers(dag, gene_of(match("gemm", dag), TILES), A100, "gemm")
    assert layers.sketch_name == "cutlass.gemm"
    assert layers.text("sketch").startswith("template cutlass.gemm\ndecisions\n  block#1 = 64\n")
    assert "  stages = 3\n" in layers.text("trace")
    assert layers.text("nest") == "A template has no loop nest.\n"
    assert "tw::Gemm<cutlass::half_t" in layers.text("ir")


@pytest.mark.thorough
def test_tuning_measures_templates_beside_sketches_and_resumes(tmp_path: Path) -> None:
    """Both kinds are measured, pass the gate and are recorded; a second run measures nothing; the
    best of both is compiled.
    """
    a, w = half((40, 32), "a"), half((32, 40), "w", True)
    task = tw.Task([a, w, ops.relu(ops.matmul(a, w))], name="product")
    count = len(matches_of(task.dag, EMULATED)[0].short_list(40))
    trials = 3
    assert count > trials
    db = tmp_path / "tuning.db"
    result = tw.tune(task, target="emulated", trials=trials, db=db, options=QUICK)
    assert result.trials == trials and result.tasks[0].errors == 0
    with Database.open(db, readonly=True) as database:
        (machine,) = database.machines()
        found = list(database.trials(workload_hash(task.dag), machine.fingerprint))
    native = [t for t in found if t.gene.key == "native"]
    assert len(native) == trials and len(found) > trials, "the default program is a sketch's"
    assert all(t.ok and t.origin == TEMPLATE for t in native)
    again = tw.tune(task, target="emulated", trials=trials, db=db, options=QUICK)
    assert again.trials == trials
    with Database.open(db, readonly=True) as database:
        again_found = list(database.trials(workload_hash(task.dag), machine.fingerprint))
    assert [t.gene for t in again_found] == [t.gene for t in found]
    fn = tw.compile(task, db=db, target="emulated")
    rng = np.random.default_rng(0)
    x, v = ((rng.integers(-8, 9, s) / 8).astype(np.float16) for s in ((40, 32), (32, 40)))
    fn.prepare({"w": v})
    (y,) = fn(x)
    assert np.allclose(y, np.maximum(x.astype(float) @ v.astype(float), 0), rtol=1e-3, atol=1e-3)
