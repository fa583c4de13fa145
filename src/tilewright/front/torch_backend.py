"""torch.compile(module, backend="tilewright"): captured graphs become compiled networks.

    net = torch.compile(module, backend="tilewright", options={"db": "tuning.db"})
    with torch.no_grad():
        y = net(x)

PyTorch finds `tilewright` here by an entry point. What it captures is compiled at its first call,
with the parameters packed as constants, and compared once with eager PyTorch: one network for each
combination of input shapes; but where Dynamo has dimensions vary (`dynamic=True`, `mark_dynamic`),
one for all of their extents (`graph.torch.sizes`), as far as its operators allow. Operators that
cannot be taken, or that differ, run in eager PyTorch, between networks; a warning names each.

Parameters and buffers of modules are constants. A call compares their identity, address and version
counter with those that were packed, and packs anew where one differs: writes through autograd's
view of a tensor (`load_state_dict`, optimisers, `copy_` under no_grad) are seen, writes behind its
back (`p.data.add_()`, through NumPy) are not. One that changes at every call becomes an input.

What Dynamo itself does not capture is never seen here: an nn.TransformerEncoder that is given a
mask looks at the mask's values, unless it is told `is_causal=`.

options: db       records to compile with (default: TILEWRIGHT_DB)
         shapes   how many combinations of shapes a graph is compiled for (default 8)
         models   a list to which every compiled Model is appended, for `tilewright.tune`
"""

from __future__ import annotations

import contextlib
import functools
import threading
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import torch
from torch._dynamo.eval_frame import innermost_backend
from torch._dynamo.variables.builder import VariableBuilder

from tilewright.contract.arguments import Range
from tilewright.front.compilation import compile
from tilewright.front.kernels import open_records
from tilewright.front.models import Model, load
from tilewright.front.torch_compare import deviations, faulty, in_words, returned, watched
from tilewright.graph.torch.capture import (
    Concrete,
    Order,
    Piece,
    Result,
    cut,
    has_contexts,
    inverse,
    memory_order,
    read_numbers,
    results_for,
    specialise,
)
from tilewright.graph.torch.importing import headline, to_onnx, to_program
from tilewright.graph.torch.sizes import Place, TracedRanges
from tilewright.ground import log
from tilewright.ground.errors import BuildError, InputError, RunError, UnsupportedModel
from tilewright.ground.settings import Settings
from tilewright.network.executor import Network
from tilewright.runtime.constants import ConstantPool
from tilewright.runtime.tensors import array_of, tensor_of

ShapeKey: TypeAlias = tuple[Any, ...]
MOST_RESULTS = 1000  # combinations of extents that a network knows the views of
STRIKES = 3  # times in a row that a parameter changed before a second call


class EagerFallback(UserWarning):
    """A part of a captured graph runs in eager PyTorch."""


class VaryingDimension(UserWarning):
    """What was decided of dimensions that vary, and nobody said."""


@dataclass
class Context:
    """What the pieces of one captured graph share."""

    db: str | None = None
    shapes: int = 8
    models: list[Model] | None = None
    pool: ConstantPool = field(default_factory=ConstantPool)
    lock: Any = field(default_factory=threading.RLock)
    warned: set[str] = field(default_factory=set)

    @staticmethod
    def of(options: Mapping[str, Any] | None) -> Context:
        """From the options of torch.compile.

        Raises InputError for what they do not mean, RecordsError for records that cannot be read.
        """
        given = dict(options or {})
        unknown = sorted(set(given) - {"db", "shapes", "models"})
        if unknown:
            raise InputError(
                f"unknown options {unknown}; known: db, shapes, models; what is compiled runs on "
                "this machine's CPU"
            )
        context = Context(**given)
        if not isinstance(context.shapes, int) or context.shapes < 1:
            raise InputError(f"the option shapes is a positive number, not {context.shapes!r}")
        if context.db is None:
            context.db = Settings.from_environment().db
        with open_records(context.db):  # a file that is not there is said at once
            return context

    def warn(self, message: str, kind: type[UserWarning] = EagerFallback) -> None:
        """Say it once."""
        if message not in self.warned:
            self.warned.add(message)
            log.warning("%s", message)
            warnings.warn(f"tilewright: {message}", kind, stacklevel=2)


