"""Tensor maps of a kernel: parameters that say how boxes of its arrays are copied.

maps = TensorMaps(names)
maps.name(node)             the parameter for a copy of a box
maps.of(("A", "B"))         all of them, for the launch of a kernel with these arguments
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tilewright.codegen.clike.lines import Names
from tilewright.contract.artifact import TensorMap
from tilewright.expr.nodes import Read, Tensor
from tilewright.expr.reference import static_shape
from tilewright.expr.tensors import View
from tilewright.nest.nodes import Instruction


@dataclass(slots=True)
class TensorMaps:
    """See the module."""

    names: Names
    _found: dict[tuple[Tensor, int, int], str] = field(default_factory=dict)

    def name(self, node: Instruction) -> str:
        """The C name of the parameter for a copy."""
        box = node.operands[0]
        assert node.result is not None and isinstance(box, Read)
        rows, columns = static_shape(node.result.tensor)[-2:]
        key = box.tensor, rows, columns
        if key not in self._found:
            self._found[key] = self.names.new(box.tensor.name)
        return self._found[key]

    @property
    def parameters(self) -> list[str]:
        return list(self._found.values())

    def of(self, arguments: Sequence[str]) -> tuple[TensorMap, ...]:
        """What the launch makes of the arrays that are its arguments."""
        return tuple(
            _map(view, view.source, rows, columns, arguments)
            for view, rows, columns in self._found
            if isinstance(view.source, View)
        )


def _map(
    tensor: Tensor, view: View, rows: int, columns: int, arguments: Sequence[str]
) -> TensorMap:
    batches, height, width = static_shape(tensor)
    batch, row, column = view.strides
    return TensorMap(
        argument=arguments.index(view.of.name),
        dtype=tensor.dtype.name,
        offset=view.offset,
        shape=(batches, height, width),
        strides=(batch, row, column),
        rows=rows,
        columns=columns,
    )
