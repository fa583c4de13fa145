"""Networks whose kernels are templates' and sketches', side by side."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import tilewright as tw
from tilewright.contract.gene import Gene
from tilewright.cutlass import offered
from tilewright.expr.operators import matmul
from tilewright.expr.tensors import placeholder
from tilewright.front.inspection import find_program, write_report
from tilewright.front.kernels import build_recorded, untemplated
from tilewright.front.machine import machine_of
from tilewright.front.models import Model
from tilewright.front.tuning_tasks import tasks_of
from tilewright.ground.errors import RecordsError
from tilewright.records.database import Database
from tilewright.records.rows import Trial
from tilewright.search.model.imported import ImportCheck
from tilewright.search.tasks import TuningTask
from tilewright.target import Target

EMULATED = Target.parse("emulated")
PROVED = Target.parse("emulated proved=cutlass.gemm+cutlass.b2b_gemm+cutlass.b2b_conv")


def weights(name: str, *shape: int) -> onnx.TensorProto:
    values = np.random.default_rng(len(name)).integers(-8, 9, shape) / 16
    return numpy_helper.from_array(values.astype(np.float16), name)


def saved(
    file: Path, nodes: list[onnx.NodeProto], given: list[onnx.TensorProto], *shape: int
) -> Path:
    """A network of one input and one output, in half precision."""
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT16, shape)
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT16, None)
    graph = helper.make_graph(nodes, "small", [x], [y], given)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), file)
    return file


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """Convolution, relu, max pool, convolution, mean: three channels."""
    nodes = [
        helper.make_node("Conv", ["x", "w0", "b0"], ["a"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("MaxPool", ["b"], ["c"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Conv", ["c", "w1", "b1"], ["d"]),
        helper.make_node("Relu", ["d"], ["y"]),
    ]
    given = [weights("w0", 16, 3, 3, 3), weights("b0", 16), weights("w1", 24, 16, 1, 1),
             weights("b1", 24)]  # fmt: skip
    return saved(tmp_path / "small.onnx", nodes, given, 1, 3, 10, 10)


@pytest.fixture
def pair(tmp_path: Path) -> Path:
    """Two convolutions with relu, the second 1 x 1, then one more that is not."""
    nodes = [
        helper.make_node("Conv", ["x", "w0", "b0"], ["a"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("Conv", ["b", "w1", "b1"], ["c"]),
        helper.make_node("Relu", ["c"], ["d"]),
        helper.make_node("Conv", ["d", "w2"], ["y"], pads=[1, 1, 1, 1]),
    ]
    given = [weights("w0", 16, 8, 3, 3), weights("b0", 16), weights("w1", 24, 16, 1, 1),
             weights("b1", 24), weights("w2", 8, 24, 3, 3)]  # fmt: skip
    return saved(tmp_path / "pair.onnx", nodes, given, 1, 8, 12, 12)


def record(db: Path, task: TuningTask, genes: list[Gene]) -> None:
    """As if these programs had been measured, the first one as the best."""
    machine = machine_of(EMULATED)
    with Database.open(db) as database:
        database.add_machine(machine)
        database.add_workload(task.row)
        database.add_trials(
            [
                Trial(task.hash, machine.fingerprint, gene, 0, 0, (1e-6 * (i + 1),))
                for i, gene in enumerate(genes)
            ]
        )


def tasks(model: Path) -> list[TuningTask]:
    loaded = tw.load(model).for_target(EMULATED)
    assert isinstance(loaded, Model)
    return tasks_of(loaded)


def test_a_network_mixes_templates_and_sketches(model: Path, tmp_path: Path) -> None:
    """Its first convolution reads NCHW, packed in memory of the plan; the pool is a sketch's."""
    db, recorded = tmp_path / "tuning.db", 0
    for task in tasks(model):
        genes = offered(task.dag, EMULATED)
        if genes:
            record(db, task, genes[:1])
            recorded += 1
    assert recorded == 2
    notes: list[str] = []
    net = tw.compile(tw.load(model), db, target="emulated", notes=notes.append)
    kernels = [launch.kernel for launch in net.artifact.launches]
    assert sum(k.startswith("tw_") for k in kernels) == 3 < len(kernels), "one of them packs"
    x = (np.random.default_rng(1).integers(-8, 9, (1, 3, 10, 10)) / 8).astype(np.float16)
    (y,) = net(x)
    plain = tw.compile(tw.load(model))
    (expected,) = plain(x)
    assert np.allclose(y.astype(float), expected.astype(float), rtol=4e-3, atol=4e-3)
    assert any(k.kernel.startswith("t") and k.seconds >= 0 for k in net.profile((x,), 1).kernels)


