"""Every operator as a loop nest: the verifier accepts it and the interpreter agrees with the DAG.

Each stage becomes a nest of its own, its axes split into tiles of random sizes that need not
divide them, in a random order.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tilewright.expr import operators as op
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Axis, Expr, Read, Reduce, Tensor, Var, as_expr, const
from tilewright.expr.tensors import Compute, placeholder
from tilewright.expr.traversal import substitute, transform
from tilewright.ground.errors import VerifyError
from tilewright.nest.nodes import Alloc, For, If, Kind, Node, Program, Seq, Store, seq
from tilewright.nest.print import program_text
from tilewright.nest.reference.interpret import interpret
from tilewright.nest.verify import verify

IMAGE = placeholder((1, 6, 7, 4), name="x")
WEIGHTS = placeholder((3, 3, 4, 6), name="w", constant=True)
IDENTITY = {"sum": 0, "prod": 1, "max": -np.inf, "min": np.inf}


def tiled_program(dag: ComputeDAG, rng: np.random.Generator) -> Program:
    """Every stage at the root, with random tiles and loop orders."""
    body: Node | None = None
    for stage in reversed(dag.stages):
        nest = _stage(stage, rng)
        body = nest if body is None else seq(nest, body)
        if not dag.is_output(stage):
            body = Alloc(_storage(stage), (as_expr(0),) * stage.rank, body)
    assert body is not None
    return Program("test", dag.inputs, dag.constants, dag.tables, dag.outputs, body)


def _storage(t: Tensor) -> Tensor:
    return Tensor(t.name, t.shape, t.dtype)


def _stage(t: Tensor, rng: np.random.Generator) -> Node:
    source = t.source
    assert isinstance(source, Compute)
    body = source.body
    op_name = body.op if isinstance(body, Reduce) else None
    value = transform(body.body if isinstance(body, Reduce) else body, _to_storage)
    update = _tiled(t, source, (*source.axes, *source.reduce_axes), value, op_name, rng)
    if op_name is None:
        return update
    neutral = IDENTITY[op_name]
    if not t.dtype.is_float:
        limits = np.iinfo(t.dtype.name)
        neutral = {"max": limits.min, "min": limits.max}.get(op_name, neutral)
    fill = _tiled(t, source, source.axes, const(neutral, t.dtype.compute), None, rng)
    return seq(fill, update)


def _to_storage(e: Expr) -> Expr | None:
    if isinstance(e, Read) and isinstance(e.tensor.source, Compute):
        return Read(_storage(e.tensor), tuple(transform(i, _to_storage) for i in e.indices))
    return None


def _tiled(
    t: Tensor,
    source: Compute,
    axes: tuple[Axis, ...],
    value: Expr,
    reduce: str | None,
    rng: np.random.Generator,
) -> Node:
    values: dict[str, Expr] = {}
    loops: list[tuple[Var, int]] = []
    guards: list[Expr] = []
    for axis in axes:
        size = int(rng.integers(1, axis.extent + 1))
        outer, inner = Var(f"{t.name}.{axis.name}.0"), Var(f"{t.name}.{axis.name}.1")
        values[axis.name] = outer * size + inner
        loops += [(outer, -(-axis.extent // size)), (inner, size)]
        if axis.extent % size:
            guards.append(values[axis.name] < axis.extent)
    indices = tuple(values[a.name] for a in source.axes)
    node: Node = Store(_storage(t), indices, substitute(value, values), reduce)
    for guard in guards:
        node = If(guard, node)
    kinds = [Kind.SERIAL, Kind.UNROLLED, Kind.VECTOR]
    for number in rng.permutation(len(loops)):
        var, extent = loops[number]
        node = For(var, extent, node, kinds[int(rng.integers(3))])
    return node


OPERATORS = {
    "gmm": op.relu(op.matmul(placeholder((7, 5), name="a"), placeholder((5, 9), name="b"))),
    "half": op.matmul(
        placeholder((4, 8), "float16", name="a"), placeholder((8, 3), "float16", name="b")
    ),
    "quantised": op.matmul(
        placeholder((4, 9), "int8", name="a"), placeholder((9, 3), "int8", name="b")
    ),
    "c2d": op.conv2d(IMAGE, WEIGHTS, placeholder((6,), name="b"), stride=2, padding=1),
    "grd": op.conv2d(
        IMAGE, placeholder((3, 3, 2, 6), name="w"), groups=2, padding=((1, 0), (0, 2)), dilation=2
    ),
    "dep": op.depthwise_conv(IMAGE, placeholder((3, 3, 4, 2), name="w"), padding=1),
    "t2d": op.conv_transpose(
        placeholder((1, 3, 4, 3), name="x"),
        placeholder((4, 4, 3, 2), name="w"),
        stride=2,
        padding=1,
    ),
    "cap": op.capsule_conv2d(
        placeholder((1, 4, 4, 2, 2, 3), name="x"),
        placeholder((3, 3, 2, 2, 3, 2), name="w"),
        padding=1,
        stride=2,
    ),
    "nrm": op.matrix_norm(placeholder((2, 9, 7), name="x")),
    "softmax": op.softmax(placeholder((2, 9, 7), name="x"), 1),
    "layer_norm": op.layer_norm(
        placeholder((2, 9, 7), name="x"), placeholder((7,), name="s"), placeholder((7,), name="b")
    ),
    "lrn": op.lrn(IMAGE, 5),
    "max_pool": op.max_pool(IMAGE, 3, stride=2, padding=1, ceil_mode=True),
    "avg_pool": op.avg_pool(IMAGE, 3, stride=2, padding=1, ceil_mode=True),
    "argmax": op.argmax(placeholder((4, 9), name="x"), 1),
    "logsumexp": op.reduce_logsumexp(placeholder((3, 4, 5), name="x"), (0, 2)),
    "reshape": op.reshape(placeholder((4, 6, 5), name="x"), (8, 15)),
    "concat": op.concat([placeholder((4, e), name=f"x{e}") for e in (3, 2, 5)], 1),
    "gather": op.gather(
        placeholder((7, 4), name="x"), placeholder((2, 3), "int64", name="i")
    ),
    "slice": op.strided_slice(placeholder((7, 4), name="x"), (5,), (0,), (-2,)),
    "reflect": op.pad(placeholder((5, 4), name="x"), ((2, 7), (0, 1)), mode="reflect"),
    "depth_to_space": op.depth_to_space(placeholder((1, 2, 3, 8), name="x"), 2),
    "upsample": op.upsample_nearest(placeholder((1, 3, 4, 2), name="x"), (5, 9)),
    "gelu": op.gelu(op.add(placeholder((3, 4), name="x"), placeholder((4,), name="b"))),
}  # fmt: skip


def arrays(dag: ComputeDAG, rng: np.random.Generator) -> dict[str, np.ndarray]:
    found = {}
    for t in (*dag.inputs, *dag.constants):
        shape = tuple(int(e) for e in t.shape if isinstance(e, int))
        values = rng.standard_normal(shape) * (1 if t.dtype.is_float else 5)
        found[t.name] = values.astype(t.dtype.numpy)
    return found


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("seed", range(4))
def test_operator(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    dag = ComputeDAG([OPERATORS[name]])
    program = tiled_program(dag, rng)
    verify(program)
    given = arrays(dag, rng)
    inputs = {t.name: given[t.name] for t in dag.inputs}
    constants = {t.name: given[t.name] for t in dag.constants}
    got, expected = interpret(program, inputs, constants), dag.evaluate(given)
    for output in dag.outputs:
        want = expected[output.name]
        scale = max(1.0, float(np.abs(want).max()))
        tolerance = 1e-4 if output.dtype.bits >= 32 else 2e-3
        np.testing.assert_allclose(got[output.name], want, atol=tolerance * scale, rtol=0)
    assert program_text(program).count("\n") > 4


def unguarded(node: Node) -> Node:
    """The nest with its conditions dropped."""
    match node:
        case If(_, body):
            return unguarded(body)
        case For() | Alloc():
            return replace(node, body=unguarded(node.body))
        case Seq(body):
            return Seq(tuple(map(unguarded, body)))
    return node


@pytest.mark.parametrize("name", ["gmm", "c2d", "dep", "t2d", "softmax", "reshape", "concat"])
def test_without_its_guards_a_program_is_refused_by_both(name: str) -> None:
    """What the interpreter finds by running, the verifier finds without."""
    refused = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        dag = ComputeDAG([OPERATORS[name]])
        program = tiled_program(dag, rng)
        broken = replace(program, body=unguarded(program.body))
        if broken == program:
            continue
        given = arrays(dag, rng)
        with pytest.raises(VerifyError):
            interpret(broken, given, given)
        with pytest.raises(VerifyError):
            verify(broken)
        refused += 1
    assert refused
