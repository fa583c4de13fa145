"""What can be tuned and compiled: tensor expressions, and networks for one shape or several.

Task([A, B, C])                                              an operator
load("resnet50.onnx")                                        a network
load(module, (x,))                                           the same from PyTorch
load("net.onnx", shapes=[{"x": (1, 64)}, {"x": (8, 64)}])    one network for two shapes
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, overload

import numpy as np

from tilewright.contract import arguments
from tilewright.contract.arguments import described
from tilewright.contract.artifact import Array
from tilewright.contract.origin import ModelFacts, Origin
from tilewright.contract.sizes import Sizes
from tilewright.front.machine import host_target, math_of
from tilewright.ground import log
from tilewright.ground.errors import InputError, UnsupportedModel
from tilewright.ground.lazy import Lazy
from tilewright.ground.text import count, one_line
from tilewright.runtime.tensors import array_of
from tilewright.target import Target

if TYPE_CHECKING:
    from tilewright.expr import dag as dags
    from tilewright.expr import nodes
    from tilewright.expr import tensors as sources
    from tilewright.expr.nodes import Tensor
    from tilewright.graph import partition, passes
    from tilewright.graph.ir import Graph
    from tilewright.graph.onnx import importing as onnx_import
    from tilewright.graph.onnx import index_limits
    from tilewright.graph.onnx.file import Content as Opened
    from tilewright.graph.partition import Partition
    from tilewright.graph.passes import in_place, narrow, rounded, write_out
    from tilewright.graph.torch import importing as torch_import
    from tilewright.nest import verified
    from tilewright.network import values
else:
    values, verified = Lazy("tilewright.network.values"), Lazy("tilewright.nest.verified")
    dags, nodes, sources = (Lazy(f"tilewright.expr.{n}") for n in ("dag", "nodes", "tensors"))
    (
        index_limits,
        onnx_import,
        partition,
        passes,
        torch_import,
        in_place,
        narrow,
        rounded,
        write_out,
    ) = (
        Lazy(f"tilewright.graph.{name}")
        for name in (
            *("onnx.index_limits", "onnx.importing", "partition", "passes", "torch.importing"),
            *("passes.in_place", "passes.narrow", "passes.rounded", "passes.write_out"),
        )
    )


MATHS = ("float32", "bfloat16", "int8", "auto")
"""What contractions multiply."""


class Task:
    """A tensor expression to compile: all its tensors, or just its results, or its only one.

    `Task([A, B, C])` keeps the argument order: placeholders are the inputs, computed tensors that
    no other tensor of the list reads are the outputs. `arguments` are the names of the inputs as
    they are passed; those not listed come last.
    """

    def __init__(
        self, tensors: Tensor | Sequence[Tensor], name: str = "task", sizes: Sizes = ()
    ) -> None:
        """Extents may be expressions over `sizes`, which each call gives values.

        Raises InputError when no tensor of the list is computed, or for something else in it,
        ExprError when one may be read outside of its shape.
        """
        given = [tensors] if isinstance(tensors, nodes.Tensor) else tensors
        wrong = [described(t) for t in given if not isinstance(t, nodes.Tensor)]
        if wrong:
            raise InputError(f"{name}: a task is made of tensors, not of {', '.join(wrong)}")
        computed = [t for t in given if isinstance(t.source, sources.Compute)]
        if not computed:
            raise InputError(f"{name}: give at least one computed tensor, got {list(given)}")
        outputs = [t for t in computed if not any(_reads(other, t) for other in computed)]
        self.name = name
        self.dag = dags.ComputeDAG(outputs, tuple(sizes))
        verified.check_written(self.dag)
        inputs = [t.name for t in self.dag.inputs]
        listed = [self.dag.name_of(t) for t in given]
        self.arguments = tuple(dict.fromkeys([n for n in listed if n in inputs] + inputs))

    def __repr__(self) -> str:
        return f"Task({self.name}: {self.dag})"


def _reads(consumer: Tensor, tensor: Tensor) -> bool:
    """Whether `consumer` is computed from `tensor`, directly or not."""
    return consumer is not tensor and dags.ComputeDAG([consumer]).name_of(tensor) is not None


@dataclass(frozen=True)
class Example:
    """What a PyTorch module gave for the tensors that it was imported with."""

    inputs: tuple[Array, ...]
    outputs: tuple[Array, ...]


@dataclass(frozen=True, repr=False)
class Model:
    """An imported network: its graph, cut into tasks. `path` is its file, where it has one; with
    `chains`, contractions may share a kernel; a PyTorch module's has an `example`.

    One that was imported before, with these very contents, is so again only when its graph is asked
    for: `imported` does. What is known of it until then is in `known`; `identity` names it.
    """

    name: str
    imported: LazyGraph
    path: str = ""
    chains: bool = True
    example: Example | None = field(default=None, compare=False)
    known: ModelFacts | None = field(default=None, compare=False)
    identity: str | None = None
    cut: Partition | None = None

    @cached_property
    def graph(self) -> Graph:
        """The simplified graph; of what is cut for a target, as that runs it."""
        return self.cut.graph if self.cut else replace(self.imported(), name=self.name)

    def forget(self) -> None:
        """Let go of the graph and its weights, if they can be imported again."""
        self.imported.forget()
        for name in ("graph", "partition", "_cuts"):
            vars(self).pop(name, None)

    @cached_property
    def facts(self) -> ModelFacts:
        """Its interface, and what else needs no kernels."""
        return self.known or facts_of(self.graph)

    @cached_property
    def partition(self) -> Partition:
        """The graph cut into kernels, for the target that it is cut for, if any."""
        return self.cut or partition.partition(self.graph)

    @cached_property
    def _cuts(self) -> dict[str, Model]:
        return {}

    def for_target(self, target: Target) -> Model:
        """The same network as `target` runs it: contractions share a kernel where it gains by that,
        and so do transpositions at the edges with what is between; GPUs run no loops, whose steps
        are written out, and have other kernels.
        """
        on_device = target.backend.device is not None
        if not (on_device or self.chains):
            return self
        if (known := self._cuts.get(repr(target))) is None:
            graph = self.graph
            if on_device and any(n.control is not None for n in graph.nodes):
                graph = passes.simplify(write_out.write_out(graph))
            cut = partition.partition(graph, target, self.chains)
            known = self._cuts[repr(target)] = replace(self, cut=cut)
        return known

    def __str__(self) -> str:
        return str(self.partition)

    def __repr__(self) -> str:
        p = self.partition
        calls, tasks = count(len(p.subgraphs), "kernel call"), count(len(p.tasks), "task")
        return f"Model({self.name}: {calls} of {tasks})"


def facts_of(graph: Graph, misfits: Sequence[str] = ()) -> ModelFacts:
    """What is known of a graph, and what its import warns of."""
    outputs = zip(graph.output_names, graph.outputs, strict=True)
    return ModelFacts(
        name=graph.name,
        inputs=tuple(values.spec_of_value(v.name, v, graph.sizes) for v in graph.given),
        outputs=tuple(values.spec_of_value(n, v, graph.sizes) for n, v in outputs),
        is_narrow=graph.is_narrow,
        index_limits=index_limits.index_limits(graph),
        warnings=tuple(misfits),
    )


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
PathLike: TypeAlias = str | os.PathLike[str]
Shapes: TypeAlias = Mapping[str, Sequence[Any] | int]
Constants: TypeAlias = Mapping[str, Any]
States: TypeAlias = Mapping[str, str] | str


@dataclass(frozen=True)
class Known:
    """What is known of an ONNX model's values: those of inputs, and limits of what data decide."""

    constants: Constants
    limits: Mapping[str, int]

    @staticmethod
    def of(constants: Any, limits: Any) -> Known:
        """Raises InputError for what is no mapping, or a limit that is no number."""
        if not isinstance(constants, Mapping):
            raise InputError(
                f"constants is a mapping such as {{'axes': (1, 2)}}, not {described(constants)}"
            )
        return Known(constants, arguments.limits(limits))


