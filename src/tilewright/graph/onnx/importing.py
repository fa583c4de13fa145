"""ONNX model → operator graph.

    graph = load("resnet50.onnx", shapes={"x": (1, 3, 224, 224)})

Nodes are taken in order. For each, the first of these that can: evaluate it, when all its inputs
are known (`onnx_fold`, by its translation where it has one; `Shape` always gives a constant); hand
it to the translator of its type (`onnx_ops`), which emits graph operators; run its subgraphs, or
make loops and branches of them (`onnx_control`); take its definition node by node
(`onnx_functions`). What cannot be taken is collected, so that one error lists all of it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import lcm, prod
from pathlib import Path
from typing import TypeAlias

import numpy as np
import onnx
import onnx.numpy_helper

from tilewright.contract.sizes import Size, Sizes
from tilewright.expr.dtypes import DTYPES, FEW_BITS
from tilewright.expr.dtypes import dtype as as_dtype
from tilewright.expr.index.extents import mul
from tilewright.expr.nodes import Binary, Const, Expr, Extent, Var, as_expr
from tilewright.expr.operators.shapes import Unequal
from tilewright.expr.sizes import extent_at, most, simplified
from tilewright.expr.text import extent_text
from tilewright.expr.traversal import free_vars, substitute, walk
from tilewright.graph.builder import GraphBuilder
from tilewright.graph.ir import Array, Graph, Value
from tilewright.graph.onnx.arithmetic import evaluated, whole_type
from tilewright.graph.onnx.control import CONTROL
from tilewright.graph.onnx.file import Content, PreparedModel, Source, name_of, opset_of, read_model
from tilewright.graph.onnx.fold import (
    FREE,
    computed,
    fold,
    fold_empty,
    is_kept,
    is_numpy,
    static_shape,
)
from tilewright.graph.onnx.functions import definition, is_defined
from tilewright.graph.onnx.limits import ADDRESSABLE, Allowance
from tilewright.graph.onnx.ops import translator_of
from tilewright.graph.onnx.ops.call import FewBits, Known, OperatorCall, Rejected, Rows, translate
from tilewright.graph.onnx.region import Noted, SubgraphImporter
from tilewright.graph.onnx.scope import (
    NameScope,
    Nodes,
    names_used,
    node_key,
    node_label,
    node_name,
    node_type,
    unknown_type,
)
from tilewright.graph.onnx.shapes import Shapes, misfits
from tilewright.graph.onnx.structure import MOST_WRITTEN_OUT
from tilewright.ground.errors import ExprError, UnsupportedModel
from tilewright.ground.text import one_line, plain, size

MALFORMED = (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)
"""What translators run into where attributes or inputs are not what ONNX says they are."""

Way: TypeAlias = Callable[[onnx.NodeProto, Sequence[Known], NameScope], Sequence[Known]]
"""A node, its inputs and the scope it stands in → its outputs."""

BROADCASTING = 7
"""The opset since which operands broadcast as NumPy's do."""

MOST_LISTED = 100  # problems in a message


@dataclass(frozen=True)
class Imported:
    """A graph, the `misfits` of its file that a user is warned of, and the files of weights that
    are `beside` it.
    """

    graph: Graph
    misfits: tuple[str, ...]
    beside: tuple[str, ...]


def load(
    source: Source,
    shapes: Shapes | None = None,
    constants: Mapping[str, Array] | None = None,
    *,
    every: bool = False,
) -> Graph:
    """The graph of `imported`; warns of what does not fit."""
    found = imported(source, shapes, constants, every=every)
    for problem in found.misfits:
        warnings.warn(f"{name_of(source) or found.graph.name}: {problem}", stacklevel=2)
    return found.graph


