"""What follows from the sizes of a call, as a function that is run before it.

derive_ir("f", (Size("S", 1, 9),), [(S + 1) // 2, 4 * S], target)

define void @f(ptr %values)      values[0] is S; values[1] and values[2] are written
"""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.codegen.llvm.builder import Builder
from tilewright.codegen.llvm.module import Module
from tilewright.codegen.llvm.values import Evaluator
from tilewright.contract.sizes import Sizes
from tilewright.expr.index.affine import Affine, AffineForms
from tilewright.expr.nodes import Expr
from tilewright.expr.sizes import ranges_of
from tilewright.ground.errors import BuildError
from tilewright.target import CpuTarget


def derive_ir(name: str, sizes: Sizes, derived: Sequence[Expr], target: CpuTarget) -> str:
    """The module of a function that reads the values of `sizes` and writes those of int64
    expressions over them, behind. Raises BuildError for other expressions.
    """
    b, module = Builder(name, ["ptr %values"]), Module()
    env: dict[str, Affine] = {}
    places = [f"getelementptr i64, ptr %values, i64 {i}" for i in range(len(sizes) + len(derived))]
    for size, place in zip(sizes, places, strict=False):
        value = b.here(f"load i64, ptr {b.here(place)}")
        env[size.name], b.ranges[value] = Affine(0, ((value, 1),)), ranges_of((size,))[size.name]
    index = Evaluator(b, module, target, AffineForms(), env).ix
    for e, place in zip(derived, places[len(sizes) :], strict=True):
        form = index.of(e)
        if form is None:
            raise BuildError(f"{name}: {e} is no expression over sizes")
        text = index.operand(form)
        b.do(f"store i64 {text}, ptr {b.here(place)}")
    module.functions.append(b.text("define void", "nounwind"))
    return module.text("nounwind")
