"""What follows a contraction as a functor of the kernel (`runtime/templates/tw_epilogue.h`).

    written = Epilogue.of(found, follows, "k")
    written.text          struct k_result { ... template <int N, class V> void apply(...) ... };
    written.given         the tensors that it reads besides, in order
    written.values        its strides and extents, which the launch passes
    written.finish        where columns are reduced: what makes the output of a row's partial values

Sizes are not in the text, so it is the same for every workload of one form. Elements that lie side
by side along the columns are one access where their addresses allow it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from tilewright.codegen.clike.combine import neutral, pair
from tilewright.codegen.clike.cuda import Cuda
from tilewright.codegen.clike.expressions import Expressions
from tilewright.expr.contraction.factors import AffineRead, NoMatch, read_of
from tilewright.expr.contraction.follows import Follows, Reduction
from tilewright.expr.contraction.groups import Contraction
from tilewright.expr.dtypes import DTYPES
from tilewright.expr.nodes import Expr, Read, Tensor, Var
from tilewright.expr.tensors import is_constant
from tilewright.expr.traversal import children, reads

ELEMENTS: Mapping[str, str] = {
    "float16": "cutlass::half_t", "bfloat16": "cutlass::bfloat16_t", "float32": "float"
}  # fmt: skip
PARTIAL = DTYPES["float32"]  # what a reduction of columns is done and kept in
COUNT = 8  # columns that a functor sees at a time
LOOP = ("CUTLASS_PRAGMA_UNROLL", "for (int i = 0; i < N; ++i) {")  # over these columns
ROW, COLUMN, BATCH = "row", "column", "batch"


@dataclass(frozen=True, slots=True)
class Epilogue:
    """See the module. `element` is the C++ type of what it stores; `helpers` are functions that the
    text calls, by name.
    """

    text: str
    given: tuple[Tensor, ...]
    element: str
    values: tuple[int, ...]
    helpers: Mapping[str, str]
    finish: Epilogue | None = None

    @staticmethod
    def of(found: Contraction[AffineRead], follows: Follows, name: str) -> Epilogue:
        """What is not `unwritable`."""
        return _Writer(found, follows, name).epilogue()


def unwritable(
    follows: Follows, found: Contraction[AffineRead], packed: Sequence[AffineRead]
) -> str:
    """Why no kernel of a contraction can do what follows it, with these factors packed where they
    are constants; "" where one can.
    """
    given = [r.tensor for r in follows.given]
    constants = [t.name for t in (*(f.tensor for f in packed), *given) if is_constant(t)]
    twice = [name for name in dict.fromkeys(constants) if constants.count(name) > 1]
    if twice:
        return f"{', '.join(twice)} is read for two purposes"
    for factor in packed:
        if is_constant(factor.tensor) and not factor.is_whole:
            return f"{factor.tensor.name}, which is packed, is read in part"
    for read in (*follows.given, follows.output):
        if read.tensor.dtype.name not in ELEMENTS:
            return f"{read.tensor.name} is {read.tensor.dtype}, which no functor stores"
        place = read_of(read, found.extents)
        if isinstance(place, NoMatch):
            return place.reason
    if follows.reduction is None:
        return ""
    dtype, op = follows.reduction.stage.dtype, follows.reduction.op
    is_exact = dtype == PARTIAL or (dtype.is_float and op not in ("sum", "prod"))
    return "" if is_exact else f"{follows.reduction.stage.name} is reduced in {dtype}"


@dataclass(slots=True)
class _Writer:
    """Writes one functor; `values` are what it takes, in the order of their numbers."""

    found: Contraction[AffineRead]
    follows: Follows
    name: str
    values: list[int] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    decoded: dict[str, str] = field(default_factory=dict)

    def epilogue(self) -> Epilogue:
        follows, found, reduction = self.follows, self.found, self.follows.reduction
        read = [r for r in reads(follows.value) if r.tensor.name != found.stage.name]
        given = tuple(dict.fromkeys(r.tensor for r in read))
        texts: dict[Read, str] = {r: "sums[i]" for r in reads(follows.value) if r not in read}
        for i, one in enumerate(dict.fromkeys(read)):
            pointer = f"p{given.index(one.tensor)}"
            texts[one] = self._loaded(f"r{i}", pointer, self._placed(one))
        used = variables(follows.value)
        names = {axis: self._axis(axis) for axis in found.spatial if axis in used}
        printer = _Printer(Cuda(), {}, names, {}, {}, texts=texts)
        value = printer.text(follows.value)
        if reduction is None:
            element, finish = _element(follows.output.tensor), None
            self._store(element, value)
            members = ["static bool const reduces = false;"]
        else:
            element, finish = ELEMENTS[PARTIAL.name], _finish(found, follows, reduction, self.name)
            members = self._reduce(reduction, value, printer)
        members += [f"{_element(t)} const* p{i};" for i, t in enumerate(given)]
        members += [f"{element}* out;", "int const* v;"]
        total = "" if reduction is None else ", float& total"
        text = [
            f"struct {self.name}_result {{",
            *(f"    {m}" for m in members),
            "    template <int N, class Sums>",
            "    CUTLASS_DEVICE void apply(",
            f"        int batch, int row, int column, Sums const& sums{total}) const {{",
            *(f"        {line}" for line in self.lines),
            "    }",
            "};",
            "",
        ]
        helpers = {**printer.helpers, **({} if finish is None else finish.helpers)}
        return Epilogue("\n".join(text), given, element, tuple(self.values), helpers, finish)

    def _reduce(self, reduction: Reduction, value: str, printer: Expressions) -> list[str]:
        """Writes what becomes of a row's columns; what else a functor has that reduces them."""
        found, op = self.found, reduction.op
        merged = pair(printer, op, PARTIAL, "total", value)
        columns = found.size(found.columns)
        test = "" if columns % COUNT == 0 else f"if (column + i < {self._number(columns)}) "
        self.lines += [*LOOP, f"    {test}total = {merged};", "}"]
        batches, rows = (self._number(found.size(axes)) for axes in (found.batch, found.rows))
        return [
            "static bool const reduces = true;",
            f"CUTLASS_DEVICE static float neutral() {{ return {neutral(printer, op, PARTIAL)}; }}",
            "CUTLASS_DEVICE static float merge(float a, float b) {",
            f"    return {pair(printer, op, PARTIAL, 'a', 'b')};",
            "}",
            "CUTLASS_DEVICE void keep(int tile, int batch, int row, float total) const {",
            f"    out[(int64_t(tile) * {batches} + batch) * {rows} + row] = total;",
            "}",
        ]

    # ---- places -----------------------------------------------------------------------------

    def _number(self, value: int) -> str:
        """The text for a value that the launch passes."""
        self.values.append(value)
        return f"v[{len(self.values) - 1}]"

    def _placed(self, read: Read) -> AffineRead:
        found = read_of(read, self.found.extents)
        assert isinstance(found, AffineRead)
        return found

    def _place(self, place: AffineRead) -> tuple[str, int | None]:
        """The element at the first of the columns, and how far the next column's is; None where
        that is not the same for all.
        """
        found = self.found
        terms = [self._number(place.offset)] if place.offset else []
        step: int | None = 0
        for name, axes in ((BATCH, found.batch), (ROW, found.rows), (COLUMN, found.columns)):
            if not any(map(place.stride, axes)):
                continue
            stride = place.step(axes)
            if stride is not None:
                terms.append(f"int64_t({name}) * {self._number(stride)}")
                step = stride if name == COLUMN else step
                continue
            if name == COLUMN:
                return "", None
            for axis in axes:
                if place.stride(axis):
                    k = self._number(place.stride(axis))
                    terms.append(f"int64_t({self._axis(axis)}) * {k}")
        return " + ".join(terms) or "0", step

    def _axis(self, axis: str) -> str:
        """The name of an axis's value in the functor: what is left of its group's."""
        found = self.found
        group, axes = next(
            (name, axes)
            for name, axes in ((BATCH, found.batch), (ROW, found.rows), (COLUMN, found.columns))
            if axis in axes
        )
        whole = group if group != COLUMN else "(column + i)"
        if axis not in self.decoded:
            inner = found.size(axes[axes.index(axis) + 1 :])
            text = whole if inner == 1 else f"{whole} / {self._number(inner)}"
            if axes.index(axis):
                text = f"{text} % {self._number(found.extents[axis])}"
            self.decoded[axis] = f"({text})"
        return self.decoded[axis]

    def _at(self, place: AffineRead) -> str:
        """The flat index of the element in column `column + i`, whatever its form."""
        terms = [self._number(place.offset)] if place.offset else []
        for axis, stride in place.strides.items():
            if stride:
                terms.append(f"int64_t({self._axis(axis)}) * {self._number(stride)}")
        return " + ".join(terms) or "0"

    def _wide(self, place: AffineRead, step: int | None) -> bool:
        """Whether COUNT columns are side by side, all there, and begin at a multiple of COUNT."""
        others = [k for a, k in place.strides.items() if a not in self.found.columns]
        columns = self.found.size(self.found.columns)
        return step == 1 and all(n % COUNT == 0 for n in (place.offset, columns, *others))

    def _loaded(self, name: str, pointer: str, place: AffineRead) -> str:
        """The text of one element of a tensor that is read; what is loaded before goes ahead."""
        start, step = self._place(place)
        if step is None:
            return f"tw::widened({pointer}[{self._at(place)}])"
        if step == 0:
            self.lines.append(f"float const {name} = tw::widened({pointer}[{start}]);")
            return name
        if self._wide(place, step):
            self.lines.append(f"auto const {name} = tw::load<N>({pointer} + ({start}));")
            return f"tw::widened({name}[i])"
        self.lines.append(f"auto const* {name} = {pointer} + ({start});")
        along = "i" if step == 1 else f"int64_t(i) * {self._number(step)}"
        return f"tw::widened({name}[{along}])"

    def _store(self, kind: str, value: str) -> None:
        output = self._placed(self.follows.output)
        start, step = self._place(output)
        if self._wide(output, step):
            self.lines += [f"tw::Vector<{kind}, N> found;", *LOOP]
            self.lines += [f"    found[i] = {kind}({value});", "}"]
            self.lines.append(f"tw::store<N>(out + ({start}), found);")
            return
        at = self._at(output)
        if step is not None:
            at = f"({start}) + " + ("i" if step == 1 else f"int64_t(i) * {self._number(step)}")
        columns = self._number(self.found.size(self.found.columns))
        self.lines += [*LOOP, f"    if (column + i < {columns}) out[{at}] = {kind}({value});", "}"]


