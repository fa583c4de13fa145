"""Read, check and prepare an ONNX model before it is translated.

    read_model("net.onnx", shapes={"x": (1, 3, 224, 224)})  →  ModelProto, weights by name

The model passed ONNX's checker and strict shape inference, has opset 7 or newer and no symbolic
dimensions. Its large weights are arrays beside it. Everything that fails is an UnsupportedModel
that says what to do.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import onnx
import onnx.checker
import onnx.defs
import onnx.numpy_helper
import onnx.shape_inference
import onnx.version_converter
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

from tilewright.errors import UnsupportedModel
from tilewright.graph.ir import Array
from tilewright.graph.onnx_weights import set_aside

Source: TypeAlias = str | Path | bytes | onnx.ModelProto
Shapes: TypeAlias = Mapping[str, Sequence[int]]

OLDEST_OPSET = 7


def read_model(
    source: Source, shapes: Shapes | None = None, constants: Mapping[str, Array] | None = None
) -> tuple[onnx.ModelProto, dict[str, Array]]:
    """The prepared model, and its large weights, which it names as inputs.

    Inputs named in `constants` are initializers of it. Raises UnsupportedModel.
    """
    model = source if isinstance(source, onnx.ModelProto) else _parse(source)
    with naming(title_of(source, model)):
        model, weights = set_aside(model, _folder_of(source, model))
        _check(model)
        _fix_inputs(model, constants or {})
        model = _modernise(model)
        _fix_shapes(model, dict(shapes or {}), weights)
        _spell_defaults(model)
        try:
            onnx.shape_inference.infer_shapes(
                model, check_type=True, strict_mode=True, data_prop=True
            )
        except onnx.shape_inference.InferenceError as error:
            raise UnsupportedModel(f"shapes do not fit: {error}") from error
    return model, weights


def title_of(source: Source, model: onnx.ModelProto) -> str:
    """What messages call a model: its file, as it was given, else the name of its graph."""
    return str(source) if isinstance(source, (str, Path)) else model.graph.name or "the model"


@contextmanager
def naming(title: str) -> Iterator[None]:
    """Let a refusal inside the block begin with the model's title: of several, which one it is."""
    try:
        yield
    except UnsupportedModel as error:
        raise error.about(title) from error.__cause__


def opset_of(imports: Iterable[onnx.OperatorSetIdProto]) -> int:
    """The version of the standard operators; the newest where none are imported."""
    versions = [o.version for o in imports if o.domain in ("", "ai.onnx")]
    return max(versions, default=onnx.defs.onnx_opset_version())


def _parse(source: str | Path | bytes) -> onnx.ModelProto:
    where = "the model" if isinstance(source, bytes) else f"{source}"
    try:
        data = source if isinstance(source, bytes) else Path(source).read_bytes()
    except OSError as error:
        raise UnsupportedModel(f"cannot read {where}: {error.strerror}") from error
    try:
        model = onnx.load_model_from_string(data)
    except DecodeError as error:
        raise UnsupportedModel(
            f"{where} is no ONNX model: its {len(data)} bytes do not decode ({error}); it may be "
            f"cut off, or be a pointer to a large file that was not fetched"
        ) from error
    if not model.graph.node and not model.graph.output:
        raise UnsupportedModel(f"{where} holds no graph: its {len(data)} bytes are no ONNX model")
    return model


def _external(model: onnx.ModelProto) -> Iterator[tuple[onnx.TensorProto, str]]:
    for tensor in model.graph.initializer:
        if tensor.data_location == onnx.TensorProto.EXTERNAL:
            entries = {e.key: e.value for e in tensor.external_data}
            yield tensor, entries.get("location", "")


def _folder_of(source: Source, model: onnx.ModelProto) -> Path | None:
    """Where the model's external weights are; None if it has none."""
    files = sorted({f for _, f in _external(model)})
    if not files:
        return None
    if not isinstance(source, (str, Path)):
        raise UnsupportedModel(
            f"the model keeps weights in {', '.join(files)}; give its path instead of its bytes"
        )
    folder = Path(source).resolve().parent
    missing = [f for f in files if not (folder / f).is_file()]
    if missing:
        raise UnsupportedModel(
            f"the model keeps weights in files beside it, and these are missing: "
            f"{', '.join(missing)} (looked in {folder}); put them there"
        )
    return folder


def _check(model: onnx.ModelProto) -> None:
    if model.graph.sparse_initializer:
        raise UnsupportedModel("sparse initializers are not supported")
    try:
        onnx.checker.check_model(model)
    except onnx.checker.ValidationError as error:
        raise UnsupportedModel(f"not a valid ONNX model: {error}") from error


def _modernise(model: onnx.ModelProto) -> onnx.ModelProto:
    opset = opset_of(model.opset_import)
    if opset >= OLDEST_OPSET:
        return model
    try:
        return onnx.version_converter.convert_version(model, OLDEST_OPSET)
    except (RuntimeError, onnx.checker.ValidationError) as error:
        raise UnsupportedModel(
            f"its opset is {opset}, and ONNX's converter cannot bring it to "
            f"{OLDEST_OPSET}: {error}; export it again with a newer opset"
        ) from error


