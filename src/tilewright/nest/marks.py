"""Marks: what a producer decided about a node that does not change what it computes.

    For(i, 8, body, marks=marks(unroll_step=16)).mark("unroll_step") -> 16
    Store(y, (i,), value).mark("streamed") -> 0

A schedule says them of a stage (step `Mark`), lowering writes them on the nodes that they belong
to. The printer, the verifier and `bind` know them from the table; whoever acts on one, as cost and
code generation do, asks for it by name. A new one is a line in the table, the decision, and that.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from tilewright.expr.nodes import Extent, Tensor

Marks: TypeAlias = tuple[tuple[str, Extent], ...]
"""Names with their values, which are not 0: a mark of 0 is none."""


class MarkPlace(Enum):
    """Whose nodes can have a mark, as the end of a sentence."""

    ANY = "any tensor"
    OUTPUT = "an output"
    ROWS = "scratch with rows"


@dataclass(frozen=True, slots=True)
class MarkRule:
    """What a mark is on, where it may stand, and how it is told.

    `node` is the node's class; "": lowering acts on the mark, none is left in a nest. `greatest` is
    its greatest value (None: any). `text` is its remark in a printed nest.
    """

    node: str
    place: MarkPlace = MarkPlace.ANY
    greatest: int | None = None
    text: str = ""

    def refusal(self, tensor: Tensor, is_output: bool, value: Extent) -> str:
        """Why what computes `tensor` cannot have the mark; "" where it can."""
        fits = {
            MarkPlace.ANY: True,
            MarkPlace.OUTPUT: is_output,
            MarkPlace.ROWS: not is_output and tensor.rank > 1,
        }
        if not fits[self.place]:
            return f"only {self.place.value} can have it, not {tensor.name}"
        if self.greatest is not None and isinstance(value, int) and value > self.greatest:
            return f"it is at most {self.greatest}, not {value}"
        return ""


MARKS: dict[str, MarkRule] = {
    # Loops inside may be written out as long as that gives at most so many statements.
    "unroll_step": MarkRule("For", text="unroll to {}"),
    # Stores pass the caches by: they displace nothing there, and no line is read before it is
    # written; who reads it next finds it in memory only.
    "streamed": MarkRule("Store", MarkPlace.OUTPUT, 1, "past the caches"),
    # A term of the sum that a condition leaves out is a product with a padding zero: it may be
    # multiplied out instead, as if all other factors were finite.
    "padding": MarkRule("Store", greatest=1, text="of padding zeros"),
    # Rows are stored n // 2 elements beyond a multiple of n.
    "align": MarkRule("", MarkPlace.ROWS, 1024),
}

GREATEST_UNROLL_STEP = 128
"""Statements that `unroll_step` may write out at most, whatever it says: longer bodies only cost
code generation and instruction cache.
"""


def marks(**values: Extent) -> Marks:
    """Marks by name; those of 0 are left out."""
    return tuple((name, value) for name, value in values.items() if value != 0)
