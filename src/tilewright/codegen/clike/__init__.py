"""Loop nest to C for GPUs, in several dialects from one printer.

    kernel = emit(program, dialect_of(target))      kernel.ir, kernel.launches

Every root nest of the program becomes a kernel; kernels run in order, and what they pass on to
each other lives in device memory (`kernel.scratch_bytes`).
"""

from __future__ import annotations

from math import prod

from tilewright.codegen import Kernel
from tilewright.codegen.clike.dialect import GLOBAL, TABLE, Dialect
from tilewright.codegen.clike.expressions import Expressions, Place, element_count
from tilewright.codegen.clike.kernels import KernelSizes, KernelText, row_major, write_kernel
from tilewright.codegen.clike.lines import Names
from tilewright.codegen.passes import gpu_passes, passed
from tilewright.codegen.passes.varying import laid_out
from tilewright.codegen.rewrite import is_empty
from tilewright.contract.artifact import DEVICE_ALIGNMENT, Launch, aligned
from tilewright.expr.index.affine import AffineForms
from tilewright.expr.nodes import Const, Shape, Tensor
from tilewright.expr.sizes import stored_extents
from tilewright.expr.tensors import Table
from tilewright.ground.errors import BuildError
from tilewright.nest.gpu.workers import kernels
from tilewright.nest.nodes import Alloc, Node, Program, Scope, Seq
from tilewright.target import Target

MOST_ELEMENTS = 2**31 - 1  # of one array: indices are int


def dialect_of(target: Target) -> Dialect:
    """The language a target is programmed in. Raises BuildError for one that takes no C."""
    part = target.backend.dialect
    if part is None:
        raise BuildError(f"{target.kind} devices are not programmed in C")
    dialect: Dialect = part.load()()
    return dialect


def compiled(program: Program, target: Target, prefetch: int) -> Kernel:
    """The source for a target; devices fetch nothing ahead."""
    return emit(program, dialect_of(target))


def emit(program: Program, dialect: Dialect) -> Kernel:
    """Write all kernels of a concrete program. Raises BuildError for what devices cannot do."""
    interface = (*program.inputs, *program.constants, *program.outputs)
    varying = frozenset(t.name for t in interface if any(not isinstance(e, int) for e in t.shape))
    extents = {t.name: stored_extents(t, program.sizes) for t in interface}
    program = laid_out(program) if program.sizes else program
    body = passed(program, gpu_passes(program.sizes, varying)).body
    names, forms = Names(), AffineForms()
    places: dict[str, Place] = {}
    for tensor in (*program.inputs, *program.constants, *program.outputs):
        places[tensor.name] = _place(tensor, GLOBAL, names, forms, extents=extents[tensor.name])
    tables = [_table(t, places, names, forms, dialect) for t in program.tables]
    scratch, scratch_bytes = _scratch(body)
    for alloc, _ in scratch.values():
        places[alloc.tensor.name] = _place(alloc.tensor, GLOBAL, names, forms, alloc)
    sizes = KernelSizes(program.sizes, names)
    written = [
        write_kernel(names.new(f"{program.name}_{i}"), root, places, dialect, names, sizes)
        for i, root in enumerate(kernels(body))
        if not is_empty(root)
    ]
    buffers = [t.name for t in (*program.inputs, *program.constants, *program.outputs)]
    where = {name: i for i, name in enumerate(buffers)}
    where |= {name: -1 - offset for name, (_, offset) in scratch.items()}
    launches = tuple(
        Launch(
            k.name, k.blocks, k.threads, tuple(where[a] for a in k.arguments), k.shared_bytes,
            k.dynamic_bytes, maps=k.maps, sizes=tuple(range(len(program.sizes))), count=k.count,
        )
        for k in written
    )  # fmt: skip
    text = _text(written, tables, dialect)
    return Kernel(program.name, text, text.encode(), scratch_bytes, launches=launches)


def _text(written: list[KernelText], tables: list[str], dialect: Dialect) -> str:
    helpers = {name: text for k in written for name, text in k.helpers.items()}
    kernels_text = [k.text for k in written]
    preamble = dialect.preamble({dtype for k in written for dtype in k.dtypes})
    parts = [*preamble, *helpers.values(), *tables, *kernels_text]
    return "\n".join(part.rstrip("\n") + "\n" for part in parts)


def _place(
    tensor: Tensor,
    space: str,
    names: Names,
    forms: AffineForms,
    alloc: Alloc | None = None,
    extents: Shape | None = None,
) -> Place:
    flat = row_major(tensor, alloc.offset if alloc is not None else (), forms, extents)
    if prod(flat.shape) > MOST_ELEMENTS:
        raise BuildError(f"{tensor.name} has more than {MOST_ELEMENTS} elements")
    return Place(names.new(tensor.name), space, tensor.dtype, flat)


def _table(
    tensor: Tensor, places: dict[str, Place], names: Names, forms: AffineForms, dialect: Dialect
) -> str:
    """The definition of a table of constants."""
    assert isinstance(tensor.source, Table)
    place = _place(tensor, TABLE, names, forms)
    places[tensor.name] = place
    write = Expressions(dialect, {}, {}, {})
    values = tensor.source.values.reshape(-1).tolist()
    listed = ", ".join(write.literal(Const(v, tensor.dtype)) for v in values)
    kind = dialect.storage(tensor.dtype)
    return f"{dialect.table} {kind} {place.name}[{len(values)}] = {{{listed}}};"


def _scratch(body: Node) -> tuple[dict[str, tuple[Alloc, int]], int]:
    """Arrays between kernels with their byte offsets, and the size of all of them."""
    found: dict[str, tuple[Alloc, int]] = {}
    end = 0
    for alloc in _between_kernels(body):
        found[alloc.tensor.name] = alloc, end
        size = element_count(alloc.tensor) * alloc.tensor.dtype.bytes
        end += aligned(size, DEVICE_ALIGNMENT)
    return found, end


def _between_kernels(node: Node) -> list[Alloc]:
    match node:
        case Seq(parts):
            return [a for part in parts for a in _between_kernels(part)]
        case Alloc(scope=Scope.LOCAL):
            return [node, *_between_kernels(node.body)]
    return []


__all__ = ["Dialect", "compiled", "dialect_of", "emit"]
