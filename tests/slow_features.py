"""The features of one concrete program, by plain Python: what `space.features` must equal.

    slow_features(state, program, line_bytes)["conv2d"]["float_mad"]

It walks the lowered program, in which loops of extent 1 have vanished. How far an index moves is
found by evaluating it; nothing here knows of sketches, masks or columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod
from types import MappingProxyType

from tilewright.expr.nodes import (
    COMPARISONS,
    Binary,
    Call,
    Const,
    Expr,
    Read,
    Reduce,
    Select,
    Tensor,
    Var,
)
from tilewright.expr.traversal import children, free_vars, walk
from tilewright.nest.nodes import Alloc, For, If, Kind, Node, Program, Seq, Store
from tilewright.schedule.state import State

PYTHON = {"add": "+", "sub": "-", "mul": "*", "floordiv": "//", "mod": "%"}
ROUNDING = ("neg", "abs", "not", "floor", "ceil", "round", "trunc")


@dataclass(frozen=True)
class Place:
    """A store with what encloses it, outermost first."""

    store: Store
    loops: tuple[For, ...]
    allocated: dict[str, int]

    @property
    def own(self) -> int:
        """How many loops stand outside the allocation of what is stored to."""
        return self.allocated.get(self.store.tensor.name, 0)


def places(
    node: Node, loops: tuple[For, ...] = (), allocated: Mapping[str, int] = MappingProxyType({})
) -> Iterator[Place]:
    """All stores under a node, in order."""
    match node:
        case Seq(body):
            for n in body:
                yield from places(n, loops, allocated)
        case If(_, body):
            yield from places(body, loops, allocated)
        case Alloc(tensor, _, body):
            yield from places(body, loops, {**allocated, tensor.name: len(loops)})
        case For():
            yield from places(node.body, (*loops, node), allocated)
        case Store():
            yield Place(node, loops, dict(allocated))


def slow_features(state: State, program: Program, line_bytes: int) -> dict[str, dict[str, float]]:
    """The columns that are not 0, unscaled, by statement: a stage's name, with `=` behind it for
    the statement that fills its accumulators.
    """
    found = list(places(program.body))
    touched: dict[str, int] = {}
    for p in found:
        for name in {t.name for t, _, _ in accesses(p.store)}:
            touched[name] = touched.get(name, 0) + 1
    slow = [Slow(state, p, line_bytes, touched) for p in found]
    return {s.name: s.columns() for s in slow}


def accesses(store: Store) -> list[tuple[Tensor, tuple[Expr, ...], str]]:
    """The store's target and its distinct reads: (tensor, indices, kind)."""
    reads = dict.fromkeys(x for x in walk(store.value) if isinstance(x, Read))
    kind = "write" if store.reduce is None else "update"
    found = [(store.tensor, store.indices, kind)]
    return found + [(r.tensor, r.indices, "read") for r in reads]


def as_python(e: Expr, names: dict[str, str]) -> str:
    """An index as a Python expression over `names`."""
    match e:
        case Const(value, _):
            return str(int(value))
        case Var(name, _):
            return names[name]
        case Binary(op, a, b) if op in ("min", "max"):
            return f"{op}({as_python(a, names)}, {as_python(b, names)})"
        case Binary(op, a, b):
            return f"({as_python(a, names)} {PYTHON[op]} {as_python(b, names)})"
    raise AssertionError(f"no plain index: {e}")


class Index:
    """One index of an access as a function of the loops around it."""

    def __init__(self, e: Expr, loops: tuple[For, ...]) -> None:
        used = free_vars(e)
        self.moved = [i for i, loop in enumerate(loops) if loop.var.name in used]
        self.extents = [int(loop.extent) for loop in loops]  # type: ignore[arg-type]
        names = {loops[i].var.name: f"v{i}" for i in self.moved}
        arguments = ", ".join(names.values())
        self.at: Callable[..., int] = eval(f"lambda {arguments}: {as_python(e, names)}")
        divides = any(isinstance(x, Binary) and x.op not in ("add", "sub", "mul") for x in walk(e))
        self.is_affine = not divides
        self.zero = self.at(*(0 for _ in self.moved))

    def coefficient(self, i: int) -> int:
        """How far one step of loop i goes."""
        return self.at(*(int(j == i) for j in self.moved)) - self.zero

    def width(self, over: set[int]) -> int:
        """Largest minus smallest value while the loops `over` run, all others at 0."""
        if self.is_affine:
            steps = [(i, self.coefficient(i)) for i in self.moved if i in over]
            return sum(abs(c) * (self.extents[i] - 1) for i, c in steps)
        ranges = [range(self.extents[i]) if i in over else range(1) for i in self.moved]
        values = [self.at(*v) for v in product(*ranges)]
        return max(values) - min(values)


