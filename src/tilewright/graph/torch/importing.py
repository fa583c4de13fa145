"""PyTorch module → ONNX model, by torch's own exporter, in memory.

    exported = export_module(module, (x,))       a torch.nn.Module or torch.export.ExportedProgram
    graph = onnx_import.load(exported.proto)     its outputs are called `exported.outputs`, if any

Importing this file needs torch and onnxscript, which `pip install 'tilewright[torch]'` brings;
nothing of the package imports it before it is given something of torch's.
"""

from __future__ import annotations

import contextlib
import inspect
import logging
import math
import traceback
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import onnx

from tilewright.contract.arguments import Given, Range
from tilewright.ground import log
from tilewright.ground.errors import InputError, UnsupportedModel

INSTALL = "pip install 'tilewright[torch]'"
try:
    import onnxscript  # noqa: F401  (what torch.onnx is built on)
    import torch

    from tilewright.graph.torch.decompositions import decomposed
    from tilewright.graph.torch.quantised import translations
    from tilewright.graph.torch.sizes import TracedEnds, dynamic, named_ranges
except ImportError as error:
    raise InputError(f"{error.name} is not installed; PyTorch models need it: {INSTALL}") from error


def export_module(module: Any, inputs: Any, shapes: Mapping[str, Given] | None = None) -> Exported:
    """The ONNX model of what `module` computes for inputs like these.

    `inputs` are positional arguments in a sequence, keyword arguments in a mapping, or one tensor;
    an ExportedProgram has its own, and the ranges of its dimensions. `shapes` replaces the shapes
    of inputs, by the names of the parameters of `forward`; a range in them is a dimension that
    varies. A module is exported as `module.eval()` behaves. Raises InputError for inputs or shapes
    that do not fit, UnsupportedModel when torch cannot export it.
    """
    if isinstance(module, torch.export.ExportedProgram):
        if inputs is not None or shapes:
            raise InputError(
                "an ExportedProgram has its inputs, and the ranges that torch.export was told by "
                "dynamic_shapes=; give it alone"
            )
        return _with_example(to_onnx(module, "exported_program"), module)
    if inputs is None:
        raise InputError(
            f"a torch module needs example inputs: load({type(module).__name__}(), (x, ...))"
        )
    args, kwargs = _arguments(inputs)
    varying = None
    if shapes:
        args, kwargs, varying = _reshaped(module, args, kwargs, shapes)
    name = type(module).__name__
    if module.training:
        log.warning("%s is in training mode; it is compiled as module.eval() computes", name)
    with evaluating(module):
        program = to_program(module, args, kwargs, name, varying)
        exported = _with_example(to_onnx(program, name), program)
    asked = {
        f"{name}_{d}": n
        for name, given in (shapes or {}).items()
        for d, n in enumerate(given)
        if isinstance(n, Range)
    }
    ranges = {n: _as_asked(ends, asked[n]) for n, ends in exported.ranges.items() if n in asked}
    return replace(exported, ranges={**exported.ranges, **ranges})


def _as_asked(found: TracedEnds, asked: Range) -> TracedEnds:
    """A range that torch.export found, with the points that were asked for. Its tracing takes what
    varies to be at least 2, so that 1 is not special; nor is it here.
    """
    least = min(asked.least, found.least) if found.least == 2 else found.least
    return TracedEnds(least, found.most, asked.points)


def _with_example(exported: Exported, program: Any) -> Exported:
    """With what the program gives for its example inputs, if it has any."""
    if program.example_inputs is None:
        return exported
    args, kwargs = program.example_inputs
    with quiet(), torch.no_grad():
        outputs = program.module()(*args, **kwargs)
    leaves = torch.utils._pytree.tree_leaves
    kept = (_tensors(leaves((args, kwargs))), _tensors(leaves(outputs)))
    return replace(exported, example=kept)


def _tensors(values: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(v for v in values if isinstance(v, torch.Tensor))


def to_program(
    module: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], name: str, varying: Any = None
) -> Any:
    """The ExportedProgram of a module; `varying` are dimensions that vary, as torch.export takes
    them. Raises UnsupportedModel.
    """
    with quiet(), torch.no_grad():
        try:
            program = torch.export.export(
                module, args, dict(kwargs), dynamic_shapes=varying, strict=False
            )
        except Exception as error:  # whatever the module's own code raises, too
            raise UnsupportedModel(
                f"{name}: torch.export refuses it: {_first_reason(error)}{_way_out(module)}"
            ) from error
    for part in program.graph_module.modules():
        for node in part.graph.find_nodes(
            op="call_function", target=torch.ops.aten._assert_tensor_metadata.default
        ):
            part.graph.erase_node(node)  # false within a torch.autocast of the module's own
    return program