class _Printer(Expressions):
    """Scalar expressions; what they read has been given a text. The pragma of unrolling makes what
    is indexed by `i` registers.
    """

    __slots__ = ("texts",)

    def __init__(self, *given: object, texts: Mapping[Read, str]) -> None:
        super().__init__(*given)  # type: ignore[arg-type]
        self.texts = texts

    def load(self, read: Read) -> str:
        return self.texts[read]


def _finish(
    found: Contraction[AffineRead], follows: Follows, reduction: Reduction, name: str
) -> Epilogue:
    """What makes elements of the output of what the reduction gives: a product of one column."""
    of_rows = replace(found, stage=reduction.stage, columns=())
    return Epilogue.of(of_rows, Follows(reduction.value, follows.output), f"{name}_finish")


def _element(tensor: Tensor) -> str:
    return ELEMENTS[tensor.dtype.name]


def variables(e: Expr) -> set[str]:
    """The axes whose values an expression computes with; those in indices do not count."""
    match e:
        case Read():
            return set()
        case Var(name):
            return {name}
    return set().union(*map(variables, children(e)))


def scalar_function(
    value: Expr, texts: Mapping[Read, str], name: str
) -> tuple[str, Mapping[str, str]]:
    """A function of one accumulator `x` and the bias `b` of its column (`tw_b2b.h`), and the
    helpers that it calls.
    """
    printer = _Printer(Cuda(), {}, {}, {}, {}, texts=texts)
    text = printer.text(value)
    return (
        f"struct {name}_between {{\n"
        f"    CUTLASS_DEVICE static float of(float x, float b) {{ return {text}; }}\n}};\n",
        printer.helpers,
    )