def test_a_pair_is_one_kernel_where_a_template_computes_both(pair: Path, tmp_path: Path) -> None:
    loaded = tw.load(pair).for_target(EMULATED)
    assert isinstance(loaded, Model)
    verdicts = {link.second.inputs[1].shape: link.verdict for link in loaded.partition.links}
    assert verdicts.pop((1, 1, 16, 24)) == "in one kernel"
    assert "a border" in verdicts.popitem()[1]
    assert len(tasks(pair)) == 2 < len(tasks_of(tw.load(pair, chains=False)))
    both = next(t for t in tasks(pair) if sum("acc" in s.name for s in t.dag.stages) == 2)
    gene = offered(both.dag, EMULATED)[0]
    assert "b2b_conv" in gene.text
    (match,), _ = build_recorded([both], None, PROVED)
    assert (match.gene, match.program) == (gene, "default"), "what an untuned network runs"
    (match,), _ = build_recorded([both], None, EMULATED)
    assert match.gene is None and "cutlass.b2b_conv" in match.unproved
    db = tmp_path / "tuning.db"
    record(db, both, [gene])
    x = (np.random.default_rng(1).integers(-8, 9, (1, 8, 12, 12)) / 8).astype(np.float16)
    (y,) = tw.compile(tw.load(pair), db, target="emulated")(x)
    (expected,) = tw.compile(tw.load(pair))(x)
    assert np.allclose(y.astype(float), expected.astype(float), rtol=8e-3, atol=8e-3)


def test_columns_are_reduced_where_a_product_is_computed(tmp_path: Path) -> None:
    """Additive attention's scores. What pools a convolution's result is a kernel of its own, of
    which nothing is told.
    """
    nodes = [
        helper.make_node("Conv", ["x", "w0"], ["a"], pads=[1, 1, 1, 1]),
        helper.make_node("MaxPool", ["a"], ["b"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Flatten", ["b"], ["c"], axis=2),
        helper.make_node("MatMul", ["c", "w1"], ["d"]),
        helper.make_node("Tanh", ["d"], ["e"]),
        helper.make_node("MatMul", ["e", "v"], ["y"]),
    ]
    given = [weights("w0", 16, 32, 3, 3), weights("w1", 288, 40), weights("v", 40, 1)]
    shape = 1, 32, 36, 32
    file = saved(tmp_path / "scores.onnx", nodes, given, *shape)
    loaded = tw.load(file).for_target(EMULATED)
    assert isinstance(loaded, Model)
    assert [link.verdict for link in loaded.partition.links] == ["in one kernel"]
    both = next(t for t in tasks(file) if sum("acc" in s.name for s in t.dag.stages) == 2)
    assert "cutlass.gemm" in offered(both.dag, EMULATED)[0].text
    net = tw.compile(tw.load(file), target=PROVED)
    x = (np.random.default_rng(1).integers(-8, 9, shape) / 64).astype(np.float16)
    (y,), (expected,) = net(x), tw.compile(tw.load(file))(x)
    assert np.allclose(y.astype(float), expected.astype(float), rtol=8e-3, atol=2e-2)
    assert sum(launch.kernel.endswith("_end") for launch in net.artifact.launches) == 1


def test_a_short_contraction_is_a_templates_before_a_softmax(tmp_path: Path) -> None:
    """On a CPU it is light enough to be computed with the softmax, row by row."""
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["a"]),
        helper.make_node("Softmax", ["a"], ["b"], axis=-1),
        helper.make_node("MatMul", ["b", "v"], ["y"]),
    ]
    given = [weights("w", 64, 96), weights("v", 96, 32)]
    file = saved(tmp_path / "attention.onnx", nodes, given, 2, 40, 64)
    made = [bool(offered(task.dag, EMULATED)) for task in tasks(file)]
    assert made == [True, False, True]
    net = tw.compile(tw.load(file), target="emulated")
    x = (np.random.default_rng(1).integers(-8, 9, (2, 40, 64)) / 16).astype(np.float16)
    (y,), (expected,) = net(x), tw.compile(tw.load(file))(x)
    assert np.allclose(y.astype(float), expected.astype(float), rtol=8e-3, atol=8e-3)
    assert len(net.artifact.launches) == 3


