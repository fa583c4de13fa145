"""Read, check and prepare an ONNX model before it is translated.

    read_model("net.onnx", shapes={"x": (1, 3, 224, 224)})  →  PreparedModel(model, weights, …)

The model passed ONNX's checker, has sorted nodes and no symbolic dimensions but sizes. Its large
weights are arrays beside it. Everything that fails is an UnsupportedModel that says what to do.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from io import BufferedIOBase
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import onnx
import onnx.checker
import onnx.defs
import onnx.numpy_helper
import onnx.shape_inference
from google.protobuf.message import DecodeError, EncodeError  # type: ignore[import-untyped]

from tilewright.contract.origin import open_model
from tilewright.contract.sizes import Sizes
from tilewright.graph.ir import Array
from tilewright.graph.onnx.ops import ONNXRUNTIME, translator_of
from tilewright.graph.onnx.scope import STANDARD, Nodes, subgraphs
from tilewright.graph.onnx.shapes import (
    Declared,
    Shapes,
    fix_shapes,
    open_dimensions,
    take_output_shapes,
)
from tilewright.graph.onnx.structure import (
    check_attributes,
    check_expansion,
    check_names,
    sort_nodes,
)
from tilewright.graph.onnx.weights import set_aside, tensors
from tilewright.graph.onnx.wire import pieces
from tilewright.ground.errors import UnsupportedModel
from tilewright.ground.text import one_line

Source: TypeAlias = str | Path | bytes | onnx.ModelProto
Content: TypeAlias = Callable[[], AbstractContextManager[BufferedIOBase]]


@dataclass(frozen=True)
class PreparedModel:
    """A model without its large `weights`, which it names as inputs.

    `where` is what messages call it; `declared` are the shapes of outputs that its file told;
    `beside` are files that had weights; `sizes` are dimensions that vary, of which `usual` were
    given no range. `doubt` is what ONNX's shape inference refused, which may err: of a model that
    cannot be taken it is the first reason.
    """

    model: onnx.ModelProto
    weights: dict[str, Array]
    declared: Declared
    where: str
    beside: tuple[str, ...] = ()
    sizes: Sizes = ()
    usual: Sizes = ()
    doubt: str = ""


def read_model(
    source: Source,
    shapes: Shapes | None = None,
    constants: Mapping[str, Array] | None = None,
    content: Content | None = None,
    *,
    every: bool = False,
) -> PreparedModel:
    """The prepared model; inputs named in `constants` are initializers of it. `content` may open
    its bytes. If `every`, dimensions without a value are sizes.

    Raises UnsupportedModel.
    """
    where = name_of(source)
    with _parsed(source, content) as (given, large):
        where = where or given.graph.name or "the model"
        beside = _files_of(given)
        folder = _folder_of(given, None if isinstance(source, onnx.ModelProto | bytes) else source)
        model, weights = set_aside(given, folder, where, large)
    del given
    _date(model)
    _check_opset(model, where)
    check_names(model, where)
    for part in (model.graph, *model.functions):
        check_attributes(part.node, where)
    _adopt(model, model.graph.node, opset_of(model.opset_import))
    open_dimensions(model)
    check_expansion(model, where)
    sort_nodes(model, where)
    declared = take_output_shapes(model)
    _check(model, where)
    with _naming(where):
        _fix_inputs(model, constants or {})
        sizes, usual = fix_shapes(model, shapes or {}, weights, every=every)
    _spell_defaults(model)
    doubt = ""
    # What does not fit in a branch matters where that is taken; what fits for all sizes, it cannot
    # tell.
    if not sizes and not any(map(_chooses, (model.graph.node, *(f.node for f in model.functions)))):
        try:
            with _refusing("shapes do not fit"):
                onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True)
        except UnsupportedModel as error:
            doubt = str(error)
            if "[TypeInferenceError]" in doubt:
                raise error.about(where) from error.__cause__
    return PreparedModel(model, weights, declared, where, beside, sizes, usual, doubt)


def name_of(source: Source) -> str:
    """What messages call a model: its file as it was given, or "" where there is none."""
    return one_line(str(source)) if isinstance(source, str | Path) else ""


@contextmanager
def _naming(where: str) -> Iterator[None]:
    """Let a refusal within begin with what the model is called: of several, which one it is."""
    try:
        yield
    except UnsupportedModel as error:
        raise error.about(where) from error.__cause__


@contextmanager
def _refusing(what: str) -> Iterator[None]:
    """Whatever ONNX's own tools raise about a model within is an UnsupportedModel."""
    told = (
        onnx.checker.ValidationError,
        onnx.shape_inference.InferenceError,
        DecodeError,
        EncodeError,
        LookupError,
        RuntimeError,
        TypeError,
        ValueError,
    )
    try:
        yield
    except told as error:
        raise UnsupportedModel(f"{what}: {one_line(error)}") from error


def opset_of(imports: Iterable[onnx.OperatorSetIdProto]) -> int:
    """The version of the standard operators; the newest where none are imported."""
    versions = [o.version for o in imports if o.domain in STANDARD]
    return max(versions, default=onnx.defs.onnx_opset_version())