def imported(
    source: Source,
    shapes: Shapes | None = None,
    constants: Mapping[str, Array] | None = None,
    content: Content | None = None,
    *,
    every: bool = False,
    limits: Mapping[str, int] | None = None,
) -> Imported:
    """Import an ONNX model given as a path, as bytes or as a ModelProto; `content` may open
    the bytes of its file.

    `shapes` gives values to symbolic input dimensions, or ranges, which make sizes of them, as
    `every` makes of those that are given nothing; `constants` are inputs whose values are
    known now (a shape, axes, repeats): they are no inputs of the graph; `limits` say how many there
    may be, at most, of what data decide, by the name of the value that needs it. Misfits are
    outputs whose shapes are not what the file says. Raises UnsupportedModel for a file that cannot
    be read, missing weights, a dimension without a value, and for operators that are not supported:
    then the message lists every such node with its type and the reason.
    """
    where = name_of(source) or "the model"
    try:
        # Infinities and NaN among weights are the model's business.
        with np.errstate(all="ignore"):
            prepared = read_model(source, shapes, constants, content, every=every)
            stem = plain(Path(source).stem) if isinstance(source, (str, Path)) else ""
            name = stem or prepared.model.graph.name or "model"
            equal: dict[str, Extent] = {}
            while True:
                try:
                    return Importer(prepared, name, equal, limits).run()
                except SizesAgree as found:
                    equal |= {found.name: found.extent}
                    prepared = replace(prepared, sizes=(*prepared.sizes, *found.instead))
    except UnicodeDecodeError as error:
        raise UnsupportedModel(f"{where}: a name in it is no UTF-8 text: {error}") from error
    except RecursionError as error:
        raise UnsupportedModel(f"{where}: its functions or branches nest too deeply") from error
    except MemoryError as error:
        raise UnsupportedModel(f"{where}: there is not enough memory to load it") from error


class SizesAgree(Exception):
    """A node needs a size to be an extent over others, or `instead`: the import begins again with
    that.
    """

    def __init__(self, name: str, extent: Extent, instead: Sizes = ()) -> None:
        super().__init__(name)
        self.name, self.extent, self.instead = name, extent, instead