def _first_reason(error: BaseException) -> str:
    """The headline of an exception, and the first of the reasons that it lists."""
    listed = (line.strip() for line in str(error).splitlines()[1:])
    reason = next((line for line in listed if line.startswith("- ")), "")
    return headline(error) if not reason else reason.removeprefix("- ")


def _way_out(module: Any) -> str:
    """What to give instead of a module with quantised parts."""
    kinds = {type(m) for m in module.modules()}
    quantised = sorted(k.__name__ for k in kinds if ".nn.quantized" in k.__module__)
    if not quantised:
        return ""
    return (
        f"; its quantised parts ({', '.join(quantised)}) hold packed weights: give the float "
        f"module, or an ONNX file with QuantizeLinear and DequantizeLinear"
    )


@dataclass(frozen=True)
class Exported:
    """An ONNX model, and for its nodes by name the node that each one stems from, in the graph
    that was given to torch.export. `outputs` are the names of the outputs where the module gives
    them by name, in a dictionary: `logits`, or `states.0` for a part of `states`; else there are
    none. `ranges` are those of dimensions of inputs that vary, by name. `example` are tensors that
    the module was exported with, and those it gives for them.
    """

    proto: onnx.ModelProto
    origins: Mapping[str, str]
    outputs: tuple[str, ...] = ()
    ranges: Mapping[str, TracedEnds] = field(default_factory=dict)
    example: tuple[tuple[Any, ...], tuple[Any, ...]] | None = None


def to_onnx(program: Any, name: str) -> Exported:
    """The ONNX model of an ExportedProgram.

    Raises UnsupportedModel when it changes its inputs or buffers in place, or uses an operator
    that the exporter does not know; `refused` then names nodes as `origins` does.
    """
    with quiet(), torch.no_grad():
        try:
            written = decomposed(program)
        except Exception as error:  # whatever tracing raises
            raise UnsupportedModel(f"{name}: torch.export refuses it: {headline(error)}") from error
        _check_unchanged(written, name)  # in the second time around no node has an origin
        try:
            exported = torch.onnx.export(
                written,
                (),
                dynamo=True,
                optimize=False,
                verbose=False,
                opset_version=_opset(written),
                custom_translation_table=translations(written),
            )
        except torch.onnx.errors.OnnxExporterError as error:
            innermost = list(_causes(error))[-1]
            raise UnsupportedModel(
                f"{name}: torch's ONNX exporter refuses it: {headline(innermost)}",
                refused=_failing_node(error),
            ) from error
        _check_unchanged(exported.exported_program, name)
        proto: onnx.ModelProto = exported.model_proto
    proto.graph.name = name
    names = _output_names(program)
    fits = len(names) == len(proto.graph.output)
    origins = _origins(proto, exported.exported_program)
    return Exported(proto, origins, names if fits else (), named_ranges(program, proto))


def _opset(program: Any) -> int | None:
    """The first opset whose convolutions and poolings may be bfloat16 for a program that has such
    values; the exporter's own for others.
    """
    values = (n.meta.get("val") for n in program.graph.nodes)
    narrow = any(isinstance(v, torch.Tensor) and v.dtype == torch.bfloat16 for v in values)
    return 22 if narrow else None


def _output_names(program: Any) -> tuple[str, ...]:
    """What a program's outputs are called in the mapping that it returns; nothing for others."""
    spec = program.call_spec.out_spec
    if spec is None or not spec.num_leaves:
        return ()
    made = torch.utils._pytree.tree_unflatten(range(spec.num_leaves), spec)
    if not isinstance(made, Mapping):
        return ()
    paths, _ = torch.utils._pytree.tree_flatten_with_path(made)
    return tuple(".".join(str(_key(k)) for k in path) for path, _ in paths)


def _key(step: Any) -> Any:
    """What one step of a path into nested results is called: a key, a position or a field."""
    return getattr(step, "key", getattr(step, "idx", getattr(step, "name", step)))


def _origins(proto: onnx.ModelProto, decomposed: Any) -> dict[str, str]:
    """ONNX node → original node, by what the exporter notes at each: `%fx_node : ... = ...`."""
    first = {n.name: origin(n) for n in decomposed.graph.nodes}
    found = {}
    for node in proto.graph.node:
        notes = [p.value for p in node.metadata_props if p.key == "pkg.torch.onnx.fx_node"]
        for note in notes:
            fx_name = note.removeprefix("%").partition(" ")[0]
            if fx_name in first:
                found[node.name] = first[fx_name]
    return found


