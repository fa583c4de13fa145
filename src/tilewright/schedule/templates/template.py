"""What a template is: a nest of a few numbers, in which a contraction is a product of matrices.

    TENSOR_CORES.refusal(anchor)                          why it does not take it, or ""
    TENSOR_CORES.options["block_m"]                       the numbers that a parameter may be
    TENSOR_CORES.body(anchor, {"block_m": 128, …})        the nest, with ints or with decisions

Options are the hardware's, not the problem's: extents need not divide (Hidet, ASPLOS 2023, section
4.3). A step of a schedule names the template and its numbers (`template_step`); a rule of the space
makes decisions of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tilewright.expr.nodes import Expr, Extent
from tilewright.nest.nodes import Node
from tilewright.schedule.templates.anchor import Anchor
from tilewright.target import Target

Numbers = Mapping[str, Extent]


@dataclass(frozen=True)
class Template:
    """A template by its `name`, which ends with its version: records name it.

    `options` has the numbers of each parameter; `legal` is what they must satisfy together, and
    `promising` what is worth a try of that on a target. `body` is the nest over the anchor's own
    tensors, `refusal` why there is none ("": there is).
    """

    name: str
    options: Mapping[str, tuple[int, ...]]
    legal: Callable[[Anchor, Numbers], Sequence[Expr]]
    promising: Callable[[Anchor, Numbers, Target], Sequence[Expr]]
    body: Callable[[Anchor, Numbers], Node]
    refusal: Callable[[Anchor], str]