class Importer:
    """The state of one import."""

    def __init__(
        self,
        prepared: PreparedModel,
        name: str,
        equal: Mapping[str, Extent] | None = None,
        limits: Mapping[str, int] | None = None,
    ) -> None:
        """The large weights are taken out of `prepared`, if it has no sizes. Sizes that are `equal`
        to extents over others are none.
        """
        self.limits = dict(limits or {})
        self.model, self.where, self.declared = prepared.model, prepared.where, prepared.declared
        self.beside, self.doubt = prepared.beside, prepared.doubt
        self.weights: dict[str, onnx.TensorProto | Array] = {
            **{t.name: t for t in self.model.graph.initializer},
            **prepared.weights,
        }
        self.allowance = Allowance(given=sum(a.nbytes for a in prepared.weights.values()))
        if not prepared.sizes:
            prepared.weights.clear()
        self.equal = dict(equal or {})
        self.functions = {(f.domain, f.name): f for f in self.model.functions}
        sizes = tuple(s for s in prepared.sizes if s.name not in self.equal)
        self.builder = GraphBuilder(name, sizes)
        self.few = FewBits()
        self.problems: list[str] = []
        usual = (s for s in prepared.usual if s.name not in self.equal)
        self.remarks = [f"dimension {s.name} varies in {s.least}..{s.most}" for s in usual]
        self.remarks += [f"dimension {n} is {extent_text(e)}" for n, e in self.equal.items()]
        self.remarks += [str(s) for s in sizes if s.step > 1]
        self.refused: dict[str, str] = {}
        self.unknown: set[Value] = set()
        self.unlimited: dict[str, None] = {}
        self.nodes_left = len(self.model.graph.node) + MOST_WRITTEN_OUT

    def run(self) -> Imported:
        graph = self.model.graph
        scope = NameScope(
            opset_of(self.model.opset_import),
            names_used(graph.node, [o.name for o in graph.output]),
            weights=self.weights,
        )
        for info in graph.input:
            if info.name not in scope.weights:
                self._input(info, scope)
        self.nodes(graph.node, scope)
        outputs = self._outputs(scope)
        if self.problems:
            self.problems[:0] = [self.doubt] * bool(self.doubt)
            unknown, unlimited = self._unknown_inputs(), tuple(self.unlimited)
            raise UnsupportedModel(self._message(), self.refused, unknown, unlimited=unlimited)
        built = self.builder.build([v for _, v in outputs], [n for n, _ in outputs])
        problems = misfits(self.declared, {n: v.extents for n, v in outputs}, built.sizes)
        told = (*problems, *dict.fromkeys(self.remarks))
        return Imported(built, tuple(map(one_line, told)), self.beside)

    def _outputs(self, scope: NameScope) -> list[tuple[str, Value]]:
        """The model's outputs by name; what is wrong with the others is noted."""
        found, missing = [], []
        for info in self.model.graph.output:
            if not scope.find(info.name):
                missing.append(f"output {info.name} is never computed")
                continue
            value = self.value(info.name, scope)
            if isinstance(value, Value):
                found.append((info.name, value))
            else:
                self.problems.append(f"output {info.name} is no tensor")
        if not self.problems:  # else a node that was refused is the reason
            self.problems.extend(missing)
        return found

    def _message(self) -> str:
        """All problems, a line each."""
        found = list(dict.fromkeys(map(one_line, self.problems)))
        if len(found) == 1:
            return f"{self.where}: {found[0]}"
        listed = "\n  ".join(found[:MOST_LISTED])
        more = f"\n  and {len(found) - MOST_LISTED} more" if len(found) > MOST_LISTED else ""
        return f"{self.where}: {len(found)} things are not supported:\n  {listed}{more}"

    def _unknown_inputs(self) -> tuple[str, ...]:
        """Inputs that decide the values which had to be known."""
        made = {v: n for n in self.builder.nodes for v in n.outputs}
        waiting, found = list(self.unknown), set[Value]()
        while waiting:
            value = waiting.pop()
            if value in made:
                waiting.extend(v for v in made[value].inputs if not v.is_constant)
            else:
                found.add(value)
        return tuple(v.name for v in self.builder.inputs if v in found)

    def value(self, name: str, scope: NameScope) -> Known:
        """What `name` stands for; weights are converted when first used."""
        if name in scope.values:
            return scope.values[name]
        if name in scope.weights:
            found = scope.weights[name]
            if isinstance(found, onnx.TensorProto):
                found = onnx.numpy_helper.to_array(found)
            scope.values[name] = self.constant(name, found)
            return scope.values[name]
        assert scope.parent is not None, f"{name} is not defined"
        outer = self.value(name, scope.parent)
        if scope.capture is None or outer is None:
            return outer
        if isinstance(outer, tuple):
            return tuple(map(scope.capture, outer))
        if isinstance(outer, Rows):
            rows = None if outer.rows is None else scope.capture(outer.rows)
            return replace(outer, rows=rows, more=tuple(map(scope.capture, outer.more)))
        return scope.capture(outer)

    def constant(self, name: str, array: Array) -> Value:
        """A value known now."""
        kind = array.dtype.name
        stored = FEW_BITS.get(kind)
        fixed = np.ascontiguousarray(array if stored is None else array.astype(stored))
        value = self.builder.constant(name, fixed.reshape(array.shape))
        if stored is not None:
            self.few.types[value] = kind
        return value

    def known(self, name: str, array: Array, kind: str) -> Value:
        """A value known now, but for sizes: of extents that are whole numbers of this type."""
        if array.dtype != object:
            return self.constant(name, array)
        if all(isinstance(e, int) for e in array.flat):
            return self.constant(name, array.astype(kind))
        return self.builder.vector(name, array, kind)

    def _input(self, info: onnx.ValueInfoProto, scope: NameScope) -> None:
        tensor = info.type.tensor_type
        try:
            name = as_dtype(onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)).name
        except (ExprError, KeyError, ValueError):
            kind = str(info.type.WhichOneof("value"))
            if kind == "tensor_type":
                names = {n: name for name, n in onnx.TensorProto.DataType.items()}
                kind = names.get(tensor.elem_type, str(tensor.elem_type))
            self.refused[info.name] = f"type {kind}"
            self.problems.append(
                f"input {info.name}: type {kind}; known types: {', '.join(DTYPES)}"
            )
            return
        shape = tuple(
            d.dim_value if d.HasField("dim_value") else self._extent(Var(d.dim_param))
            for d in tensor.shape.dim
        )
        value = Value(info.name, shape, name)
        refusal = self._unfit(value)
        if refusal:
            self.refused[info.name] = refusal
            self.problems.append(f"input {refusal}")
        elif 0 not in shape:
            scope.values[info.name] = self.builder.input(info.name, shape, name)
        else:  # an array without elements has no unknown ones
            self.builder.input(info.name, shape, name)
            empty = np.empty(value.shape, as_dtype(name).numpy)
            scope.values[info.name] = self.constant(info.name, empty)

    def _extent(self, extent: Extent) -> Extent:
        """An extent without the sizes that are extents over others."""
        known = {name: as_expr(e) for name, e in self.equal.items()}
        while self.equal and not free_vars(as_expr(extent)).isdisjoint(known):
            extent = simplified(substitute(as_expr(extent), known), self.builder.sizes)
        return extent

    def _agree(self, extents: tuple[Extent, Extent]) -> None:
        """Have the import begin again where two extents that are one tell what a size is: the one
        that came last.
        """
        order = [s.name for s in self.builder.sizes if not s.computed]
        both = [e for e in extents if not isinstance(e, int)]
        if len(both) < 2 or any(not free_vars(e) <= set(order) for e in both):
            return
        found = [
            (order.index(size.name), size.name, other)
            for size, other in (both, both[::-1])
            if isinstance(size, Var) and size.name not in free_vars(other)
        ]
        if found:
            _, name, extent = max(found, key=lambda f: f[0])
            raise SizesAgree(name, extent)
        for s in self.builder.sizes:
            if (step := self._step(s, *both)) is not None:
                new = s.by(step)
                raise SizesAgree(s.name, mul(Var(new.name), step), (new,))

    def _step(self, size: Size, a: Expr, b: Expr) -> int | None:
        """The least number of which the size would have to be a multiple for two extents to be one.

        Images are halved some times, rounded up, and doubled as often.
        """
        parts = (e for end in (a, b) for e in walk(end) if isinstance(e, Binary))
        by = (e.b for e in parts if e.op == "floordiv")
        factor = lcm(*(int(e.value) for e in by if isinstance(e, Const)))
        for step in (n for n in range(2, factor + 1) if factor % n == 0):
            if size.most // step < max(1, -(-size.least // step)):
                continue
            new = size.by(step)
            changed = {size.name: as_expr(mul(Var(new.name), step))}
            ends = [simplified(substitute(e, changed), (*self.builder.sizes, new)) for e in (a, b)]
            if ends[0] == ends[1]:
                return step
        return None

    # ---- nodes --------------------------------------------------------------------------------

    def nodes(self, nodes: Nodes, scope: NameScope) -> None:
        """Take all of `nodes`; a refusal is noted and the node's outputs stay undefined."""
        for node in nodes:
            self._count(node, scope)
            if not all(not n or scope.find(n) for n in node.input):
                if self._way(node, scope) is None:
                    self._refuse(node, scope, unknown_type(node))
                continue
            try:
                inputs = [self.value(n, scope) if n else None for n in node.input]
                results = self._node(node, inputs, scope)
                self._check_results(inputs, results)
                named = [(n, r) for n, r in zip(node.output, results, strict=False) if n]
                scope.values.update(named)
            except RecursionError:
                raise
            except (Rejected, ExprError) as reason:
                if isinstance(reason, Unequal):
                    self._agree(reason.extents)
                self._refuse(node, scope, str(reason))
                if isinstance(reason, Rejected) and reason.value is not None:
                    self.unknown.add(reason.value)
                if isinstance(reason, Rejected) and reason.unlimited:
                    self.unlimited[reason.unlimited] = None
            except MemoryError:
                self._refuse(node, scope, "there is not enough memory for its constants")
            except MALFORMED as error:
                self._refuse(node, scope, f"it is malformed ({type(error).__name__}: {error})")

    def _count(self, node: onnx.NodeProto, scope: NameScope) -> None:
        """One node more. Raises UnsupportedModel when definitions and loops have become too many:
        loops in loops and calls of calls multiply."""
        self.nodes_left -= 1
        if self.nodes_left < 0:
            raise UnsupportedModel(
                f"{self.where}: {one_line(node_label(scope.outermost or node))} becomes more than "
                f"{MOST_WRITTEN_OUT} nodes when it is written out"
            )

    def _check_results(self, inputs: Sequence[Known], results: Sequence[Known]) -> None:
        """Refuse what is too large; what was computed now counts as memory taken."""
        given = [v.constant for v in inputs if isinstance(v, Value) and v.constant is not None]
        for value in results:
            if not isinstance(value, Value):
                continue
            if value.constant is None:
                refusal = self._unfit(value)
            elif any(np.may_share_memory(value.constant, a) for a in given):
                continue
            else:
                refusal = self.allowance.refusal("its result", 0)
                self.allowance.used += value.constant.nbytes
            if refusal:
                raise Rejected(refusal)

    def _node(
        self, node: onnx.NodeProto, inputs: Sequence[Known], scope: NameScope
    ) -> Sequence[Known]:
        arrays = self._evaluate(node, inputs, scope)
        if arrays is not None:
            named = zip(node.output, arrays, strict=False)
            types = [v.dtype for v in inputs if isinstance(v, Value)]
            kind = whole_type(node, types)
            return [None if a is None else self.known(n or "unused", a, kind) for n, a in named]
        way = self._way(node, scope)
        if way is None:
            raise Rejected(unknown_type(node))
        return way(node, inputs, scope)

    def _way(self, node: onnx.NodeProto, scope: NameScope) -> Way | None:
        """How a node of this type is taken, for all that its type says."""
        if (node.domain, node.op_type) in self.functions:
            return self._define
        if translator_of(node.domain, node.op_type):
            return self._translate
        if node_key(node) in CONTROL:
            return self._control
        if node_key(node) in (("", "Shape"), ("", "Size")) or is_defined(node, scope.opset):
            return self._define
        return None

    def _evaluate(
        self, node: onnx.NodeProto, inputs: Sequence[Known], scope: NameScope
    ) -> Sequence[Array | None] | None:
        first = inputs[0] if inputs else None
        if node.op_type in ("Shape", "Size") and isinstance(first, Value):
            return [static_shape(node, first.extents)]
        values = [v for v in inputs if isinstance(v, Value)]
        if len(values) != sum(v is not None for v in inputs):
            return None  # a sequence
        vectors = self.builder.vectors
        if any(v in vectors for v in values):
            given = [vectors.get(v, v.constant) if isinstance(v, Value) else None for v in inputs]
            if all(v in vectors or v.constant is not None for v in values):
                return evaluated(node, given, scope.opset, self.builder.sizes)
        if any(v.constant is None for v in values):
            if any(0 in v.extents for v in values) and not any(v.varies for v in values):
                return fold_empty(node, inputs, scope.opset, self.allowance)
            return None
        arrays = [v.constant if isinstance(v, Value) else None for v in inputs]
        if is_kept(node.op_type, arrays):
            return None
        older = scope.opset < BROADCASTING and translator_of(node.domain, node.op_type) is not None
        if values and (older or not is_numpy(node.op_type, arrays)):
            if node.op_type in FREE:
                return None
            found = self._computed(node, inputs, scope)
            if found is not None or older:
                return found
        return fold(node, arrays, scope.opset, self.allowance)

    def _computed(
        self, node: onnx.NodeProto, inputs: Sequence[Known], scope: NameScope
    ) -> Sequence[Array | None] | None:
        """The outputs of a node on constants, by what it is translated to; None if it is not."""
        if translator_of(node.domain, node.op_type) is None:
            return None
        outer, self.builder = self.builder, GraphBuilder(node.op_type, self.builder.sizes)
        try:
            with SubgraphImporter(self, scope, node).attempt():
                results = self._translate(node, inputs, scope)
            made = [v for v in results if isinstance(v, Value)]
            if len(made) < sum(v is not None for v in results):
                return None  # a sequence
            graph = self.builder.build(made, [v.name for v in made])
            arrays = computed(graph, self.allowance)
            if arrays is None:
                return None
            left = iter(arrays)
            return [None if v is None else next(left) for v in results]
        except (Rejected, ExprError):
            return None
        finally:
            self.builder = outer

    def _translate(
        self, node: onnx.NodeProto, inputs: Sequence[Known], scope: NameScope
    ) -> Sequence[Known]:
        call = OperatorCall(
            op_type=node.op_type,
            name=next((n for n in node.output if n), node.name),
            opset=scope.opset,
            used_outputs=tuple(bool(n) and n in scope.used for n in node.output),
            builder=self.builder,
            allowance=self.allowance,
            few=self.few,
            limits=self.limits,
        )
        attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
        translator = translator_of(node.domain, node.op_type)
        assert translator is not None, "nodes come here that have one"
        try:
            return translate(translator, call, inputs, attributes)
        except Rejected as refusal:
            # Definitions cover what is rare: statistics returned, odd attributes.
            if refusal.value is not None or not is_defined(node, scope.opset):
                raise
            return self._define(node, inputs, scope)

    def _control(
        self, node: onnx.NodeProto, inputs: Sequence[Known], scope: NameScope
    ) -> Sequence[Known]:
        return CONTROL[node_key(node)](SubgraphImporter(self, scope, node), inputs)

    def _define(
        self, node: onnx.NodeProto, inputs: Sequence[Known], scope: NameScope
    ) -> Sequence[Known]:
        """The outputs of `node` by its definition."""
        body = definition(node, scope.opset, self.functions, inputs)
        if body is None:
            raise Rejected(unknown_type(node))
        used = [o for o, n in zip(body.output, node.output, strict=False) if n in scope.used]
        given = dict.fromkeys(body.input) | dict(zip(body.input, inputs, strict=False))
        inner = NameScope(
            opset_of(body.opset_import) if body.opset_import else scope.opset,
            names_used(body.node, used),
            dict(given),
            inside=f"{scope.inside}{node_label(node)}: ",
            outermost=scope.outermost or node,
        )
        return self.body(body.node, body.output[: len(node.output)], inner)

    def body(self, nodes: Nodes, outputs: Sequence[str], scope: NameScope) -> Sequence[Known]:
        """Take `nodes` in `scope`, and return what `outputs` are then.

        Raises Rejected when one that is read is not there; what is missing was noted.
        """
        self.nodes(nodes, scope)
        results: list[Known] = []
        for name in outputs:
            if scope.find(name):
                results.append(self.value(name, scope))
            elif name in scope.used and self.problems:
                raise Noted
            else:
                results.append(None)
        return results

    def _unfit(self, value: Value) -> str:
        """Why no machine can hold `value`, or not at the least sizes; "" where one may."""
        least = {s.name: s.least for s in self.builder.sizes}
        if value.varies and any(extent_at(e, least) < 0 for e in value.extents):
            listed = ", ".join(f"{name} = {n}" for name, n in least.items())
            return f"{value} cannot be: where {listed} it has less than no elements"
        count = prod(max(most(e, self.builder.sizes), 1) for e in value.extents)
        if count <= ADDRESSABLE // as_dtype(value.dtype).bytes:
            return ""
        return f"{value} is larger than the {size(ADDRESSABLE)} that a process can address"

    def _refuse(self, node: onnx.NodeProto, scope: NameScope, reason: str) -> None:
        if not reason:
            return
        outermost = scope.outermost or node
        self.refused[node_name(outermost)] = f"{node_type(outermost)}: {reason}"
        self.problems.append(f"{scope.inside}{node_label(node)}: {reason}")