def origin(node: Any) -> str:
    """The name of the node that `node` of an exported graph was first."""
    name, sources = node.name, node.meta.get("from_node")
    while sources:
        name, sources = sources[-1].name, sources[-1].from_node
    return str(name)


def _check_unchanged(decomposed: Any, name: str) -> None:
    """Raise UnsupportedModel when a program writes to its inputs or buffers."""
    kinds = torch.export.graph_signature.OutputKind
    changes = {
        spec.arg.name: spec.target
        for spec in decomposed.graph_signature.output_specs
        if spec.kind in (kinds.BUFFER_MUTATION, kinds.USER_INPUT_MUTATION)
    }
    if changes:
        nodes = [n for n in decomposed.graph.nodes if n.name in changes]
        raise UnsupportedModel(
            f"{name} changes {', '.join(map(str, changes.values()))} in place, and a compiled "
            f"network changes nothing but its outputs",
            refused=dict.fromkeys(map(origin, nodes), "changes an input in place"),
        )


def headline(error: BaseException) -> str:
    """The first line of an exception's message, or its type."""
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__


def _failing_node(error: BaseException) -> dict[str, str]:
    """The origin of the node at which the exporter stopped, and why; empty if that is not known.

    Its messages print the node of a decomposed program that nobody else has; the node itself is a
    variable of the frames that the exception went through.
    """
    for cause in _causes(error):
        for frame, _ in traceback.walk_tb(cause.__traceback__):
            node = frame.f_locals.get("node")
            if isinstance(node, torch.fx.Node):
                return {origin(node): f"{node.target}: unknown to torch's ONNX exporter"}
    return {}


@contextlib.contextmanager
def evaluating(module: Any) -> Iterator[None]:
    """Have `module` and all its parts in evaluation mode for a while."""
    training = [m for m in module.modules() if m.training]
    for part in training:
        part.training = False
    try:
        yield
    finally:
        for part in training:
            part.training = True


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keep the exporter's notes on itself (missing torchvision, deprecations) from the user."""
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    logger.setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield
        finally:
            logger.setLevel(level)


def _arguments(inputs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if isinstance(inputs, Mapping):
        return (), dict(inputs)
    if isinstance(inputs, torch.Tensor):
        return (inputs,), {}
    if isinstance(inputs, Sequence) and not isinstance(inputs, str):
        return tuple(inputs), {}
    raise InputError(
        f"example inputs are a sequence, a mapping or one tensor, not {type(inputs).__name__}"
    )


def _reshaped(
    module: Any,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    shapes: Mapping[str, Given],
) -> tuple[tuple[Any, ...], dict[str, Any], dict[str, Any] | None]:
    """The same arguments with tensors of other shapes, which repeat their values, and the
    dimensions that vary by parameter, as torch.export takes them. Of a range, the example is in it.
    """
    try:
        bound = inspect.signature(module.forward).bind(*args, **kwargs)
    except TypeError as error:
        raise InputError(
            f"the example inputs do not fit {type(module).__name__}: {error}"
        ) from None
    varying: dict[str, Any] = dict.fromkeys(bound.arguments)
    for name, given in shapes.items():
        tensor = bound.arguments.get(name)
        if not isinstance(tensor, torch.Tensor):
            tensors = [n for n, v in bound.arguments.items() if isinstance(v, torch.Tensor)]
            raise InputError(
                f"shapes names {name!r}; the tensors of {type(module).__name__}.forward are: "
                f"{', '.join(tensors) or 'none'}"
            )
        shape = _example_shape(tuple(tensor.shape), given)
        values = tensor.reshape(-1)
        size = math.prod(shape)
        times = -(-size // max(1, len(values)))
        bound.arguments[name] = values.repeat(times)[:size].reshape(shape)
        ends = {d: TracedEnds(*n) for d, n in enumerate(given) if isinstance(n, Range)}
        varying[name] = dynamic(ends)
    return bound.args, bound.kwargs, varying if any(varying.values()) else None


def _example_shape(shape: tuple[int, ...], given: Given) -> tuple[int, ...]:
    """Numbers for what is given. Of a range the tensor's own extent, or the nearest of those that
    torch.export takes for one that varies, which 1 is not.
    """
    own = shape if len(shape) == len(given) else (0,) * len(given)
    return tuple(
        min(max(extent, n.least, 2), n.most) if isinstance(n, Range) else n
        for extent, n in zip(own, given, strict=True)
    )