def tilewright(
    graph: Any,
    example_inputs: Sequence[Any],
    *,
    mode: str | None = None,
    options: Mapping[str, Any] | None = None,
) -> Callable[..., Any]:
    """The backend that torch.compile calls with every graph it captures.

    Nothing is compiled yet. Raises what `Context.of` raises.
    """
    if mode is not None:
        raise InputError(f"the backend has no mode {mode!r}; its settings are options={{...}}")
    placeholders = graph.graph.find_nodes(op="placeholder")
    parameters = {
        i
        for i, (node, value) in enumerate(zip(placeholders, example_inputs, strict=True))
        if isinstance(value, torch.nn.Parameter)
        or "_dynamo_static_input_type" in (node.meta.get("tensor_dict") or {})
    }
    return CapturedGraph(graph, parameters, Context.of(options))


def _capture_recurrent_modules() -> None:
    """Have Dynamo capture nn.RNN, nn.LSTM and nn.GRU where it compiles for this backend.

    It leaves them to eager mode without asking a backend unless `torch._dynamo.config.allow_rnn` is
    set, which it is for all backends at once.
    """
    plain = VariableBuilder.wrap_module

    @functools.wraps(plain)
    def wrap_module(builder: Any, value: Any) -> Any:
        backend = innermost_backend(builder.tx.output.compiler_fn)
        ours = getattr(backend, "compiler_fn", backend) is tilewright
        allowed = ours or torch._dynamo.config.allow_rnn
        with torch._dynamo.config.patch(allow_rnn=allowed):
            return plain(builder, value)

    VariableBuilder.wrap_module = wrap_module


_capture_recurrent_modules()


