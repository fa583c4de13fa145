"""What can be tuned and compiled: tensor expressions, and networks for one shape or several.

Task([A, B, C])                                              an operator
load("resnet50.onnx")                                        a network
load(module, (x,))                                           the same from PyTorch
load("net.onnx", shapes=[{"x": (1, 64)}, {"x": (8, 64)}])    one network for two shapes
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias, overload

import numpy as np
import onnx

from tilewright import arguments
from tilewright.arguments import described
from tilewright.artifact import Array
from tilewright.errors import InputError
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Tensor
from tilewright.expr.tensors import Compute
from tilewright.graph.ir import Graph
from tilewright.graph.onnx_import import load as load_onnx
from tilewright.graph.partition import Partition, control_calls, partition
from tilewright.graph.passes import simplify
from tilewright.graph.passes.write_out import write_out
from tilewright.nest.verified import check_written
from tilewright.runtime.tensors import array_of
from tilewright.target import Target
from tilewright.text import count


class Task:
    """A tensor expression to compile: all its tensors, or just its results, or its only one.

    `Task([A, B, C])` keeps the argument order: placeholders are the inputs, computed tensors that
    no other tensor of the list reads are the outputs. `arguments` are the names of the inputs as
    they are passed; those not listed come last.
    """

    def __init__(self, tensors: Tensor | Sequence[Tensor], name: str = "task") -> None:
        """Raises InputError when no tensor of the list is computed, or for something else in it,
        ExprError when one may be read outside of its shape.
        """
        tensors = [tensors] if isinstance(tensors, Tensor) else tensors
        wrong = [described(t) for t in tensors if not isinstance(t, Tensor)]
        if wrong:
            raise InputError(f"{name}: a task is made of tensors, not of {', '.join(wrong)}")
        computed = [t for t in tensors if isinstance(t.source, Compute)]
        if not computed:
            raise InputError(f"{name}: give at least one computed tensor, got {list(tensors)}")
        outputs = [t for t in computed if not any(_reads(other, t) for other in computed)]
        self.name = name
        self.dag = ComputeDAG(outputs)
        check_written(self.dag)
        inputs = [t.name for t in self.dag.inputs]
        listed = [self.dag.name_of(t) for t in tensors]
        self.arguments = tuple(dict.fromkeys([n for n in listed if n in inputs] + inputs))

    def __repr__(self) -> str:
        return f"Task({self.name}: {self.dag})"


def _reads(consumer: Tensor, tensor: Tensor) -> bool:
    """Whether `consumer` is computed from `tensor`, directly or not."""
    return consumer is not tensor and ComputeDAG([consumer]).name_of(tensor) is not None


@dataclass(frozen=True)
class Example:
    """What a PyTorch module gave for the tensors that it was imported with."""

    inputs: tuple[Array, ...]
    outputs: tuple[Array, ...]


@dataclass(frozen=True, repr=False)
class Model:
    """An imported network: its graph, cut into tasks. `path` is its file, where it has one; with
    `chains`, contractions may share a kernel; a PyTorch module's has an `example`.
    """

    name: str
    partition: Partition
    path: str = ""
    chains: bool = True
    example: Example | None = field(default=None, compare=False)

    def for_target(self, target: Target) -> Model:
        """The same network as `target` runs it: contractions share a kernel where it gains by that,
        and so do transpositions at the edges with what is between; GPUs run no loops, whose steps
        are written out, and have other kernels.
        """
        graph, on_device = self.partition.graph, target.backend.device is not None
        if on_device and any(control_calls(self.partition.calls)):
            graph = simplify(write_out(graph))
        if not (on_device or self.chains):
            return self
        cut = partition(graph, target, self.chains)
        if cut.links or cut.keys != self.partition.keys:
            return replace(self, partition=cut)
        return self

    def __str__(self) -> str:
        return str(self.partition)

    def __repr__(self) -> str:
        p = self.partition
        calls, tasks = count(len(p.subgraphs), "kernel call"), count(len(p.tasks), "task")
        return f"Model({self.name}: {calls} of {tasks})"


@dataclass(frozen=True, repr=False)
class ModelSet:
    """One network for several input shapes: a model for each of them."""

    name: str
    models: tuple[Model, ...]

    def __str__(self) -> str:
        return "\n".join(map(str, self.models))

    def __repr__(self) -> str:
        return f"ModelSet({self.name}: {', '.join(m.name for m in self.models)})"


Tunable: TypeAlias = Task | Model | ModelSet
"""What can be tuned and compiled; the path of an ONNX file stands for its model, too."""
Shapes: TypeAlias = Mapping[str, Sequence[int] | int]
Constants: TypeAlias = Mapping[str, Any]


@overload
def load(
    source: Any,
    example_inputs: Any = None,
    *,
    shapes: Shapes | None = None,
    constants: Constants | None = None,
    chains: bool = True,
) -> Model: ...
@overload
def load(
    source: Any,
    example_inputs: Any = None,
    *,
    shapes: Sequence[Shapes],
    constants: Constants | None = None,
    chains: bool = True,
) -> ModelSet: ...
def load(
    source: Any,
    example_inputs: Any = None,
    *,
    shapes: Shapes | Sequence[Shapes] | None = None,
    constants: Constants | None = None,
    chains: bool = True,
    dynamic_shapes: None = None,
) -> Model | ModelSet:
    """Import an ONNX model (a path, bytes or a ModelProto) or a torch.nn.Module.

    One at a time: several are `[load(f) for f in files]`.

    `example_inputs` are the arguments that a torch module is exported with. `shapes` gives values
    to symbolic input dimensions, by input, `{"x": (1, 3, 224, 224)}`, or by the dimension's name,
    `{"batch": 1}`; several such assignments make a ModelSet, whose compiled form picks the
    network by the shapes of its inputs. `constants` are inputs of an ONNX model whose values are
    known now, `{"axes": (1, 2)}`. Without `chains` no two contractions share a kernel. Raises
    InputError for an argument that cannot be, UnsupportedModel with every operator that cannot be
    taken.
    """
    if dynamic_shapes is not None:
        raise InputError(
            "dynamic_shapes: every network has fixed shapes; name all that are needed, "
            "shapes=[{'x': (1, 64)}, {'x': (8, 64)}]"
        )
    if constants is not None and not isinstance(constants, Mapping):
        raise InputError(
            f"constants is a mapping such as {{'axes': (1, 2)}}, not {described(constants)}"
        )
    if shapes is None or isinstance(shapes, Mapping):
        given = None if shapes is None else arguments.shapes(shapes)
        graph, example = _import(source, example_inputs, given, constants)
        return Model(graph.name, partition(graph), _path(source), chains, example)
    if not isinstance(shapes, Sequence) or isinstance(shapes, str):
        arguments.shapes(shapes)
    if not shapes:
        raise InputError("shapes is an empty sequence: give at least one assignment")
    sized = [arguments.shapes(s) for s in shapes]
    imported = [_import(source, example_inputs, s, constants) for s in sized]
    named = [(replace(g, name=_shaped_name(g)), example) for g, example in imported]
    models = tuple(Model(g.name, partition(g), _path(source), chains, e) for g, e in named)
    names = [m.name for m in models]
    if len(set(names)) < len(names):
        raise InputError(f"shapes gives the same shapes twice: {', '.join(names)}")
    return ModelSet(imported[0][0].name, models)


def _import(
    source: Any,
    example_inputs: Any,
    shapes: Mapping[str, Sequence[int]] | None,
    constants: Constants | None,
) -> tuple[Graph, Example | None]:
    """The simplified graph of an ONNX model or a torch module, and an example of the latter."""
    if _is_torch(source):
        from tilewright.graph.torch_import import export_module

        if constants:
            raise InputError(
                "constants belong to an ONNX model; bind arguments of a module instead"
            )
        exported = export_module(source, example_inputs, shapes)
        graph = load_onnx(exported.proto)
        if exported.outputs:
            graph = replace(graph, output_names=exported.outputs)
        return simplify(graph), _example(graph, exported.example)
    if example_inputs is not None:
        raise InputError(
            f"example inputs belong to a torch.nn.Module, not to {type(source).__name__}; the "
            f"shapes of an ONNX model are given as shapes={{...}}"
        )
    if not isinstance(source, (str, os.PathLike, bytes, onnx.ModelProto)):
        raise InputError(
            f"load takes an ONNX model (a path, its bytes or a ModelProto) or a torch.nn.Module, "
            f"one at a time, not {described(source)}"
        )
    given = Path(source) if isinstance(source, os.PathLike) else source
    return simplify(load_onnx(given, shapes, constants)), None


def _example(graph: Graph, tensors: Any) -> Example | None:
    """Copies of an example's tensors, where they are the graph's inputs and outputs, one by one."""
    if tensors is None:
        return None
    inputs, outputs = (tuple(np.array(array_of(t)) for t in side) for side in tensors)
    given = [(a.shape, str(a.dtype)) for a in (*inputs, *outputs)]
    wanted = [(v.shape, v.dtype) for v in (*graph.inputs, *graph.outputs)]
    return Example(inputs, outputs) if given == wanted else None


def _is_torch(value: Any) -> bool:
    """Whether it is something of PyTorch's, which is not imported for that."""
    return any(c.__module__.partition(".")[0] == "torch" for c in type(value).__mro__)


def as_tunable(given: Any) -> Tunable:
    """A model or task, from itself or from the path of an ONNX file. Raises InputError."""
    if isinstance(given, (Task, Model, ModelSet)):
        return given
    if isinstance(given, (str, os.PathLike)):
        return load(given)
    hint = ""
    if _is_torch(given):
        hint = ": load it with example inputs, load(module, (x,))"
    elif isinstance(given, Tensor):
        hint = ": make a task of it, Task([A, B, C])"
    raise InputError(
        f"a model is the path of an ONNX file, what load() gives, or a Task, not "
        f"{described(given)}{hint}"
    )


def as_tunables(given: Any) -> list[Tunable]:
    """The same for one or several. Raises InputError for none, too."""
    if not isinstance(given, Sequence) or isinstance(given, (str, bytes)):
        return [as_tunable(given)]
    if not given:
        raise InputError("models is an empty sequence: give at least one model to tune")
    return [as_tunable(one) for one in given]


def _path(source: Any) -> str:
    return str(source) if isinstance(source, (str, Path)) else ""


def _shaped_name(graph: Graph) -> str:
    shapes = ["x".join(map(str, v.shape)) or "scalar" for v in graph.inputs]
    return f"{graph.name}[{','.join(shapes)}]"
