"""From a partition and its kernels to a network.

net = linked(partition(graph), kernels, target)      kernels: task key → Artifact
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from tilewright.build import compile_ir
from tilewright.codegen.llvm.extents import derive_ir
from tilewright.contract.artifact import (
    ALIGNMENT,
    Array,
    Artifact,
    Launch,
    aligned,
    derive_entry,
)
from tilewright.contract.formulas import Formula
from tilewright.expr.sizes import formula_of
from tilewright.graph.partition import Partition
from tilewright.network.entry import entry_ir
from tilewright.network.executor import Network
from tilewright.network.launches import launches_of
from tilewright.network.linker import Linker
from tilewright.network.values import spec_of_state, spec_of_value
from tilewright.runtime.buffers import return_freed
from tilewright.runtime.constants import ConstantPool, Constants, pack
from tilewright.target import CpuTarget, Target


def linked(
    partition: Partition,
    kernels: Mapping[str, Artifact],
    target: Target,
    pool: ConstantPool | None = None,
) -> Network:
    """The network, its constants packed. Those of networks made with one `pool` are stored once
    where they are equal. Raises what `unpacked` raises.
    """
    network, weights = unpacked(partition, kernels, target)
    return_freed()  # by import and compilation, whose peaks shall not add to the packed weights
    network.constants = pack(network.artifact, weights, pool)
    return network


def unpacked(
    partition: Partition, kernels: Mapping[str, Artifact], target: Target
) -> tuple[Network, dict[str, Array]]:
    """The network without its constants, and these as they are, by name. `kernels` has an artifact
    for every task, with different entry names.

    Raises BuildError when a kernel is missing or does not fit.
    """
    linker = Linker(partition, kernels, target)
    artifact, arena = link(linker), linker.plan.arena
    calls, none = len(partition.subgraphs), Constants((), ())
    network = Network(partition.graph.name, artifact, linker.parts, none, arena, calls, target)
    weights = {c.spec.name: c.value.constant for c in linker.constants}
    return network, {n: w for n, w in weights.items() if w is not None}


def link(linker: Linker) -> Artifact:
    """The artifact whose object code, or whose launches, call the kernels."""
    graph = linker.partition.graph
    name = "net_" + re.sub(r"\W", "_", graph.name)
    values = linker.values
    head = 0 if linker.on_device else values.bytes
    workspace = head + linker.plan.arena_bytes
    steps, code = linker.steps(), b""
    own = linker.own
    status = aligned(workspace + own, ALIGNMENT) if linker.refusals else None
    launches: tuple[Launch, ...] = ()
    formulas: tuple[Formula, ...] = ()
    if isinstance(linker.target, CpuTarget):
        ir = entry_ir(name, linker.buffer_count, linker.actions, workspace, status, head)
        if values.sizes:
            ir += derive_ir(derive_entry(name), values.sizes, values.derived, linker.target)
        code = compile_ir(ir, linker.target)
    else:
        launches, steps = launches_of(linker.actions, steps, linker.parts, workspace)
        formulas = tuple(formula_of(e, values.sizes) for e in values.derived)
    outputs = zip(graph.output_names, graph.outputs, strict=True)
    return Artifact(
        entry=name,
        target=str(linker.target),
        object_code=code,
        inputs=tuple(spec_of_value(v.name, v, graph.sizes) for v in graph.inputs),
        constants=tuple(c.spec for c in linker.constants),
        outputs=tuple(spec_of_value(n, v, graph.sizes) for n, v in outputs),
        packings=tuple(c.packing for c in linker.constants),
        scratch_bytes=workspace + own if status is None else status + ALIGNMENT,
        steps=steps,
        launches=launches,
        refusals=tuple(linker.refusals),
        sizes=values.sizes,
        derived=values.ranges,
        states=tuple(spec_of_state(s, graph.sizes) for s in graph.states),
        formulas=formulas,
    )