class CapturedGraph:
    """A captured graph, or a piece of one: programs by the shapes of the arguments."""

    def __init__(self, graph: Any, parameters: Collection[int], context: Context) -> None:
        """`parameters` are positions of the arguments that are to be constants."""
        self.graph = graph
        self.count = len(graph.graph.find_nodes(op="placeholder"))
        self._set_parameters(parameters)
        self.context = context
        self.numbers = sorted(set(read_numbers(graph).values()))
        self.programs: dict[ShapeKey, CapturedNetwork | None] = {}
        self.ranges = TracedRanges(graph)
        self.varies = bool(self.ranges.dimensions)
        self.refusal = ""  # why a network takes no sizes
        self.pieces = Pieces(self, cut(graph, ())) if has_contexts(graph) else None
        self.strikes = 0

    def _set_parameters(self, parameters: Collection[int]) -> None:
        self.parameters = set(parameters)
        self.varying = [i for i in range(self.count) if i not in self.parameters]

    def __call__(self, *args: Any) -> Any:
        """The outputs of the graph."""
        if torch.is_grad_enabled() and any(
            isinstance(a, torch.Tensor) and a.requires_grad for a in args
        ):
            self.context.warn(
                "a graph with inputs or parameters that require gradients runs in eager PyTorch: "
                "compiled networks are for inference; call them under torch.no_grad()"
            )
            return self.graph(*args)
        if self.pieces is None:
            program = self._program(args) or self._prepare(args)
            outputs = None if program is None else program(args)
            if outputs is not None:
                return outputs
        return self.graph(*args) if self.pieces is None else self.pieces(args)

    def _program(self, args: Sequence[Any]) -> CapturedNetwork | None:
        """The program that is there for these arguments."""
        for key in self._keys(args):
            program = self.programs.get(key)
            if program is not None and program.holds(args) and program.fits(args):
                return program
        return None

    def _keys(self, args: Sequence[Any]) -> Iterator[ShapeKey]:
        """What a program is compiled for: numbers, shapes and layouts of tensors, and the dtype of
        torch.autocast; first without what varies.
        """
        if self.varies:
            yield self._key(args, self.ranges.masks, self.ranges.numbers)
        yield self._key(args)

    def _key(
        self,
        args: Sequence[Any],
        masks: Mapping[int, Collection[int]] | None = None,
        told: Collection[int] = (),
    ) -> ShapeKey:
        key: list[Any] = [args[i].item() for i in self.numbers]
        if torch.is_autocast_enabled("cpu"):
            key.append(torch.get_autocast_dtype("cpu"))
        for i in self.varying:
            a = args[i]
            mask = () if masks is None else masks.get(i, ())
            if not isinstance(a, torch.Tensor):
                key += [] if i in told else [(type(a), a)]
            elif mask:
                order = () if a.is_contiguous() else memory_order(a) or a.stride()
                key.append((tuple(-1 if d in mask else n for d, n in enumerate(a.shape)), order))
            else:
                key.append(a.shape if a.is_contiguous() else (a.shape, a.stride()))
        return tuple(key)

    def _prepare(self, args: Sequence[Any]) -> CapturedNetwork | None:
        """Compile for arguments like these; None where this cannot be or nothing is to be done."""
        with self.context.lock:
            program = self._program(args)  # another thread was here first
            if program is None and self.varies:
                program = self._for_a_range(args)
            if program is None:
                program = self._for_shapes(args)
                if program is not None and self.refusal:
                    self.context.warn(
                        f"a graph whose dimensions vary has a network for each combination of "
                        f"shapes: {self.refusal}",
                        VaryingDimension,
                    )
            return program

    def _for_shapes(self, args: Sequence[Any]) -> CapturedNetwork | None:
        """A program for these very shapes."""
        key = self._key(args)
        old = self.programs.get(key)
        if old is not None:
            self._count_change(old, args)
            key = self._key(args)
        elif key in self.programs or self._is_full():
            return None
        self.programs[key] = None
        try:
            self.programs[key] = self._checked(args)
        except UnsupportedModel as error:
            self._fall_back(error)
        return self.programs[key]

    def _is_full(self) -> bool:
        """Whether there are as many programs as there may be, which is told."""
        if len(self.programs) < self.context.shapes:
            return False
        self.context.warn(
            f"a graph met more than {self.context.shapes} combinations of shapes; further "
            f"ones run in eager PyTorch: raise it with options={{'shapes': ...}}"
        )
        return True

    def _for_a_range(self, args: Sequence[Any]) -> CapturedNetwork | None:
        """A program for all extents of dimensions that vary; None where that is none for these
        arguments.
        """
        key = self._key(args, self.ranges.masks, self.ranges.numbers)
        tensors = [args[i] for i in self.ranges.masks]
        if not all(a.is_contiguous() or memory_order(a) for a in tensors):
            return None
        old = self.programs.get(key)
        if not self.ranges.make_room(args) or (old is None and self._is_full()):
            return None
        if old is not None and old.changed(args):
            self._count_change(old, args)
            key = self._key(args, self.ranges.masks, self.ranges.numbers)
        elif old is not None and old.limits == self.ranges.limits:
            return None  # its own guards are narrower
        try:
            program = self._checked(args, self.ranges)
        except (BuildError, RunError, UnsupportedModel) as error:  # too much memory, too
            self.varies = old is not None  # what is there stays
            self.refusal = headline(error)
            return None
        self.varies = program is not None
        if program is not None:
            program.limits = dict(self.ranges.limits)
            self.programs[key] = program
            self._tell_limits()
        return program

    def _tell_limits(self) -> None:
        """Say what nobody said."""
        names = [n.name for n in self.graph.graph.find_nodes(op="placeholder")]
        found = [
            f"dimension {d.dim} of {names[d.position].removeprefix('l_').strip('_')} is at most "
            f"{self.ranges.limits[d.name]}"
            for d in self.ranges.guessed
        ]
        if found:
            self.context.warn(
                f"of a graph whose dimensions vary {', '.join(found)}; greater ones compile anew: "
                f"say how great with torch._dynamo.mark_dynamic(tensor, dimension, max=...)",
                VaryingDimension,
            )

    def _count_change(self, old: CapturedNetwork, args: Sequence[Any]) -> None:
        """Make inputs of parameters that change too often to be packed each time."""
        self.strikes = self.strikes + 1 if old.calls < 2 else 0
        if self.strikes >= STRIKES:
            self._set_parameters(self.parameters - old.changed(args))
            self.programs.clear()
            self.strikes = 0

    def _checked(
        self, args: Sequence[Any], ranges: TracedRanges | None = None
    ) -> CapturedNetwork | None:
        """A program that computes what eager mode does; UnsupportedModel names what differs."""
        program = self._compile(args, ranges)
        if program is None:
            return None
        ours, theirs = program(args), self.graph(*args)
        assert ours is not None, "it was made for these"
        if wrong := deviations(ours, theirs, program.is_narrow):
            self._find_faults(program, args, ours, in_words(wrong[0]))
        if self.context.models is not None:
            self.context.models.append(program.model)
        return program

    def _find_faults(
        self, program: CapturedNetwork, args: Sequence[Any], ours: Sequence[Any], reason: str
    ) -> None:
        """Raise UnsupportedModel for the operators that compute something else than eager mode.

        Where none does, and the program agrees with a network of the same operators that gives all
        values, rounding grew in the graph, and nothing is wrong.
        """
        with torch.inference_mode(False), torch.no_grad():
            watch = watched(self.graph, args)
            try:
                network = CapturedGraph(watch.graph, self.parameters, self.context)._compile(args)
            except UnsupportedModel as error:
                raise UnsupportedModel(reason) from error
            values = (network and network(args)) or ()
            refused = faulty(self.graph, watch, args, values, program.is_narrow)
        alone = returned(self.graph, watch, values)
        expected = [x if y is None else y for x, y in zip(ours, alone, strict=True)]
        if refused or deviations(ours, expected, program.is_narrow):
            raise UnsupportedModel(reason, refused)

    def _compile(
        self, args: Sequence[Any], ranges: TracedRanges | None = None
    ) -> CapturedNetwork | None:
        """Export, import and compile, with `ranges` for what varies; None when there is nothing to
        compute.
        """
        constants = {i for i in self.parameters if _has_version(args[i])}
        orders = {
            i: order
            for i, a in enumerate(args)
            if isinstance(a, torch.Tensor) and (order := memory_order(a)) is not None
        }
        # Exporting under inference_mode would make tensors that cannot be traced.
        with torch.inference_mode(False), torch.no_grad():
            concrete = specialise(self.graph, args, constants, orders, ranges)
            if not concrete.outputs:
                return None
            model, bounds = self._import(concrete, args, orders, ranges)
        network = compile(model, self.context.db, pool=self.context.pool)
        program = CapturedNetwork(self.graph, model, network, concrete, orders, bounds)
        program.pack({i: args[i] for i in constants})
        return program

    def _import(
        self,
        concrete: Concrete,
        args: Sequence[Any],
        orders: Mapping[int, Order],
        ranges: TracedRanges | None,
    ) -> tuple[Model, Mapping[Place, Range]]:
        """The model of a concrete graph, and the bounds of dimensions of arguments that vary in it.
        An UnsupportedModel names nodes of the captured one.
        """
        name = f"captured{len(self.context.models or ())}"
        examples = []
        for i in concrete.inputs:
            shape = args[i].permute(orders[i]).shape if i in orders else args[i].shape
            examples.append(torch.zeros(shape, dtype=args[i].dtype))
        varying = ranges and ranges.told(concrete.inputs, orders)
        program = to_program(concrete.module, tuple(examples), {}, name, varying)
        exported = to_onnx(program, name)
        shapes, bounds = ranges.bounds(exported, concrete.inputs, orders) if ranges else ({}, {})
        try:
            model = load(exported.proto, shapes=shapes)
        except UnsupportedModel as error:
            refused = {exported.origins.get(n, n): reason for n, reason in error.refused.items()}
            for info, i in zip(exported.proto.graph.input, concrete.inputs, strict=True):
                if info.name in error.refused:
                    reader = self.graph.graph.find_nodes(op="placeholder")[i]
                    refused |= {n.name: error.refused[info.name] for n in reader.users}
            raise UnsupportedModel(error.message, refused) from error
        specs = model.facts.outputs
        wanted = [(o.shape, str(o.dtype).removeprefix("torch.")) for o in concrete.outputs]
        fits = len(specs) == len(wanted) and all(
            s.takes(shape) and s.dtype == dtype
            for s, (shape, dtype) in zip(specs, wanted, strict=True)
        )
        if not fits:
            found = [(s.dims, s.dtype) for s in specs]
            raise UnsupportedModel(f"the exported model gives {found} where PyTorch gives {wanted}")
        return model, bounds

    def _fall_back(self, error: UnsupportedModel) -> None:
        """Cut the graph around the nodes that were refused; all of it is eager if none is known."""
        nodes = {n.name: n for n in self.graph.graph.nodes if n.op.startswith("call_")}
        refused = {name: reason for name, reason in error.refused.items() if name in nodes}
        for name, reason in refused.items():
            self.context.warn(f"{_operator(nodes[name])} runs in eager PyTorch ({reason})")
        if not refused:
            names = ", ".join(dict.fromkeys(_operator(n) for n in nodes.values()))
            reason = "; ".join(error.refused.values()) or headline(error)
            self.context.warn(f"a graph runs in eager PyTorch: {reason} (its operators: {names})")
        elif len(refused) < len(nodes):
            self.pieces = Pieces(self, cut(self.graph, refused))


