"""Vector loops as accesses of several elements.

    for v < 8 (vector): s[t * 8 + v] = x[k + v]

    const float4 x_v = *(const float4*)(x + k + v);        twice, or once with eight halves
    *(float4*)(s + t * 8 + v) = x_v;

What is one access, `vectors` finds; here it is written. Elements that are only copied are moved as
they are stored, others in their compute type.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace

from tilewright.codegen.clike import vectors
from tilewright.codegen.clike.dialect import GLOBAL, SHARED
from tilewright.codegen.clike.expressions import Expressions, Place
from tilewright.codegen.clike.lines import Lines, Names
from tilewright.expr.dtypes import DType
from tilewright.expr.index.affine import AffineForms
from tilewright.expr.nodes import Expr, Read, Select, Var, as_expr
from tilewright.expr.traversal import reads, substitute
from tilewright.nest.nodes import For, Store

WIDEST = max(vectors.WIDTHS)


@dataclass(slots=True)
class VectorLoops:
    """Writes the vector loops of one kernel to `out`."""

    write: Expressions
    names: Names
    forms: AffineForms
    out: Lines

    def written(self, node: For, name: str) -> bool:
        """Write a vector loop, whose variable is called `name`, in the chunks that take the fewest
        accesses; False where it has none.
        """
        assert isinstance(node.extent, int)
        chunks = [
            (self.access_count(body, node.var.name, width), width, conds, body)
            for width in vectors.widths(node.extent)
            for conds, body in [vectors.uniform_guards(node.body, node.var, width, self.forms)]
            if isinstance(body, Store) and self.is_chunk(body, node.var.name, width)
        ]
        if not chunks:
            return False
        _, width, conds, body = min(chunks, key=lambda chunk: chunk[0])
        whole = width == node.extent
        start: Expr = as_expr(0) if whole else node.var
        if not whole:
            self.out.line("#pragma unroll")
        head = f"for (int {name} = 0; {name} < {node.extent}; {name} += {width})"
        with self.out.scope("" if whole else head):
            tests = [self.write.text(substitute(c, {node.var.name: start}), 3) for c in conds]
            with self.out.scope(f"if ({' && '.join(tests)})") if tests else nullcontext():
                self.choice(body, node.var, start, width)
        return True

    def is_chunk(self, node: Store, var: str, width: int) -> bool:
        """Whether elements are stored by one access, or loaded by one and stored one by one (in
        rows of odd length, no vector of them is aligned).
        """
        if node.reduce is not None or any(
            r.tensor.name == node.tensor.name for r in reads(node.value)
        ):
            return False
        return self.is_vector_store(node, var, width) or any(
            self.is_vector_access(self.write.place(r.tensor.name), r.indices, var, width)
            for r in reads(node.value)
        )

    def access_count(self, node: Store, var: str, width: int) -> int:
        """Accesses of as many elements as the widest vector has, in chunks of `width`."""
        found = [(node.tensor, node.indices)]
        found += [(r.tensor, r.indices) for r in dict.fromkeys(reads(node.value))]
        vector = (
            self.is_vector_access(self.write.place(tensor.name), indices, var, width)
            for tensor, indices in found
        )
        return sum(WIDEST // width if one else WIDEST for one in vector)

    def is_vector_store(self, node: Store, var: str, width: int) -> bool:
        """Whether the stored elements are one access."""
        place = self.write.place(node.tensor.name)
        return self.is_vector_access(place, node.indices, var, width)

    def is_vector_access(
        self, place: Place, indices: tuple[Expr, ...], var: str, width: int
    ) -> bool:
        return (
            place.space in (GLOBAL, SHARED)
            and self.write.dialect.vector(place.dtype, width) is not None
            and vectors.is_contiguous(place.flat(indices), var, width, self.forms)
        )

    def choice(self, node: Store, var: Var, start: Expr, width: int) -> None:
        """A chunk; a select that all its lanes decide alike (padding) becomes a branch."""
        value = node.value
        if not isinstance(value, Select) or not vectors.is_uniform(
            value.cond, var.name, width, self.forms
        ):
            self.chunk(node, var.name, start, width)
            return
        with self.out.scope(f"if ({self.write.text(substitute(value.cond, {var.name: start}))})"):
            self.choice(replace(node, value=value.a), var, start, width)
        with self.out.scope("else"):
            self.choice(replace(node, value=value.b), var, start, width)

    def chunk(self, node: Store, var: str, start: Expr, width: int) -> None:
        """The elements `start` to `start + width`: vector loads, their values, a vector store (or
        one of each element).
        """
        lanes = [{var: start + lane} for lane in range(width)]
        place = self.write.place(node.tensor.name)
        each = [place.flat(tuple(substitute(i, lane) for i in node.indices)) for lane in lanes]
        whole = self.is_vector_store(node, var, width)
        copied = whole and isinstance(node.value, Read) and node.value.tensor.dtype == place.dtype
        vector = ""
        for read in dict.fromkeys(vectors.certain_reads(node.value)):
            source = self.write.place(read.tensor.name)
            if self.is_vector_access(source, read.indices, var, width):
                vector = self.vector_load(read, source, lanes, copied)
        first = self.write.at(place, each[0])
        if copied and vector:
            args = (place.name, place.space, place.dtype, width, first)
            self.out.line(f"{self.write.dialect.vector_at(*args, constant=False)} = {vector};")
        else:
            texts = [self.value(substitute(node.value, lane)) for lane in lanes]
            if whole:
                self.vector_types(place.dtype, width)
                stored = (place.name, place.space, place.dtype, first, texts)
                self.out.line(self.write.dialect.vector_store(*stored))
            else:
                for index, text in zip(each, texts, strict=True):
                    self.out.line(self.write.assignment(place, self.write.at(place, index), text))
        self.write.loaded.clear()

    def value(self, e: Expr) -> str:
        """The text of one element's value."""
        with self.write.naming(e, self.variable):
            return self.write.text(e)

    def variable(self, kind: str, value: str) -> str:
        """The name of a new variable that holds part of a value."""
        name = self.names.new("part")
        self.out.line(f"const {kind} {name} = {value};")
        return name

    def vector_load(
        self, read: Read, place: Place, lanes: list[dict[str, Expr]], copied: bool
    ) -> str:
        """Load the elements of all lanes; returns the vector's name."""
        name, width = self.names.new(f"{place.name}_v"), len(lanes)
        each = [place.flat(tuple(substitute(i, lane) for i in read.indices)) for lane in lanes]
        for i, index in enumerate(each):
            lane = self.write.dialect.lane(name, place.dtype, i, width)
            self.write.loaded[read.tensor.name, index] = lane
        self.vector_types(place.dtype, width)
        first = self.write.at(place, each[0])
        args = (place.name, place.space, place.dtype, width, first, copied)
        kind, value = self.write.dialect.vector_load(*args)
        self.out.line(f"const {kind} {name} = {value};")
        return name

    def vector_types(self, dtype: DType, width: int) -> None:
        """Note the definition of a vector type, where the language has none."""
        definition = self.write.dialect.vector_definition(dtype, width)
        if definition:
            self.write.helpers[str(self.write.dialect.vector(dtype, width))] = definition