def _spell_defaults(model: onnx.ModelProto) -> None:
    """Write out attributes left to their defaults: shape inference of definitions loses them."""
    opset = opset_of(model.opset_import)
    for node in model.graph.node:
        if node.domain not in ("", "ai.onnx") or not onnx.defs.has(node.op_type):
            continue
        schema: Any = onnx.defs.get_schema(node.op_type, opset)
        given = {a.name for a in node.attribute}
        for name, attribute in schema.attributes.items() if schema.has_function else ():
            if name not in given and attribute.default_value.name:
                node.attribute.append(attribute.default_value)


def _fix_inputs(model: onnx.ModelProto, constants: Mapping[str, Array]) -> None:
    """Inputs with these values become initializers."""
    kept = [i for i in model.graph.input if i.name not in constants]
    if len(kept) + len(constants) != len(model.graph.input):
        inputs = [i.name for i in model.graph.input]
        wrong = ", ".join(sorted(set(constants) - set(inputs)))
        raise UnsupportedModel(
            f"no input is called {wrong}, which a constant is given for; "
            f"the model's inputs: {', '.join(inputs)}"
        )
    del model.graph.input[:]
    model.graph.input.extend(kept)
    for name, array in constants.items():
        model.graph.initializer.append(onnx.numpy_helper.from_array(np.asarray(array), name))


def _fix_shapes(
    model: onnx.ModelProto, shapes: dict[str, Sequence[int]], weights: Collection[str]
) -> None:
    """Give every input dimension a value, from `shapes` or through a name they share.

    What `shapes` names is an input, or a symbolic dimension: {"batch": (4,)}.
    """
    known = {*weights, *(t.name for t in model.graph.initializer)}
    inputs = [i for i in model.graph.input if i.name not in known]
    bound = _symbols(inputs, shapes)
    for info in inputs:
        if info.name in shapes:
            _bind(info, tuple(int(n) for n in shapes[info.name]), bound)
    for info in inputs:
        _settle(info, bound, sized=info.name in shapes)
    # Symbolic dimensions of inner and output values would contradict the ones just given.
    del model.graph.value_info[:]
    for info in model.graph.output:
        info.type.tensor_type.ClearField("shape")


def _symbols(
    inputs: Sequence[onnx.ValueInfoProto], shapes: Mapping[str, Sequence[int]]
) -> dict[str, int]:
    """The symbolic dimensions among the names of `shapes`; every other one must be an input."""
    names = {i.name for i in inputs}
    symbols = {d.dim_param for i in inputs for d in i.type.tensor_type.shape.dim} - {""}
    given = {name: tuple(n) for name, n in shapes.items() if name not in names}
    for name, sizes in given.items():
        if name not in symbols:
            listed = ", ".join(f"{i.name} {_text(i)}" for i in inputs) or "none"
            raise UnsupportedModel(
                f"no input and no dimension is called {name}, whose shape is given; "
                f"the model's inputs: {listed}"
            )
        if len(sizes) != 1 or sizes[0] < 0:
            raise UnsupportedModel(f"dimension {name} is one number, not {sizes}")
    return {name: int(sizes[0]) for name, sizes in given.items()}


def _bind(info: onnx.ValueInfoProto, shape: tuple[int, ...], bound: dict[str, int]) -> None:
    tensor = info.type.tensor_type
    dims = list(tensor.shape.dim)
    if not tensor.HasField("shape"):
        dims = [tensor.shape.dim.add() for _ in shape]
    fits = len(dims) == len(shape) and all(
        not d.HasField("dim_value") or d.dim_value == n for d, n in zip(dims, shape, strict=True)
    )
    if not fits or any(n < 0 for n in shape):
        raise UnsupportedModel(
            f"input {info.name} has shape {_text(info)}; the shape {shape} given does not fit it"
        )
    for dim, n in zip(dims, shape, strict=True):
        if dim.dim_param and bound.setdefault(dim.dim_param, n) != n:
            raise UnsupportedModel(
                f"dimension {dim.dim_param} of input {info.name} is given as {n} and, elsewhere, "
                f"as {bound[dim.dim_param]}"
            )
        dim.dim_value = n


def _settle(info: onnx.ValueInfoProto, bound: dict[str, int], sized: bool) -> None:
    tensor = info.type.tensor_type
    if not info.type.HasField("tensor_type"):
        return  # refused by the importer, with its type
    if not tensor.HasField("shape"):
        raise UnsupportedModel(f"input {info.name} has no shape", unsized=(info.name,))
    for position, dim in enumerate(tensor.shape.dim):
        if dim.dim_param in bound:
            dim.dim_value = bound[dim.dim_param]
        # Some exporters write 0 for a dimension that they do not know.
        if not dim.HasField("dim_value") or dim.dim_value < (0 if sized else 1):
            raise UnsupportedModel(
                f"dimension {position} ({dim.dim_param or 'unnamed'}) of input {info.name} "
                f"{_text(info)} has no value",
                unsized=(info.name,),
            )


def _text(info: onnx.ValueInfoProto) -> str:
    dims = info.type.tensor_type.shape.dim
    return f"[{', '.join(str(d.dim_value) if d.dim_value else d.dim_param or '?' for d in dims)}]"