class Pieces:
    """A graph cut around operators that cannot be taken: pieces that run in turn."""

    def __init__(self, whole: CapturedGraph, pieces: Sequence[Piece]) -> None:
        nodes = list(whole.graph.graph.nodes)
        self.inputs = [n.name for n in nodes if n.op == "placeholder"]
        self.returned = nodes[-1].args[0]
        parameters = {self.inputs[i] for i in whole.parameters}
        self.attributes = {
            n.name: getattr(whole.graph, n.target) for n in nodes if n.op == "get_attr"
        }
        self.steps = [(p, _runner(p, parameters, whole.context)) for p in pieces]

    def __call__(self, args: Sequence[Any]) -> tuple[Any, ...]:
        """The outputs of the graph."""
        values = {**self.attributes, **dict(zip(self.inputs, args, strict=True))}
        for piece, run in self.steps:
            with contextlib.ExitStack() as stack:
                for given in piece.autocast:
                    stack.enter_context(torch.autocast(*given))
                results = run(*(values[name] for name in piece.inputs))
            values.update(zip(piece.outputs, results, strict=True))
        found = torch.fx.node.map_arg(self.returned, lambda n: values[n.name])
        return tuple(found)


def _runner(piece: Piece, parameters: Collection[str], context: Context) -> Callable[..., Any]:
    if piece.refused:
        runner: Callable[..., Any] = piece.graph
        return runner
    own = {i for i, name in enumerate(piece.inputs) if name in parameters}
    return CapturedGraph(piece.graph, own, context)