@overload
def load(
    source: Any,
    example_inputs: Any = None,
    *,
    shapes: Shapes | None = None,
    constants: Constants | None = None,
    limits: Mapping[str, int] | None = None,
    chains: bool = True,
    math: str = "float32",
    state: States | None = None,
) -> Model: ...
@overload
def load(
    source: Any,
    example_inputs: Any = None,
    *,
    shapes: Sequence[Shapes],
    constants: Constants | None = None,
    limits: Mapping[str, int] | None = None,
    chains: bool = True,
    math: str = "float32",
) -> ModelSet: ...
def load(
    source: Any,
    example_inputs: Any = None,
    *,
    shapes: Shapes | Sequence[Shapes] | None = None,
    constants: Constants | None = None,
    limits: Mapping[str, int] | None = None,
    chains: bool = True,
    math: str = "float32",
    state: States | None = None,
    dynamic_shapes: None = None,
) -> Model | ModelSet:
    """Import an ONNX model (a path, bytes or a ModelProto) or a torch.nn.Module.

    One at a time: several are `[load(f) for f in files]`.

    `example_inputs` are the arguments that a torch module is exported with. `shapes` gives values
    to symbolic input dimensions, by input, `{"x": (1, 3, 224, 224)}` (of a module, by the parameter
    of `forward`), or by the dimension's name, `{"batch": 1}`; or a range, `{"seq": (1, 512)}` or
    `{"x": (1, (1, 512))}`, for one network of all these, `(1, 512, {64: 1, 128: 4})` for one that
    is tuned at such points, by weights; several such assignments make a ModelSet, whose compiled
    form picks the network by the shapes of its inputs. A dimension that is given nothing varies in
    a usual range, 1..16 of a batch and 1..512 else, with a warning that says so. `constants` are
    inputs of an ONNX model whose values are known now, `{"axes": (1, 2)}`; `limits` say how many
    there may be, at most, where data decide it, `{"frames": 4096}`, by the name of the value.
    Without `chains` no two contractions share a kernel. With `math="bfloat16"` contractions with
    known weights multiply bfloat16 and add float32; with "int8" what weights of 2, 4 or 8 bits are
    multiplied by is rounded to bytes; "auto" is bfloat16 where this machine is faster at it, else
    "float32" (the logger is told why). `state` names inputs of an ONNX model that it gives
    back with more rows, `{"past.key": "present.key"}`, or is "cache" for those that exporters call
    so: its compiled form keeps them in a `stream()`. Raises
    InputError for an argument that cannot be, UnsupportedModel with every operator that cannot be
    taken.
    """
    if dynamic_shapes is not None:
        raise InputError(
            "dynamic_shapes: what varies is said with its range, shapes={'x': ((1, 8), 64)}; an "
            "ExportedProgram has the ranges of its own dynamic_shapes"
        )
    if math not in MATHS:
        raise InputError(f"math is {' or '.join(map(repr, MATHS))}, not {math!r:.40}")
    if math == "auto":
        math, why = math_of(host_target())
        log.info("math is %s: %s", math, why)
    if state is not None:
        arguments.states(state)
    known = Known.of(constants or {}, limits or {})
    if shapes is None or isinstance(shapes, Mapping):
        given = None if shapes is None else arguments.shapes(shapes)
        return _import(source, example_inputs, given, known, chains, math, state)
    if state is not None:
        raise InputError(
            "state belongs to one network, which several shapes are not: give ranges, "
            "shapes={'past': (0, 1023)}"
        )
    if not isinstance(shapes, Sequence) or isinstance(shapes, str):
        arguments.shapes(shapes)
    if not shapes:
        raise InputError("shapes is an empty sequence: give at least one assignment")
    sized = [arguments.shapes(s) for s in shapes]
    return _set_of([_import(source, example_inputs, s, known, chains, math) for s in sized])


