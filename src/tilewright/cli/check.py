"""Our outputs against onnxruntime's: whether they agree, and where they part if they do not.

found = verdict(run, names, outputs, GivenTolerance(), db, target)
found.agrees
found.first.node        the first node of the model whose value deviates
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import tilewright as tw
from tilewright.cli.options import EXTRA
from tilewright.cli.parts import onnx
from tilewright.cli.peers import PEER, onnxruntime_peer
from tilewright.contract.artifact import Array, BufferSpec
from tilewright.contract.deviation import Deviation, GivenTolerance, compare
from tilewright.ground.errors import InputError, TilewrightError


@dataclass(frozen=True, slots=True)
class FirstDifference:
    """The first node, in the order of the model, with a value that deviates; `before` values
    agree, of `values` that were compared.
    """

    node: str
    operator: str
    deviation: Deviation
    before: int
    values: int


@dataclass(frozen=True, slots=True)
class Run:
    """What was computed: the model of a file, on arrays; `constants` are inputs known to us, and
    `limits` of what data decide.
    """

    file: Path
    inputs: Sequence[BufferSpec]
    arrays: Mapping[str, Array]
    constants: Mapping[str, Array]
    limits: Mapping[str, int]
    threads: int


@dataclass(frozen=True, slots=True)
class CheckResult:
    """Whether outputs agree. If not, `first` is the node where they part; None where every value
    agrees as long as it is an output of its own, or where that cannot be told: `obstacle`.
    """

    deviations: Sequence[Deviation]
    tolerance: GivenTolerance
    first: FirstDifference | None = None
    obstacle: str = ""

    @property
    def agrees(self) -> bool:
        """Whether no output deviates."""
        return all(d.is_allowed for d in self.deviations)

    def facts(self) -> dict[str, Any]:
        """As what JSON holds."""
        return {
            "agrees": self.agrees,
            "rtol": self.tolerance.rtol,
            "atol": self.tolerance.atol,
            "outputs": [asdict(d) for d in self.deviations],
            "first_difference": None if self.first is None else asdict(self.first),
            "obstacle": self.obstacle,
        }

    def lines(self, is_random: bool) -> Iterator[str]:
        """In words, for a run on random inputs or on given ones."""
        for d in self.deviations:
            inputs = "random inputs" if is_random else "these inputs"
            yield (
                f"Largest difference from {PEER} on {inputs}: {d.name} {d.worst:.3g} "
                f"({d.relative:.2g} of the largest value); allowed: {d.allowed:.3g}"
            )
        if self.agrees:
            return
        wrong = ", ".join(d.name for d in self.deviations if not d.is_allowed)
        yield f"{wrong}: not what {PEER} computes (--rtol and --atol set what is allowed)."
        if self.first is not None:
            d = self.first.deviation
            yield (
                f"The first of {self.first.values} values that differs is {d.name}, of "
                f"{self.first.operator} (node {self.first.node}): by {d.worst:.3g} "
                f"({d.relative:.2g} of the largest value); allowed: {d.allowed:.3g}"
            )
        elif self.obstacle:
            yield f"Where they part cannot be told: {self.obstacle}"
        else:
            yield (
                "Each node's value agrees when all of them are outputs: the difference comes from "
                "nodes that share a kernel."
            )


def verdict(
    run: Run,
    names: Sequence[str],
    outputs: Sequence[Array],
    tolerance: GivenTolerance,
    db: str | None,
    target: str | None,
) -> CheckResult:
    """Compare a run's outputs with onnxruntime's; raises InputError where that is not installed or
    does not take the model.
    """
    peer = onnxruntime_peer(run.file, run.threads)
    if peer is None:
        raise InputError(f"--check needs onnxruntime: pip install '{EXTRA}'")
    found = compare(names, outputs, peer({**run.arrays, **run.constants}), tolerance)
    if all(d.is_allowed for d in found):
        return CheckResult(found, tolerance)
    try:
        return CheckResult(found, tolerance, first_difference(run, tolerance, db, target))
    except TilewrightError as error:
        return CheckResult(found, tolerance, obstacle=str(error))


def first_difference(
    run: Run, tolerance: GivenTolerance, db: str | None, target: str | None
) -> FirstDifference | None:
    """Run the model with every value of its graph as an output, here and there; None where all of
    them agree.

    Raises InputError when onnxruntime does not take that model, UnsupportedModel when we do not.
    """
    model = onnx.load(run.file)
    nodes = {name: node for node in model.graph.node for name in node.output if name}
    theirs = _reference(model, list(nodes), run)
    del model.graph.output[:]
    for name, array in theirs.items():
        kind = onnx.helper.np_dtype_to_tensor_dtype(array.dtype)
        model.graph.output.append(onnx.helper.make_tensor_value_info(name, kind, array.shape))
    shapes = {spec.name: run.arrays[spec.name].shape for spec in run.inputs}
    watched = tw.load(model, shapes=shapes, constants=run.constants, limits=run.limits)
    net = tw.compile(watched, db, target=target, notes=lambda _: None)
    ours = net.run(run.arrays)
    for before, (name, array) in enumerate(theirs.items()):
        (found,) = compare([name], [ours[before]], [array], tolerance)
        if not found.is_allowed:
            node = nodes[name]
            return FirstDifference(node.name or name, node.op_type, found, before, len(theirs))
    return None


def _reference(model: onnx.ModelProto, names: Sequence[str], run: Run) -> dict[str, Array]:
    """What onnxruntime computes for values of a model, in their order; of numbers only."""
    watched = onnx.ModelProto()
    watched.CopyFrom(model)
    del watched.graph.output[:]
    watched.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    try:
        content = watched.SerializeToString()
    except ValueError as error:
        raise InputError(f"the model is too large to be given more outputs: {error}") from error
    peer = onnxruntime_peer(content, run.threads)
    assert peer is not None, "it has run the model"
    found = dict(zip(names, peer({**run.arrays, **run.constants}), strict=True))
    return {n: a for n, a in found.items() if a.size and a.dtype.kind in "fiub"}