class CapturedNetwork:
    """A network for a captured graph, and the parameters that it holds."""

    def __init__(
        self,
        graph: Any,
        model: Model,
        network: Network,
        concrete: Concrete,
        orders: Mapping[int, Order],
        bounds: Mapping[Place, Range],
    ) -> None:
        """`bounds` are those of dimensions of arguments that vary."""
        self.model = model
        self.is_narrow = model.facts.is_narrow
        self.network = network
        self.concrete = concrete
        self.calls = 0
        self._graph = graph
        self._inputs = [(i, orders.get(i)) for i in concrete.inputs]
        self._orders = [None if o.order is None else inverse(o.order) for o in concrete.outputs]
        self.limits: dict[str, int] = {}  # that it was made for
        self._bounds = bounds
        self._results: dict[tuple[int, ...], tuple[Result, ...] | None] = {}
        self._parameters: list[tuple[int, Any, int, int]] = []

    def pack(self, parameters: Mapping[int, Any]) -> None:
        """Remember the parameters that are constants of the network."""
        self._parameters = [(i, p, p._version, p.data_ptr()) for i, p in parameters.items()]

    def holds(self, args: Sequence[Any]) -> bool:
        """Whether what varies is in its bounds."""
        return all(r.least <= args[i].shape[d] <= r.most for (i, d), r in self._bounds.items())

    def fits(self, args: Sequence[Any]) -> bool:
        """Whether the parameters are what they were when they were packed."""
        return not self.changed(args)

    def changed(self, args: Sequence[Any]) -> set[int]:
        """Positions of the parameters that are not."""
        return {
            i
            for i, p, version, pointer in self._parameters
            if args[i] is not p or p._version != version or p.data_ptr() != pointer
        }

    def __call__(self, args: Sequence[Any]) -> tuple[Any, ...] | None:
        """The outputs of the captured graph; None where they are made of others than it has."""
        results = self._results_for(args)
        if results is None:
            return None
        arrays = [
            array_of(args[i] if order is None else args[i].permute(order))
            for i, order in self._inputs
        ]
        made = []
        for array, order in zip(self.network(*arrays), self._orders, strict=True):
            tensor = tensor_of(array)
            made.append(tensor if order is None else tensor.permute(order))
        return tuple(r.take(args, made) for r in results)

    def _results_for(self, args: Sequence[Any]) -> tuple[Result, ...] | None:
        """How the outputs are made: anew for each combination of extents where that matters."""
        if not self._bounds or self.concrete.is_fixed:
            return self.concrete.results
        key = tuple(args[i].shape[d] for i, d in self._bounds)
        if key not in self._results:
            if len(self._results) >= MOST_RESULTS:
                self._results.clear()
            with torch.inference_mode(False), torch.no_grad():
                self._results[key] = results_for(self._graph, args, self.concrete)
        return self._results[key]


def _has_version(tensor: Any) -> bool:
    """Whether PyTorch counts the writes to a tensor; it does not for inference tensors."""
    return not tensor.is_inference()


def _operator(node: Any) -> str:
    """What a person calls the operator of a node: `torch.sort`, `Tensor.cumsum`."""
    if node.op == "call_method":
        return f"Tensor.{node.target}"
    return str(node._pretty_print_target(node.target))