def test_contractions_without_a_template_are_told_with_the_reason(model: Path) -> None:
    assert untemplated(tasks(model), EMULATED) == {}
    a, b = (placeholder((8, 8), name=n) for n in "ab")
    single = tasks_of(tw.Task([matmul(a, b)], "single"))
    assert untemplated(single, EMULATED) == {
        "sm_80 multiplies no float32 by tensor cores": ["single"]
    }
    assert untemplated(single, Target.parse("opencl:pocl")) == {}


def test_a_record_that_cannot_be_gives_way_to_the_next(model: Path, tmp_path: Path) -> None:
    """Tiles that no instruction fits, as no search writes them."""
    task = next(t for t in tasks(model) if offered(t.dag, EMULATED))
    good = offered(task.dag, EMULATED)[0]
    bad = Gene.of(good.text.replace('"warp":[', '"warp":[1'))
    db = tmp_path / "tuning.db"
    record(db, task, [bad, good])
    (match,), kernels = build_recorded([task], db, EMULATED)
    assert match.gene == good and "trial 1 of" in match.note
    assert "cutlass." in match.note and "it is not so that" in match.note
    assert kernels[task.computation].launches[-1].dynamic_bytes > 0


def test_records_of_templates_are_exported_and_imported(model: Path, tmp_path: Path) -> None:
    task = next(t for t in tasks(model) if offered(t.dag, EMULATED))
    genes = offered(task.dag, EMULATED)[:2]
    db, other, file = (tmp_path / name for name in ("a.db", "b.db", "records.jsonl"))
    record(db, task, genes)
    fingerprint = machine_of(EMULATED).fingerprint
    with Database.open(db, readonly=True) as database:
        database.export(file)
    with Database.open(other) as database:
        database.import_(file, ImportCheck(database))
        assert [t.gene for t in database.trials(task.hash, fingerprint)] == genes
    broken = file.read_text().replace("[[64,", "[[-1,").replace(":[64,", ":[-1,")
    bad = tmp_path / "bad.jsonl"
    bad.write_text(broken.replace('\\"stages\\":', '\\"stages\\":-'))
    with Database.open(tmp_path / "c.db") as database, pytest.raises(RecordsError):
        database.import_(bad, ImportCheck(database))


def test_records_of_templates_are_shown(model: Path, tmp_path: Path) -> None:
    task = next(t for t in tasks(model) if offered(t.dag, EMULATED))
    db = tmp_path / "tuning.db"
    record(db, task, offered(task.dag, EMULATED)[:2])
    with Database.open(db, readonly=True) as database:
        found = find_program(database)
    assert found.layers.sketch_name.startswith("cutlass.")
    assert found.layers.text("sketch").startswith("template cutlass.")
    page = tmp_path / "report.html"
    write_report(db, page)
    assert "cutlass." in page.read_text()
