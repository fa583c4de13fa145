"""Instructions of a nest as calls of their wrappers.

    cp.async.16(s[i, 0], select(i < n, x[i * 8], 0.0))    tw_cp_async_16(s + …, x + …, i < n);
    wgmma.m64n128k16.km(c[0], a[…], b[…])                 tw_wgmma_m64n128k16<0, 1, …>(c, …);
    cp.async.bulk.tensor.3d(s[i, 0, 0], x[b, r, c], f[i]) tw_cp_async_…(s + …, x, b, r, c, f + i);

An operand is a pointer to its first element, a box a tensor map and coordinates. What a wrapper
must know when it is compiled, a number or how the tiles lie of which windows are taken, is a
parameter of its template.
"""

from __future__ import annotations

from tilewright.codegen.clike.dialect import VECTOR_BYTES
from tilewright.codegen.clike.expressions import Expressions
from tilewright.codegen.clike.tensor_maps import TensorMaps
from tilewright.expr.nodes import Const, Read, Select, Tensor, as_expr
from tilewright.expr.traversal import reads
from tilewright.nest.instructions import (
    COPY,
    GROUP_WAIT,
    NUMBER,
    WGMMA,
    Box,
    Window,
    rule_of,
)
from tilewright.nest.nodes import Instruction, Node, accessed, walk


def named(node: Instruction) -> list[Read]:
    """The result and the operands that are in storage."""
    return [r for e in accessed(node) for r in reads(e)]


def windows(kernel: Node) -> frozenset[str]:
    """The tensors of which instructions take windows."""
    return frozenset(
        r.tensor.name
        for n in walk(kernel)
        if isinstance(n, Instruction)
        for e, size in zip(n.operands, rule_of(n).operands, strict=True)
        if isinstance(size, Window)
        for r in reads(e)
    )


def awaited(kernel: Node) -> dict[str, Tensor]:
    """The private tensors, by name, that are complete only after the last wait for a group."""
    return {
        r.tensor.name: r.tensor
        for n in walk(kernel)
        if isinstance(n, Instruction) and rule_of(n).group == WGMMA
        if n.result is not None
        for r in reads(n.result)
    }


def ends_groups(node: Instruction) -> bool:
    """Whether it waits until no group is left."""
    return node.name == GROUP_WAIT and node.operands == (as_expr(0),)


def call_text(node: Instruction, write: Expressions, maps: TensorMaps) -> str:
    """The statement."""
    rule = rule_of(node)
    arguments, numbers = [], []
    sizes = (*([] if node.result is None else [rule.result]), *rule.operands)
    for e, size in zip(accessed(node), sizes, strict=True):
        match e:
            case _ if size == NUMBER and node.result is not None:
                arguments.append(write.text(e))
            case Const() if node.result is not None:
                continue  # zeros, of which there is no place
            case Const():
                numbers.append(write.text(e))
            case Read() if isinstance(size, Box) and e is not node.result:
                arguments += [maps.name(node), *map(write.text, e.indices)]
            case Select(cond, Read() as read, _):
                arguments += [_address(read, write), write.text(cond)]
            case Read() if isinstance(size, (Window, Box)):
                arguments.append(_window(e, write))
            case Read() if e is not node.result and rule.group == COPY:
                arguments += [_address(e, write), "true"]
            case Read():
                arguments.append(_address(e, write))
    return f"{_called(node, numbers)}({', '.join(arguments)});"


def _called(node: Instruction, numbers: list[str]) -> str:
    """The name of a wrapper, with what it must know when it is compiled."""
    name, taken = node.name, [s for s in rule_of(node).operands if isinstance(s, Window)]
    if taken:
        name, _, _ = name.rpartition(".")
        tensors = [r.tensor for e in node.operands for r in reads(e)]
        numbers = [str(int(not w.by_depth)) for w in taken]
        numbers += [str(_window_step(t, w)) for t, w in zip(tensors, taken, strict=True)]
    chosen = f"<{', '.join(numbers)}>" if numbers else ""
    return f"tw_{name.replace('.', '_')}{chosen}"


def _window(read: Read, write: Expressions) -> str:
    """A pointer to where a window or a box begins: instructions swizzle by themselves."""
    place = write.place(read.tensor.name)
    return f"{place.name} + {write.text(place.flat(read.indices))}"


def _address(read: Read, write: Expressions) -> str:
    """A pointer to an element."""
    place = write.place(read.tensor.name)
    return f"{place.name} + {write.at(place, place.flat(read.indices))}"


def _window_step(tensor: Tensor, window: Window) -> int:
    """Bytes from 64 elements across a window to the next; where rows are along the depth, nobody
    asks, and PTX wants 16.
    """
    if window.by_depth:
        return VECTOR_BYTES
    *_, depth, row = (e for e in tensor.shape if isinstance(e, int))
    return depth * row * tensor.dtype.bytes