class Slow:
    """One statement."""

    def __init__(self, state: State, p: Place, line_bytes: int, touched: dict[str, int]) -> None:
        self.state, self.place, self.line, self.touched = state, p, line_bytes, touched
        self.store, self.loops = p.store, p.loops
        self.extents = [int(loop.extent) for loop in p.loops]  # type: ignore[arg-type]
        self.L = len(self.loops)
        self.total = prod(self.extents)
        self.accesses = accesses(p.store)
        self.indices = [[Index(i, p.loops) for i in found] for _, found, _ in self.accesses]
        written = {n for i in self.store.indices for n in free_vars(i)}
        self.reduces = [
            self.store.reduce is not None and i >= p.own and loop.var.name not in written
            for i, loop in enumerate(p.loops)
        ]
        self.own = p.own

    @property
    def name(self) -> str:
        return self.store.tensor.name + "=" * self.is_init()

    # ---- tables over loops l.. ----------------------------------------------------------------

    def iterations(self, start: int) -> int:
        return prod(self.extents[start:])

    def span(self, b: int, d: int, start: int) -> int:
        """Indices of dimension d that access b reaches over loops `start`.., at most all."""
        full = int(self.accesses[b][0].shape[d])  # type: ignore[arg-type]
        return min(self.indices[b][d].width(set(range(start, self.L))) + 1, full)

    def footprint(self, b: int, start: int) -> int:
        return prod(self.span(b, d, start) for d in range(len(self.indices[b])))

    def level_bytes(self, start: int) -> int:
        return sum(self.footprint(b, start) * self.bytes(b) for b in range(len(self.accesses)))

    def bytes(self, b: int) -> int:
        return self.accesses[b][0].dtype.bytes

    def stride(self, b: int, loop: int) -> float:
        """Elements between the accesses of two iterations of a loop (on average)."""
        shape = [int(e) for e in self.accesses[b][0].shape]  # type: ignore[arg-type]
        steps = [prod(shape[d + 1 :]) for d in range(len(shape))]
        rows = zip(self.indices[b], steps, strict=True)
        return sum(i.width({loop}) * s for i, s in rows) / (self.extents[loop] - 1)

    # ---- columns ------------------------------------------------------------------------------

    def columns(self) -> dict[str, float]:
        found: dict[str, float] = {}
        for name, count in self.operations().items():
            found[name] = count * self.total
        for kind in (Kind.VECTOR, Kind.UNROLLED, Kind.PARALLEL):
            found |= self.annotation(kind)
        found |= self.buffers()
        found |= self.intensity()
        size = prod(int(e) for e in self.store.tensor.shape)  # type: ignore[arg-type]
        inner = self.iterations(self.own)
        found |= {
            "alloc_bytes": size * self.store.tensor.dtype.bytes,
            "alloc_count": self.total / inner,
            "alloc_inner": inner,
            "alloc_total": self.total / inner * size,
            "iterations": self.total,
            "loops": self.L,
            "unroll_step": self.unroll_step(),
            "streamed": self.state[self.store.tensor.name].marks.get("streamed", 0),
            "padding_waste": self.padding_waste(),
        }
        return found

    def is_init(self) -> bool:
        body = self.state[self.store.tensor.name].compute.body
        starts = isinstance(self.store.value, Const) and isinstance(body, Reduce)
        return self.store.reduce is None and starts

    def unroll_step(self) -> int:
        """The innermost pragma around the statement."""
        steps = [int(dict(loop.marks)["unroll_step"]) for loop in self.loops if loop.marks]  # type: ignore[arg-type]
        return steps[-1] if steps else 0

    def padding_waste(self) -> float:
        spatial = [e for e, r in zip(self.extents, self.reduces, strict=True) if not r]
        return max(prod(spatial) / self.footprint(0, 0) - 1, 0)

    def operations(self) -> dict[str, int]:
        """Floating-point operations from the nest; the others from the stage's own expression,
        because tiles change the arithmetic of indices."""
        counts: dict[str, int] = {}
        if self.is_init():
            return counts
        body = self.state[self.store.tensor.name].compute.body
        element = body.body if isinstance(body, Reduce) else body
        for e, floats in ((self.store.value, True), (element, False)):
            for name in map(operation, occurrences(e)):
                if name and name.startswith("float") == floats:
                    counts[name] = counts.get(name, 0) + 1
        if self.store.reduce is not None:
            kind = "float" if self.store.tensor.dtype.is_float else "int"
            if self.store.reduce == "sum" and operation(self.store.value) == f"{kind}_mul":
                counts[f"{kind}_mul"] -= 1
                counts[f"{kind}_mad"] = 1
            else:
                name = {"sum": "addsub", "prod": "mul"}.get(self.store.reduce, "cmp")
                counts[f"{kind}_{name}"] = counts.get(f"{kind}_{name}", 0) + 1
        return counts

    def annotation(self, kind: Kind) -> dict[str, float]:
        marked = [i for i, loop in enumerate(self.loops) if loop.kind is kind]
        name = kind.value
        if not marked:
            return {f"{name}_at_None": 1.0}
        reduction = [self.reduces[i] for i in marked]
        if any(reduction) and not all(reduction):
            place = "Mixed"
        else:
            inner, outer = marked[-1] == self.L - 1, marked[0] == 0
            where = "Inner" if inner else "Outer" if outer else "Middle"
            place = where + ("Reduce" if reduction[0] else "Spatial")
        return {
            f"{name}_loops": len(marked),
            f"{name}_product": prod(self.extents[i] for i in marked),
            f"{name}_innermost": self.extents[marked[-1]],
            f"{name}_at_{place}": 1.0,
        }

    def buffers(self) -> dict[str, float]:
        order = sorted(
            range(len(self.accesses)), key=lambda b: -self.footprint(b, 0) * self.bytes(b)
        )
        found: dict[str, float] = {}
        for place, b in enumerate(order[:5]):
            found |= {f"buffer{place}_{n}": v for n, v in self.buffer(b).items()}
        return found

    def buffer(self, b: int) -> dict[str, float]:
        tensor, _, kind = self.accesses[b]
        width = self.bytes(b)
        moving = [i for i in range(self.L) if self.stride(b, i) > 0]
        fixed = [i for i in range(self.L) if i not in moving]
        unique = self.footprint(b, 0) * width
        stride = self.stride(b, moving[-1]) if moving else 0.0
        runs = self.iterations(moving[-1] + 1) if moving else self.total
        amounts = {
            "bytes": self.total * width,
            "unique_bytes": unique,
            "lines": max(1.0, self.total / runs * min(1.0, stride * width / self.line)),
            "unique_lines": max(1.0, unique / min(self.line, self.run(b) * width)),
        }
        found: dict[str, float] = {f"is_{kind}": 1.0, "stride": stride, **amounts}
        if fixed:
            loop = fixed[-1]
            found["reuse_loop"] = 1.0
            found["reuse_distance"] = self.iterations(loop + 1)
            found["reuse_distance_bytes"] = self.level_bytes(loop + 1)
            found["reuse_count"] = self.extents[loop]
        else:
            found["reuse_serial" if self.touched[tensor.name] > 1 else "reuse_none"] = 1.0
        times = found.get("reuse_count", 0.5)
        return found | {f"{n}_per_reuse": v / times for n, v in amounts.items()}

    def run(self, b: int) -> int:
        """Elements of the longest contiguous stretch that the whole statement covers."""
        length = 1
        for d in reversed(range(len(self.indices[b]))):
            span = self.span(b, d, 0)
            length *= span
            if span < int(self.accesses[b][0].shape[d]):  # type: ignore[arg-type]
                break
        return length

    def intensity(self) -> dict[str, float]:
        counts = {n: c for n, c in self.operations().items() if n.startswith("float")}
        work = sum(c * (2 if n == "float_mad" else 1) for n, c in counts.items())
        levels = list(range(self.L - 1, -1, -1)) or [0]
        curve = [self.iterations(i) * work / self.level_bytes(i) for i in levels]
        found: dict[str, float] = {}
        for k in range(10):
            x = k / 9 * (len(curve) - 1)
            low = int(x)
            high = min(low + 1, len(curve) - 1)
            found[f"intensity_{k}"] = curve[low] + (curve[high] - curve[low]) * (x - low)
        return found


def occurrences(e: Expr) -> Iterator[Expr]:
    """All nodes, each as often as it stands in the expression."""
    yield e
    for c in children(e):
        yield from occurrences(c)


def operation(e: Expr) -> str | None:
    """The column that counts a node."""
    if isinstance(e, Select):
        return "select_ops"
    if not isinstance(e, Binary | Call):
        return None
    if isinstance(e, Binary) and e.op in ("and", "or"):
        return "bool_ops"
    kind = "float" if children(e)[0].dtype.is_float else "int"
    if isinstance(e, Call):
        return f"{kind}_other" if e.fn in ROUNDING else f"{kind}_math"
    if e.op in COMPARISONS or e.op in ("min", "max"):
        return f"{kind}_cmp"
    names = {"add": "addsub", "sub": "addsub", "mul": "mul"}
    return f"{kind}_{names.get(e.op, 'divmod')}"