def _set_of(imported: Sequence[Model]) -> ModelSet:
    """The same model of several shapes. Raises InputError for one that is there twice."""
    models = tuple(replace(m, name=_shaped_name(m)) for m in imported)
    names = [m.name for m in models]
    if len(set(names)) < len(names):
        raise InputError(f"shapes gives the same shapes twice: {', '.join(names)}")
    return ModelSet(imported[0].name, models)


def _import(
    source: Any,
    example_inputs: Any,
    shapes: Mapping[str, arguments.Given] | None,
    known: Known,
    chains: bool,
    math: str,
    state: States | None = None,
) -> Model:
    """The model of an ONNX file or a torch module, which has an example."""
    if _is_torch(source):
        if state is not None:
            raise InputError("state belongs to an ONNX model: export the module to one")
        if known.constants or known.limits:
            raise InputError(
                "constants and limits belong to an ONNX model; bind arguments of a module instead"
            )
        exported = torch_import.export_module(source, example_inputs, shapes)
        ranges = {
            n: (arguments.Range(ends.least, ends.most, ends.points),)
            for n, ends in exported.ranges.items()
            if ends.most is not None
        }
        model = _of_onnx(exported.proto, ranges, known, chains, math, exported.outputs)
        return replace(model, example=_example(model.facts, exported.example))
    if example_inputs is not None:
        raise InputError(
            f"example inputs belong to a torch.nn.Module, not to {type(source).__name__}; the "
            f"shapes of an ONNX model are given as shapes={{...}}"
        )
    if not isinstance(source, (str, os.PathLike, bytes)) and not _is_proto(source):
        raise InputError(
            f"load takes an ONNX model (a path, its bytes or a ModelProto) or a torch.nn.Module, "
            f"one at a time, not {described(source)}"
        )
    given = Path(source) if isinstance(source, os.PathLike) else source
    return _of_onnx(given, shapes, known, chains, math, state=state)