@contextmanager
def _parsed(
    source: Source, content: Content | None = None
) -> Iterator[tuple[onnx.ModelProto, Iterable[onnx.TensorProto]]]:
    """The message of a model, and those of its initializers that are read by themselves."""
    if isinstance(source, onnx.ModelProto):
        yield source, ()
        return
    where = "the model" if isinstance(source, bytes) else f"{source}"
    if isinstance(source, bytes):
        opened: AbstractContextManager[BufferedIOBase] = io.BytesIO(source)
    else:
        opened = (content or open_model(Path(source)).unchanged)()
    with opened as file:
        count = file.seek(0, 2)
        try:
            model, large = pieces(file)
            if not model.graph.node and not model.graph.output:
                raise UnsupportedModel(
                    f"{where} holds no graph: its {count} bytes are no ONNX model"
                )
            yield model, large
        except DecodeError as error:  # of a weight that is read later, too
            raise UnsupportedModel(
                f"{where} is no ONNX model: its {count} bytes do not decode ({error}); it may be "
                f"cut off, or be a pointer to a large file that was not fetched"
            ) from error


def weights_beside(path: Path) -> list[Path]:
    """The files of a model's external data, whether they are there or not."""
    folder = path.resolve().parent
    with _parsed(path) as (model, _):
        return sorted({folder / f for t in tensors(model) if (f := _location(t))})


def inputs_of(path: Path) -> list[onnx.ValueInfoProto]:
    """The inputs that a model's file lists, without its weights. Raises UnsupportedModel."""
    with _parsed(path) as (model, large):
        weights = {t.name for t in chain(model.graph.initializer, large)}
        return [i for i in model.graph.input if i.name not in weights]


def _files_of(model: onnx.ModelProto) -> tuple[str, ...]:
    """The files of the model's external weights, as it names them."""
    return tuple(sorted({f for t in tensors(model) if (f := _location(t)) is not None}))


def _folder_of(model: onnx.ModelProto, path: str | Path | None) -> Path | None:
    """Where the model's external weights are; None if it has none."""
    files = _files_of(model)
    if not files:
        return None
    if path is None:
        raise UnsupportedModel(
            f"the model keeps weights in {_listed(files)}; give its path instead of its bytes"
        )
    folder = Path(path).resolve().parent
    missing = [f for f in files if "\0" in f or not (folder / f).is_file()]
    if missing:
        raise UnsupportedModel(
            f"the model keeps weights in files beside it, and these are missing, or no regular "
            f"files: {_listed(missing)} (looked in {folder}); put them there"
        )
    return folder


def _location(tensor: onnx.TensorProto) -> str | None:
    """The file that holds the tensor's data, None when the tensor does."""
    if tensor.data_location != onnx.TensorProto.EXTERNAL:
        return None
    entries: dict[str, str] = {e.key: e.value for e in tensor.external_data}
    return entries.get("location", "")


def _listed(files: Sequence[str]) -> str:
    more = f" and {len(files) - 5} more" if len(files) > 5 else ""
    return one_line(", ".join(files[:5])) + more


def _date(model: onnx.ModelProto) -> None:
    """Give a file of the first two versions of the format the opset that they mean, and let weights
    be no inputs, as versions before the fourth do not, though their files may.
    """
    if model.ir_version < 3 and not model.opset_import:
        model.opset_import.append(onnx.helper.make_opsetid("", 1))
    if 1 <= model.ir_version < 4:
        model.ir_version = 4


def _check_opset(model: onnx.ModelProto, where: str) -> None:
    opset, newest = opset_of(model.opset_import), onnx.defs.onnx_opset_version()
    if not 1 <= opset <= newest:
        raise UnsupportedModel(
            f"{where} has opset {opset} of ONNX's operators; known are 1 to {newest}: export it "
            f"again with one of these"
        )


def _adopt(model: onnx.ModelProto, nodes: Nodes, opset: int) -> None:
    """Move to onnxruntime's domain what its optimiser leaves in ONNX's, which has no such operator
    in this `opset`.
    """
    for node in nodes:
        ours = node.domain in STANDARD and translator_of(ONNXRUNTIME, node.op_type) is not None
        if ours and not onnx.defs.has(node.op_type, opset, ""):
            node.domain = ONNXRUNTIME
            if all(o.domain != ONNXRUNTIME for o in model.opset_import):
                model.opset_import.append(onnx.helper.make_opsetid(ONNXRUNTIME, 1))
        for graph in subgraphs(node):
            _adopt(model, graph.node, opset)


def _check(model: onnx.ModelProto, where: str) -> None:
    """ONNX's own checker. It asks for types and shapes of outputs, which nothing here needs."""
    if model.graph.sparse_initializer:
        raise UnsupportedModel(f"{where}: sparse initializers are not supported")
    untyped = [i for i in model.graph.output if not i.HasField("type")]
    for info in untyped:
        info.type.tensor_type.elem_type = onnx.TensorProto.FLOAT
    unshaped = [
        info.type.tensor_type
        for info in (*model.graph.input, *model.graph.output)
        if info.type.HasField("tensor_type") and not info.type.tensor_type.HasField("shape")
    ]
    for tensor in unshaped:
        tensor.shape.SetInParent()
    with _refusing(f"{where}: not a valid ONNX model"):
        onnx.checker.check_model(model)
    for tensor in unshaped:
        tensor.ClearField("shape")
    for info in untyped:
        info.ClearField("type")


def _chooses(nodes: Nodes) -> bool:
    """Whether there are branches among `nodes`, or within them."""
    return any(n.op_type == "If" or any(_chooses(g.node) for g in subgraphs(n)) for n in nodes)


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
        with _refusing(f"the constant given for input {name} is no tensor"):
            tensor = onnx.numpy_helper.from_array(np.asarray(array), name)
        model.graph.initializer.append(tensor)
