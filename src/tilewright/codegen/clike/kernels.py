"""One kernel as C text: the loops, threads, barriers and storage of one root nest.

    write_kernel("gemm", nest, places, dialect, names)      text, blocks, threads, arguments

Worker loops become index arithmetic (`const int D_i0_2 = (int)threadIdx.x / 16;`), everything else
the C that it looks like; names of axes survive.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from math import prod

from tilewright.codegen.clike import combine
from tilewright.codegen.clike.calls import awaited, call_text, ends_groups, named, windows
from tilewright.codegen.clike.chunks import VectorLoops
from tilewright.codegen.clike.dialect import PRIVATE, SHARED, TABLE, Dialect
from tilewright.codegen.clike.expressions import UNARY, Expressions, Place, element_count
from tilewright.codegen.clike.lines import INDENT, Lines, Names
from tilewright.codegen.clike.shared import SharedMemory
from tilewright.codegen.clike.tensor_maps import TensorMaps
from tilewright.codegen.clike.unroll import Unrolling
from tilewright.codegen.passes.size import BUDGET
from tilewright.contract.artifact import TensorMap
from tilewright.contract.formulas import Formula
from tilewright.contract.sizes import Sizes
from tilewright.expr.dtypes import FLOAT32
from tilewright.expr.index.affine import Affine, AffineForms
from tilewright.expr.index.extents import mul, product
from tilewright.expr.index.intervals import Interval
from tilewright.expr.nodes import Expr, Extent, Read, Shape, Tensor, as_expr
from tilewright.expr.sizes import formula_of, most, ranges_of
from tilewright.expr.tensors import memory_of
from tilewright.expr.traversal import reads
from tilewright.ground.errors import BuildError
from tilewright.nest.gpu.swizzle import Swizzle
from tilewright.nest.gpu.workers import Team, concrete_extents, perfect_nest, thread_counts
from tilewright.nest.nodes import (
    THREADS,
    Alloc,
    Barrier,
    For,
    If,
    Instruction,
    Kind,
    Node,
    Scope,
    Seq,
    Store,
    expressions,
    walk,
)


@dataclass(frozen=True, slots=True)
class KernelText:
    """A kernel's text and how to launch it; `arguments` are the tensors it takes, in order, then
    `maps`; `dtypes` are those of all tensors that it names. `count` says how many blocks there are
    where sizes do.
    """

    name: str
    text: str
    blocks: int
    threads: tuple[int, int]
    arguments: tuple[str, ...]
    shared_bytes: int
    dynamic_bytes: int
    helpers: Mapping[str, str]
    dtypes: frozenset[str]
    maps: tuple[TensorMap, ...] = ()
    count: Formula = 0


class KernelSizes:
    """The sizes of a program: what its kernels call them, and their ranges."""

    def __init__(self, sizes: Sizes, names: Names) -> None:
        self.sizes, self.ranges = sizes, ranges_of(sizes)
        self.names = {s.name: names.new(s.name) for s in sizes}


def write_kernel(
    name: str,
    root: Node,
    places: Mapping[str, Place],
    dialect: Dialect,
    names: Names,
    sizes: KernelSizes,
) -> KernelText:
    """Write one root nest. `places` are the tensors outside of it, by name."""
    return _KernelWriter(root, places, dialect, names, sizes).kernel(name)


def row_major(
    tensor: Tensor, offset: tuple[Expr, ...], forms: AffineForms, extents: Shape | None = None
) -> _Flat:
    """How indices of a tensor become one, from where its window starts: by its shape, or by the
    `extents` that memory has in a call.
    """
    shape = tuple(e for e in tensor.shape if isinstance(e, int))
    if len(shape) != tensor.rank:
        raise BuildError(f"{tensor.name} has the symbolic shape {tensor.shape}; it must be ints")
    return _Flat(shape, extents or shape, offset, forms)


@dataclass(frozen=True, slots=True)
class _Flat:
    shape: tuple[int, ...]
    extents: Shape
    offset: tuple[Expr, ...]
    forms: AffineForms

    def __call__(self, indices: tuple[Expr, ...]) -> Expr:
        total = Affine(0)
        for d, index in enumerate(indices):
            local = self.forms.of(index)
            if self.offset:
                local = local.plus(self.forms.of(self.offset[d]), -1)
            extent = self.forms.of(as_expr(self.extents[d]))
            total = self.forms.product(total, extent).plus(local)
        return self.forms.expr(total)


@dataclass
class _KernelWriter:
    root: Node
    outside: Mapping[str, Place]
    dialect: Dialect
    names: Names
    sizes: KernelSizes
    out: Lines = field(default_factory=Lines)

    def __post_init__(self) -> None:
        self.line, self.scope = self.out.line, self.out.scope
        self.forms = AffineForms()
        self.blocks: tuple[For, ...] = ()
        self.body = self.root
        if isinstance(self.root, For) and self.root.kind is Kind.BLOCK:
            self.blocks, self.body = perfect_nest(self.root)
        self.counts = {k: n for k, n in thread_counts(self.body).items() if n > 1}
        self.places = dict(self.outside)
        self.loop_names = dict(self.sizes.names)
        self.ranges = dict(self.sizes.ranges)
        self.windows = windows(self.root)
        self.awaited = awaited(self.root)
        self.fragments = frozenset(
            r.tensor.name for n in walk(self.root) if isinstance(n, Instruction) for r in named(n)
        )
        self.shared = SharedMemory(self.dialect, self.names)
        self.maps = TensorMaps(self.names)
        self.scratch: dict[str, str] = {}
        self.helpers: dict[str, str] = {}
        self.write = Expressions(
            self.dialect, self.places, self.loop_names, self.ranges, self.helpers
        )
        self.chunks = VectorLoops(self.write, self.names, self.forms, self.out)
        self.unrolling = Unrolling(self.root)
        if self.unrolling.statements > BUDGET.device_kernel:
            raise BuildError(
                f"a kernel would become {self.unrolling.statements} statements, more than "
                f"{BUDGET.device_kernel}; unroll less or use smaller tiles"
            )

    # ---- the whole kernel -------------------------------------------------------------------

    def kernel(self, name: str) -> KernelText:
        touched = {t.name: t for t in _tensors(self.root)}
        arguments = tuple(n for n in self.outside if n in touched and n not in self._tables())
        written = {n.tensor.name for n in walk(self.root) if isinstance(n, Store)}
        threads = self.counts.get(Kind.THREAD_X, 1), self.counts.get(Kind.THREAD_Y, 1)
        self.indices(self.blocks, self.dialect.block_index)
        self.visit(self.body, Team(), frozenset())
        body = self.out.taken()
        for text in self.shared.lines():
            self.line(text)
        if self.shared.dynamic_bytes:
            self.helpers["tw_dynamic_shared"] = self.dialect.dynamic_shared
        listed = [self.parameter(n, n in written) for n in arguments]
        listed += [self.dialect.tensor_map.format(n) for n in self.maps.parameters]
        listed += [f"const int {n}" for n in self.sizes.names.values()]
        parameters = ",\n".join(INDENT + text for text in listed)
        head = f"{self.dialect.kernel_head(threads)}\n{name}(\n{parameters})\n{{"
        text = "\n".join([head, *self.out.lines, *body, "}"]) + "\n"
        blocks = product(loop.extent for loop in self.blocks)
        return KernelText(
            name=name,
            text=text,
            blocks=most(blocks, self.sizes.sizes),
            count=0 if isinstance(blocks, int) else formula_of(blocks, self.sizes.sizes),
            threads=threads,
            arguments=arguments,
            shared_bytes=self.shared.bytes,
            dynamic_bytes=self.shared.dynamic_bytes,
            helpers=self.helpers,
            dtypes=frozenset(t.dtype.name for t in touched.values()),
            maps=self.maps.of(arguments),
        )

    def _tables(self) -> set[str]:
        return {n for n, p in self.outside.items() if p.space == TABLE}

    def parameter(self, name: str, written: bool) -> str:
        place = self.outside[name]
        pointer = self.dialect.pointer(self.dialect.storage(place.dtype), place.space)
        constant = "" if written else "const "
        return f"{constant}{pointer} {self.dialect.restrict} {place.name}"

    # ---- workers ----------------------------------------------------------------------------

    def indices(self, loops: tuple[For, ...], worker: str) -> None:
        """The loops of a perfect nest of workers as digits of the worker's number."""
        stride: Extent = 1
        texts = []
        for loop in reversed(loops):
            name = self.enter(loop)
            digit = worker if stride == 1 else f"{worker} / {self.extent(stride)}"
            outermost = loop is loops[0]
            within = digit if outermost else f"{digit} % {self.extent(loop.extent)}"
            texts.append(f"const int {name} = {within};")
            stride = mul(stride, loop.extent)
        for text in reversed(texts):
            self.line(text)

    def enter(self, loop: For) -> str:
        """The C name of a loop's variable, whose range is known from here on."""
        self.ranges[loop.var.name] = Interval(0, most(loop.extent, self.sizes.sizes) - 1)
        if loop.var.name not in self.loop_names:
            self.loop_names[loop.var.name] = self.names.new(loop.var.name)
        return self.loop_names[loop.var.name]

    def extent(self, extent: Extent) -> str:
        """An extent as an operand."""
        return self.write.text(as_expr(extent), UNARY)

    # ---- nodes ------------------------------------------------------------------------------

    def visit(self, node: Node, team: Team, alone: frozenset[Kind]) -> None:
        """`alone` are the dimensions of which only thread 0 comes here."""
        missing = [
            kind
            for kind in self.counts
            if kind not in team.threads and kind not in alone and not _needs(node, kind)
        ]
        if missing and not isinstance(node, Barrier):
            test = " && ".join(f"{self.dialect.thread_index[kind]} == 0" for kind in missing)
            with self.scope(f"if ({test})"):
                self.visit(node, team, alone | frozenset(missing))
            return
        inner = team.entering(node, self.counts)
        match node:
            case Seq(body):
                for b in body:
                    self.visit(b, team, alone)
            case For() if node.kind in THREADS:
                self.threads(node, team, inner, alone)
            case For() if node.kind is Kind.VECTOR:
                self.vector(node, inner, alone)
            case For():
                self.loop(node, inner, alone)
            case If() if team.is_predicated(node):
                self.predicated(node, team)
            case If(cond, body):
                with self.scope(f"if ({self.write.text(cond)})"):
                    self.visit(body, inner, alone)
            case Alloc():
                self.alloc(node)
                self.visit(node.body, inner, alone)
            case Store():
                self.store(node, team)
            case Instruction():
                self.instruction(node)
            case Barrier():
                shared_only = not self._global_traffic()
                barrier = self.dialect.barrier if shared_only else self.dialect.barrier_global
                self.line(barrier)
            case _:
                raise BuildError(f"a {type(node).__name__} needs a concrete nest to compile")

    def _global_traffic(self) -> bool:
        """Whether the kernel reads what it wrote to device memory: barriers order that too."""
        written = {n.tensor.name for n in walk(self.root) if isinstance(n, Store)}
        read = {
            r.tensor.name for n in walk(self.root) if isinstance(n, Store) for r in reads(n.value)
        }
        return bool(written & read & set(self.outside))

    def threads(self, node: For, team: Team, inner: Team, alone: frozenset[Kind]) -> None:
        if inner is team:
            raise BuildError(f"the loops of {node.var.name} are not a perfect nest")
        loops, body = perfect_nest(node)
        worker = self.dialect.thread_index[node.kind]
        count = prod(concrete_extents(loops))
        guard = f"if ({worker} < {count})" if count < self.counts.get(node.kind, 1) else ""
        # the names of a nest that comes again (of a reduction's start, then its terms) stand apart
        again = any(loop.var.name in self.loop_names for loop in loops)
        with self.scope(guard) if guard or again else nullcontext():
            self.indices(loops, worker)
            self.visit(body, inner, alone)

    def loop(self, node: For, team: Team, alone: frozenset[Kind]) -> None:
        factor = self.unrolling.factor(node)
        self.line("#pragma unroll" + (f" {factor}" if factor != node.extent else ""))
        name = self.enter(node)
        with self.scope(f"for (int {name} = 0; {name} < {self.extent(node.extent)}; ++{name})"):
            self.visit(node.body, team, alone)
        if self.dialect.parts_at_ends and self.sizes.sizes and _waits(node, team):
            self.line(self.dialect.barrier)

    def alloc(self, node: Alloc) -> None:
        tensor = node.tensor
        name = self.names.new(tensor.name)
        space = SHARED if node.scope is Scope.SHARED else PRIVATE
        flat = row_major(tensor, node.offset, self.forms)
        swizzle = Swizzle.of(tensor) if node.swizzled else None
        self.places[tensor.name] = Place(name, space, tensor.dtype, flat, swizzle)
        if space == SHARED:
            self.shared.add(name, tensor, node.slot, tensor.name in self.windows)
            return
        kind = self.dialect.element(tensor.dtype)
        aligned = self.dialect.aligned if tensor.name in self.fragments else ""
        self.line(f"{aligned}{kind} {name}[{element_count(tensor)}];")

    # ---- statements -------------------------------------------------------------------------

    def instruction(self, node: Instruction) -> None:
        """A call of the wrapper of an instruction."""
        dtypes = [r.tensor.dtype for r in named(node)] or [FLOAT32]
        self.helpers.update(self.dialect.instructions(node.name, dtypes[-1]))
        self.line(call_text(node, self.write, self.maps))
        for name, tensor in self.awaited.items() if ends_groups(node) else ():
            count = element_count(tensor)
            self.line(f"tw_wgmma_sums<{count}>({self.write.place(name).name});")

    def store(self, node: Store, team: Team) -> None:
        place = self.write.place(node.tensor.name)
        index = self.write.at(place, place.flat(node.indices))
        combined = tuple(kind for kind in team.combined(node) if kind in self.counts)
        value = self.chunks.value(node.value)
        if combined:
            self.combined(node, place, index, combined, value, "")
            return
        self.line(self.update(node, place, index, value))

    def predicated(self, node: If, team: Team) -> None:
        """A combined reduction: where the conditions do not hold, a thread adds nothing."""
        conds: list[Expr] = []
        inner: Node = node
        while isinstance(inner, If):
            conds.append(inner.cond)
            inner = inner.body
        assert isinstance(inner, Store) and inner.reduce is not None
        test = " && ".join(self.write.text(c, 3) for c in conds)
        kinds = tuple(kind for kind in team.combined(inner) if kind in self.counts)
        place = self.write.place(inner.tensor.name)
        index = self.write.at(place, place.flat(inner.indices))
        neutral = combine.neutral(self.write, inner.reduce, inner.tensor.dtype.compute)
        with self.write.naming(inner.value, self.chunks.variable, certain=False):
            value = f"{test} ? {self.write.text(inner.value, 1)} : {neutral}"
        if kinds:
            self.combined(inner, place, index, kinds, value, test)
            return
        with self.scope(f"if ({test})"):
            self.store(inner, team)

    def update(self, node: Store, place: Place, index: str, value: str) -> str:
        """The assignment or the update of one element."""
        if node.reduce is None:
            return self.write.assignment(place, index, value)
        if node.reduce in ("sum", "prod") and place.dtype == place.dtype.compute:
            sign = "+" if node.reduce == "sum" else "*"
            return f"{place.name}[{index}] {sign}= {value};"
        old = self.write.element(place, index)
        new = combine.pair(self.write, node.reduce, node.tensor.dtype.compute, old, value)
        return self.write.assignment(place, index, new)

    def combined(
        self,
        node: Store,
        place: Place,
        index: str,
        kinds: tuple[Kind, ...],
        value: str,
        condition: str,
    ) -> None:
        """A reduction over threads: shuffles within a warp, shared memory beyond it. The result is
        stored where `condition` holds.
        """
        if kinds != tuple(k for k in THREADS if k in self.counts) and kinds != (Kind.THREAD_X,):
            raise BuildError(f"threads are combined along thread.x or all together, not {kinds}")
        assert node.reduce is not None
        dtype = node.tensor.dtype.compute
        partial = self.names.new(f"{node.tensor.name}_partial")
        self.line(f"{self.write.type_of(dtype)} {partial} = {value};")
        count = prod(self.counts[k] for k in kinds)
        group = combine.CombinedThreads(
            count, prod(self.counts.values()), kinds == (Kind.THREAD_X,)
        )
        scratch = ""
        if group.needs_scratch(self.dialect):
            # all combinations of a kernel use the same, each begins with a barrier
            scratch = self.scratch.get(dtype.name, "")
            if not scratch:
                scratch = self.scratch[dtype.name] = self.names.new(f"{node.tensor.name}_threads")
                self.shared.add(scratch, Tensor(scratch, (group.threads,), dtype))
        for text in combine.over_threads(
            self.write, node.reduce, dtype, partial, scratch, group, self.thread_number()
        ):
            self.line(text)
        tests = [f"{self.dialect.thread_index[kind]} == 0" for kind in kinds]
        tests += [condition] if condition else []
        with self.scope(f"if ({' && '.join(tests)})"):
            self.line(self.update(node, place, index, partial))

    def thread_number(self) -> str:
        """The thread's number in its block, x fastest."""
        x, y = (self.dialect.thread_index[k] for k in THREADS)
        if Kind.THREAD_Y not in self.counts:
            return x
        return f"({y} * {self.counts.get(Kind.THREAD_X, 1)} + {x})"

    def vector(self, node: For, team: Team, alone: frozenset[Kind]) -> None:
        """A vector loop: accesses of several elements, or a loop like others."""
        name = self.enter(node)
        if self.chunks.written(node, name):
            return
        self.line("#pragma unroll")
        with self.scope(f"for (int {name} = 0; {name} < {node.extent}; ++{name})"):
            self.visit(node.body, team, alone)


def _waits(node: Node, team: Team) -> bool:
    """Whether threads wait for each other in a node that has conditions."""
    every = [*walk(node)]
    together = (
        isinstance(n, Barrier) or (isinstance(n, Store) and team.combined(n)) for n in every
    )
    return any(together) and any(isinstance(n, If) for n in every)


def _needs(node: Node, kind: Kind) -> bool:
    """Whether all threads of a dimension must come to a node."""
    return any(
        isinstance(n, Barrier) or (isinstance(n, For) and n.kind is kind) for n in walk(node)
    )


def _tensors(root: Node) -> Iterator[Tensor]:
    """Every tensor that a nest names."""
    for n in walk(root):
        match n:
            case Store(tensor) | Alloc(tensor) | Instruction(_, Read(tensor)):
                yield tensor
        yield from (memory_of(r.tensor) for e in expressions(n) for r in reads(e))
