"""What a program takes of its device: named amounts, as expressions over its decisions.

    resources(program, target)    {("C", "registers"): …}                          a CPU
                                  {("D", "threads"): …, ("D", "shared"): …, …}     a GPU
    limits(amounts, target)       conditions that rows must satisfy
    runs_on(program, target)      whether a concrete program, found elsewhere, runs on this GPU

Constraints, reuse tuning and reports read them. As `cost.statements` does, loops and root nests are
named after the tensor they belong to.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

from tilewright.cost.statements import owners
from tilewright.expr.contraction.groups import narrow_factors
from tilewright.expr.dtypes import DType
from tilewright.expr.index.extents import add, ceildiv, maximum, mul
from tilewright.expr.index.simplify import affine
from tilewright.expr.nodes import Const, Expr, Extent, Tensor, as_expr, binary, select
from tilewright.expr.traversal import free_vars, reads
from tilewright.nest.gpu.workers import kernels
from tilewright.nest.nodes import THREADS, Alloc, For, Kind, Node, Program, Scope, Store, walk
from tilewright.target import CpuTarget, GpuTarget, Target
from tilewright.target.dots import dot_of, tiles_of

Amounts: TypeAlias = dict[tuple[str, str], Extent]  # by whose it is, and of what
IN_FLIGHT = 2  # products that are computed while others are added


def resources(program: Program, target: Target) -> Amounts:
    """Named amounts of one program."""
    found: Amounts = {}
    for root in kernels(program.body):
        nest = _Nest.of(root)
        if isinstance(target, CpuTarget):
            found |= _cpu(nest, target)
        else:
            assert isinstance(target, GpuTarget)
            found |= _gpu(nest, target)
    return found


def limits(amounts: Amounts, target: Target) -> list[Expr]:
    """The conditions under which the device has that much."""
    return [as_expr(amount) <= limit_of(what, target) for (_, what), amount in amounts.items()]


def limit_of(what: str, target: Target) -> int:
    """The greatest amount of a resource."""
    if isinstance(target, CpuTarget):
        return target.vector_registers
    assert isinstance(target, GpuTarget)
    return {
        "threads": target.threads,
        "virtual": target.virtual,
        "shared": target.most_shared_bytes,
        "registers": target.thread_registers,
        "block_registers": target.registers,
    }[what]


IMPOSSIBLE = ("threads", "shared")  # limits beyond which a program does not run at all


def runs_on(program: Program, target: GpuTarget) -> bool:
    """Whether a device has what a concrete program takes."""
    return all(
        isinstance(amount, int) and amount <= limit_of(what, target)
        for (_, what), amount in resources(program, target).items()
        if what in IMPOSSIBLE
    )


@dataclass
class _Nest:
    """A root nest: its loops by owner and variable, its allocations and stores, all in order."""

    loops: dict[str, dict[str, For]] = field(default_factory=dict)
    allocs: list[Alloc] = field(default_factory=list)
    stores: list[Store] = field(default_factory=list)

    @staticmethod
    def of(root: Node) -> _Nest:
        found = _Nest()
        belongs = owners(root)
        for node in walk(root):
            match node:
                case For(var):
                    found.loops.setdefault(belongs[var.name], {}).setdefault(var.name, node)
                case Alloc():
                    found.allocs.append(node)
                case Store():
                    found.stores.append(node)
        return found

    @property
    def name(self) -> str:
        return self.stores[-1].tensor.name

    def of_store(self, store: Store) -> list[For]:
        """The loops that belong to what `store` writes."""
        return list(self.loops.get(store.tensor.name, {}).values())


def _reduces(store: Store, loop: For) -> bool:
    return loop.var.name not in {name for i in store.indices for name in free_vars(i)}


# ---- CPUs -----------------------------------------------------------------------------------


def _cpu(nest: _Nest, target: CpuTarget) -> Amounts:
    """`registers` of a tensor: vector registers that a register tile takes, its accumulators, one
    row of the other operand and a broadcast. Only where tiles are decisions: code generation
    cuts a vector loop that nobody split. A reduction whose loops are all unrolled (Ansor's rule
    for constant tensors) carries no accumulators through a loop.
    """
    found: Amounts = {}
    for store in nest.stores:
        loops = nest.of_store(store)
        marked = [loop for loop in loops if loop.kind in (Kind.VECTOR, Kind.UNROLLED)]
        running = [loop for loop in loops if loop not in marked and _reduces(store, loop)]
        if store.reduce is None or not running or not _is_tiled(store, loops):
            continue
        vectors: Extent = 1
        rows = []
        for loop in marked:
            if _reduces(store, loop):
                continue
            if loop.kind is Kind.VECTOR:
                vectors = ceildiv(loop.extent, target.lanes(store.tensor.dtype))
            else:
                rows.append(loop)
        taken = add(add(mul(_together(rows), vectors), vectors), 1 + _products(store, target))
        found[store.tensor.name, "registers"] = _or_tiles(taken, rows, loops, store, target)
    return found


def _products(store: Store, target: CpuTarget) -> int:
    """Registers of products on their way to the sums: none where one instruction does both."""
    factors = narrow_factors(store.value)
    dot = factors and dot_of(target, *(read.tensor.dtype.name for read in factors))
    return IN_FLIGHT if dot and dot.words else 0


def _or_tiles(
    taken: Extent, rows: list[For], loops: list[For], store: Store, target: CpuTarget
) -> Extent:
    """`taken` vectors, or where sums of dots stay in tile registers (AMX) as large a share of
    these; `rows` are the unrolled loops over a sum, of which the last runs along a tile's rows.
    """
    factor = next((r.tensor.dtype.name for r in reads(store.value)), "")
    registers = tiles_of(target, factor)
    depth = [loop for loop in loops if _reduces(store, loop)]
    columns = [as_expr(loop.extent) for loop in loops if loop.kind is Kind.VECTOR]
    if registers is None or len(columns) != 1 or len(depth) < 2 or not rows:
        return taken
    if depth[-1].kind is not Kind.DOT:
        return taken
    height = _largest_divisor(as_expr(rows[-1].extent), registers.rows)
    steps = _largest_divisor(as_expr(depth[-2].extent), registers.rows)
    width = binary("min", columns[0], as_expr(registers.columns))
    down = as_expr(_together(rows)) // height
    across = columns[0] // width
    tiles = down * across + binary("min", down, across) + 1
    whole = (tiles <= registers.count) & (columns[0] > 1) & (columns[0] % width <= 0)
    whole = whole & (height >= registers.least) & (steps >= registers.least)
    return select(whole, tiles * (target.vector_registers // registers.count), as_expr(taken))


def _together(loops: list[For]) -> Extent:
    """Iterations of nested loops."""
    total: Extent = 1
    for loop in loops:
        total = mul(total, loop.extent)
    return total


def _largest_divisor(extent: Expr, most: int) -> Expr:
    """Of an extent, at most `most`."""
    found = as_expr(1)
    for d in range(2, most + 1):
        found = select(extent % d <= 0, as_expr(d), found)
    return found


def _is_tiled(store: Store, loops: list[For]) -> bool:
    """Whether a decision says how far one of the loops moves what is written: it then walks over
    tiles.
    """
    names = [loop.var.name for loop in loops]
    moves = (affine(index, names) for index in store.indices)
    return any(not isinstance(e, Const) for found in moves if found for e in found[0].values())


# ---- GPUs -----------------------------------------------------------------------------------

SPARE_REGISTERS = 24  # of a thread: addresses, loop counters, operands in flight
REGISTER_BITS = 32


def _gpu(nest: _Nest, target: GpuTarget) -> Amounts:
    """`threads` of a block, `shared` bytes, `virtual` threads of each thread, `registers` of a
    thread (what it keeps privately and some to spare) and `block_registers` of all threads where
    the device says how many there are.
    """
    threads = _largest(nest, THREADS)
    virtual = _largest(nest, (Kind.VIRTUAL,))
    private: Extent = SPARE_REGISTERS
    for alloc in nest.allocs:
        if alloc.scope is Scope.LOCAL:
            words = ceildiv(_bytes(alloc.tensor), REGISTER_BITS // 8)
            private = add(private, mul(words, virtual))
    combining = mul(threads, sum(t.bytes for t in _combined_types(nest)))
    found: dict[str, Extent] = {
        "threads": threads,
        "virtual": virtual,
        "shared": add(_shared_bytes(nest), combining),
        "registers": private,
    }
    if target.registers:
        found["block_registers"] = mul(private, threads)
    return {(nest.name, what): amount for what, amount in found.items()}


def _bytes(tensor: Tensor) -> Extent:
    size: Extent = tensor.dtype.bytes
    for extent in tensor.shape:
        size = mul(size, extent)
    return size


def _shared_bytes(nest: _Nest) -> Extent:
    """Bytes of the shared tensors: of those with one slot, the largest counts."""
    places: dict[str | int, Extent] = {}
    for alloc in nest.allocs:
        if alloc.scope is Scope.SHARED:
            size = _bytes(alloc.tensor)
            place = alloc.tensor.name if alloc.slot is None else alloc.slot
            places[place] = maximum(places[place], size) if place in places else size
    return _sum(places.values())


def _sum(amounts: Iterable[Extent]) -> Extent:
    total: Extent = 0
    for amount in amounts:
        total = add(total, amount)
    return total


def _combined_types(nest: _Nest) -> set[DType]:
    """In which types threads are combined: each takes an element of shared memory a thread (but
    where shuffles do it, which depends on how many threads there are).
    """
    return {
        store.tensor.dtype.compute
        for store in nest.stores
        if store.reduce is not None
        and any(loop.kind in THREADS and _reduces(store, loop) for loop in nest.of_store(store))
    }


def _largest(nest: _Nest, kinds: tuple[Kind, ...]) -> Extent:
    """Iterations of the loops of `kinds`: those of the outermost owner that has some."""
    for loops in nest.loops.values():
        extents = [loop.extent for loop in loops.values() if loop.kind in kinds]
        if extents:
            total: Extent = 1
            for extent in extents:
                total = mul(total, extent)
            return total
    return 1
