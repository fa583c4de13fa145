"""Networks with sizes made by hand of DAGs, for tests of linking and calls.

net = SizedNetwork([scores_dag, softmax_dag])      tensors of one name are one value
net.check({"S": 37})                               the network against the DAGs' own values
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tilewright.build.compile import build_nest
from tilewright.contract.sizes import Sizes
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Tensor, Var
from tilewright.expr.serialize import workload_hash
from tilewright.graph.ir import Graph, Value
from tilewright.graph.partition import KernelTask, Partition, Subgraph
from tilewright.network.executor import Network
from tilewright.network.link import linked
from tilewright.runtime.buffers import GuardedBuffer
from tilewright.space.default import default_gene
from tilewright.space.space import Space
from tilewright.target import Target

Array = np.ndarray[Any, np.dtype[Any]]
TARGET = Target.parse("cpu")


class SizedNetwork:
    """A network of kernels that run one after the other. Inputs are what no DAG computes; outputs
    are named, or the last DAG's.
    """

    def __init__(
        self, dags: Sequence[ComputeDAG], outputs: Sequence[str] = (), target: Target = TARGET
    ) -> None:
        self.dags, self.wanted = dags, outputs
        self.sizes: Sizes = tuple(dict.fromkeys(s for d in dags for s in d.sizes))
        rng = np.random.default_rng(0)
        self.values: dict[str, Value] = {}
        made = {t.name for d in dags for t in d.outputs}
        for t in (t for d in dags for t in (*d.inputs, *d.constants, *d.outputs)):
            is_weight = any(t.name == c.name for d in dags for c in d.constants)
            weight = rng.standard_normal(t.shape).astype("f4") if is_weight else None
            self.values.setdefault(t.name, Value(t.name, t.shape, t.dtype.name, weight))
        given = dict.fromkeys(t.name for d in dags for t in d.inputs if t.name not in made)
        wanted = tuple(outputs or (dags[-1].outputs[0].name,))
        inputs, results = (tuple(self.values[n] for n in names) for names in (given, wanted))
        tasks = {
            workload_hash(d): KernelTask(f"t{i}", workload_hash(d), d, 1)
            for i, d in enumerate(dags)
        }
        graph = Graph("sized", inputs, results, wanted, (), sizes=self.sizes)
        calls = tuple(map(self._call, dags))
        kernels = {
            t.key: build_nest(t.dag, default_gene(Space(t.dag, target)), target, t.name)
            for t in tasks.values()
        }
        self.partition = Partition(graph, calls, tuple(tasks.values()), {})
        self.network: Network = linked(self.partition, kernels, target)

    def on(self, target: Target) -> SizedNetwork:
        """The same compiled for another target."""
        return SizedNetwork(self.dags, self.wanted, target)

    def _call(self, dag: ComputeDAG) -> Subgraph:
        def of(tensors: Sequence[Tensor]) -> tuple[Value, ...]:
            return tuple(self.values[t.name] for t in tensors)

        (output,) = of(dag.outputs)
        return Subgraph(
            *(output.name, workload_hash(dag), of(dag.inputs), of(dag.constants), output),
            tuple(Var(s.name) for s in dag.sizes),
        )

    def inputs(self, sizes: Mapping[str, int], seed: int = 0) -> list[Array]:
        """Arrays for these sizes."""
        rng = np.random.default_rng(seed)
        graph = self.partition.graph.at(sizes)
        return [rng.standard_normal(v.shape).astype("f4") for v in graph.inputs]

    def expected(self, sizes: Mapping[str, int], inputs: Sequence[Array]) -> list[Array]:
        """What the DAGs of these sizes compute."""
        names = (v.name for v in self.partition.graph.inputs)
        known = dict(zip(names, inputs, strict=True))
        known |= {n: v.constant for n, v in self.values.items() if v.constant is not None}
        for dag in self.dags:
            mine = {s.name: sizes[s.name] for s in dag.sizes}
            at = dag.at(mine)
            needed = {t.name: known[t.name] for t in (*at.inputs, *at.constants)}
            known |= at.evaluate(needed)
        return [known[n] for n in self.partition.graph.output_names]

    def check(self, sizes: Mapping[str, int], seed: int = 0) -> None:
        """Call with arrays of exactly these extents: nothing beyond them is touched, scratch is NaN
        before, and results are new, given, and used again.
        """
        inputs = self.inputs(sizes, seed)
        wanted = self.expected(sizes, inputs)
        for frame in self.network.function._frames:  # type: ignore[union-attr]
            frame.scratch.fill(0xFF)
        within = [_guarded(a) for a in inputs]
        outside = [_guarded(y, written=True) for y in wanted]
        out = [array for _, array in outside]
        given = self.network(*(array for _, array in within), out=out)
        for found in (given, self.network(*inputs), self.network(*inputs)):
            for y, reference in zip(found, wanted, strict=True):
                assert y.shape == reference.shape and y.flags.c_contiguous
                assert y.flags.f_contiguous == reference.copy().flags.f_contiguous
                assert y.strides == reference.copy().strides or not y.size
                np.testing.assert_allclose(y, reference, rtol=2e-4, atol=2e-4)
        assert all(buffer.slack_intact() for buffer, _ in outside)


def _guarded(array: Array, written: bool = False) -> tuple[GuardedBuffer, Array]:
    """A copy of an array that ends where no page is."""
    buffer = GuardedBuffer(array.nbytes, written)
    view = buffer.view(array.shape, array.dtype)
    view[...] = array
    return buffer, view
