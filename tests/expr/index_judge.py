"""The judge of index arithmetic: values, bounds and equivalence at samples of the variables.

    judge = Judge(env, given=i < j)      samples within `env` that satisfy a condition
    judge.equal(e, simplify(e, env))     the same values
    judge.within(e, interval(e, env))    every value inside

NumPy's int64 evaluation is the truth. `ssa_values` runs what the LLVM emitter wrote for an index.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
from index_strategies import sample

from tilewright.codegen.llvm.builder import Builder
from tilewright.expr.evaluate import evaluate
from tilewright.expr.index.affine import Affine
from tilewright.expr.index.intervals import Interval
from tilewright.expr.nodes import Expr

INSTRUCTION = re.compile(r"  (%\w+) = (?:call i64 @llvm\.)?(icmp \w+|[a-z]+)(.*)")
OPERAND = re.compile(r"%\w+|(?<![\w.])-?\d+\b")
OPERATIONS = {
    "add": np.add, "mul": np.multiply, "xor": np.bitwise_xor, "and": np.bitwise_and,
    "ashr": np.right_shift, "smin": np.minimum, "smax": np.maximum, "icmp ne": np.not_equal,
    "icmp slt": np.less, "srem": np.fmod, "sdiv": lambda a, b: (a - np.fmod(a, b)) // b,
    "udiv": lambda a, b: (a.view(np.uint64) // b.view(np.uint64)).view(np.int64),
    "sext": lambda a: -a.astype(np.int64),
}  # fmt: skip


class Judge:
    """Samples of the variables in `env`, those that satisfy `given` where it is there."""

    def __init__(self, env: Mapping[str, Interval], given: Expr | None = None) -> None:
        points = sample(dict(env))
        kept = np.ones(96, np.bool_)
        if given is not None:
            kept = np.broadcast_to(evaluate(given, points), 96)
        self.points = {name: column[kept] for name, column in points.items()}
        self.count = int(kept.sum())

    def values(self, e: Expr) -> np.ndarray:
        """What an expression is at the samples."""
        return np.broadcast_to(evaluate(e, self.points), self.count)

    def equal(self, e: Expr, other: Expr) -> None:
        """Fail where two expressions differ at a sample."""
        np.testing.assert_array_equal(self.values(other), self.values(e))

    def within(self, e: Expr, bounds: Interval) -> None:
        """Fail where a value lies outside of the bounds."""
        if self.count:
            found = self.values(e)
            assert bounds.lo is None or bounds.lo <= found.min(), (bounds, found.min())
            assert bounds.hi is None or found.max() <= bounds.hi, (bounds, found.max())


def form_values(form: Affine, names: Mapping[str, np.ndarray]) -> np.ndarray:
    """The value of a linear form, given those of its names."""
    return form.const + sum((names[n] * k for n, k in form.terms), start=np.int64(0))


def ssa_values(b: Builder, names: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """What every SSA name is, by running the instructions of a builder in their order."""
    known = dict(names)
    for line in (line for part in b.out for line in part):
        found = INSTRUCTION.fullmatch(line)
        if found is not None:
            name, op, rest = found.groups()
            operands = OPERAND.findall(rest)
            known[name] = OPERATIONS[op](*(
                known[x] if x in known else np.asarray(int(x), np.int64) for x in operands
            ))  # fmt: skip
    return known