def _of_onnx(
    source: Any,
    shapes: Mapping[str, arguments.Given] | None,
    given: Known,
    chains: bool,
    math: str,
    names: Sequence[str] = (),
    state: States | None = None,
) -> Model:
    """The model of an ONNX model, with these names of outputs if there are any: imported only where
    it was not imported before.
    """
    known = deepcopy(dict(given.constants))  # arrays may be changed by whoever has them
    limits = [f"{name} <= {most}" for name, most in sorted(given.limits.items())]
    kept = () if state is None else (repr(state if isinstance(state, str) else dict(state)),)
    origin = Origin.of(source, shapes or {}, known, math, *limits, *names, *kept)

    def imported(file: Any, opened: Opened | None) -> tuple[Graph, onnx_import.Imported]:
        read = partial(onnx_import.imported, file, shapes, known, opened, limits=given.limits)
        found = _ranged(read)
        graph = replace(found.graph, output_names=tuple(names)) if names else found.graph
        graph = passes.simplify(graph)
        graph = narrow.narrowed(graph) if math == "bfloat16" else graph
        graph = rounded.rounded(graph) if math == "int8" else graph
        return graph if state is None else in_place.with_states(graph, state), found

    facts, graph, again = origin.known(), None, None
    if facts is None:
        graph, found = imported(source, origin.opened)
        facts = origin.keep(facts_of(graph, found.misfits), found.beside)
    if graph is None or origin.opened is not None:
        file = origin.content if _is_proto(source) else source  # and so may a message
        again = partial(_again, imported, file, origin, facts)
    for problem in facts.warnings:
        warnings.warn(f"{one_line(_path(source)) or facts.name}: {problem}", stacklevel=4)
    lazily, identity = LazyGraph(graph, again), origin.identity(facts)
    return Model(facts.name, lazily, _path(source), chains, known=facts, identity=identity)


def _ranged(read: Callable[..., onnx_import.Imported]) -> onnx_import.Imported:
    """What is read, with usual ranges for dimensions that nobody gave a value. Raises the first
    UnsupportedModel, which names them, where some node takes no range.
    """
    try:
        return read()
    except UnsupportedModel as error:
        if not error.open and not error.unsized:
            raise
        try:
            return read(every=True)
        except UnsupportedModel:
            raise error from None


def _again(
    imported: Callable[[Any, Opened | None], tuple[Graph, onnx_import.Imported]],
    given: Any,
    origin: Origin,
    facts: ModelFacts,
) -> Graph:
    """A graph imported again. Raises UnsupportedModel where its weights are others now."""
    if facts.beside is not None and not origin.has(facts):
        raise UnsupportedModel(
            f"weights of {given} were changed since it was loaded: load it again"
        )
    return imported(given, origin.opened)[0]


class LazyGraph:
    """A graph that is there, or is imported when it is asked for."""

    def __init__(self, graph: Graph | None, again: Callable[[], Graph] | None = None) -> None:
        self._graph, self._again = graph, again

    def __call__(self) -> Graph:
        """The graph."""
        if self._graph is None:
            assert self._again is not None
            self._graph = self._again()
        return self._graph

    def forget(self) -> None:
        """Let go of what can be imported again."""
        if self._again is not None:
            self._graph = None


def _example(facts: ModelFacts, tensors: Any) -> Example | None:
    """Copies of an example's tensors, where they are the inputs and outputs, one by one."""
    if tensors is None:
        return None
    inputs, outputs = (tuple(np.array(array_of(t)) for t in side) for side in tensors)
    given, specs = (*inputs, *outputs), (*facts.inputs, *facts.outputs)
    fits = len(given) == len(specs) and all(
        s.takes(a.shape) and s.dtype == str(a.dtype) for s, a in zip(specs, given, strict=True)
    )
    return Example(inputs, outputs) if fits else None


def _is_torch(value: Any) -> bool:
    """Whether it is something of PyTorch's, which is not imported for that."""
    return any(c.__module__.partition(".")[0] == "torch" for c in type(value).__mro__)


def _is_proto(value: Any) -> bool:
    """Whether it is a message of ONNX's, which is not imported for that."""
    kind = type(value)
    return kind.__name__ == "ModelProto" and kind.__module__.partition(".")[0] == "onnx"


def as_tunable(given: Any) -> Tunable:
    """A model or task, from itself or from the path of an ONNX file. Raises InputError."""
    if isinstance(given, (Task, Model, ModelSet)):
        return given
    if isinstance(given, (str, os.PathLike)):
        return load(given)
    hint = ""
    if _is_torch(given):
        hint = ": load it with example inputs, load(module, (x,))"
    elif isinstance(given, nodes.Tensor):
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


def _shaped_name(model: Model) -> str:
    shapes = ["x".join(s.dims) or "scalar" for s in model.facts.inputs]
    return f"{model.name}[{','.join(shapes)}]"
