"""An operator of the published benchmark as a subject.

Inputs and outputs have a plain layout: channels-last for Tilewright, channels-first for the
others, and for PyTorch whichever of the two is faster (its channels-last tensors are the same
bytes as Tilewright's).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.cases import ALL
from benchmarks.hidet_cases import CASES as HIDET
from benchmarks.hidet_cases import parts_of
from benchmarks.peers.problems import problem_of, random_arrays
from benchmarks.peers.subjects import Side, device_clock
from tilewright.contract.artifact import Array
from tilewright.target import Target

if TYPE_CHECKING:
    from torch import nn


class OperatorSubject:
    """A case of `benchmarks.cases` by name."""

    math = "float32"

    def __init__(self, name: str) -> None:
        """Raises KeyError for a name that there is not."""
        self.case = {**ALL, **HIDET}[name]
        self.problem = problem_of(self.case, random_arrays(self.case.dag()))
        self.inputs = self.problem.inputs
        self.rank = self.problem.rank if self.problem.weight is not None else 0

    def tilewright(self, target: Target, db: Path | None) -> Side:
        import tilewright as tw

        dag = self.case.dag()
        arrays = random_arrays(dag)
        notes: list[str] = []
        records = db if db is not None and db.exists() else None
        function = tw.compile(
            tw.Task(dag.outputs, self.case.name),
            records,
            target=target,
            notes=notes.append,
        )
        if dag.constants:
            function.prepare({t.name: arrays[t.name] for t in dag.constants})
        inputs = [arrays[tensor.name] for tensor in dag.inputs]
        mode = "untuned" if records is None or notes else "tuned"
        clock = device_clock(function, inputs)
        return Side(lambda: function(*inputs), lambda: function(*inputs)[0], mode, clock=clock)

    def onnx(self) -> bytes:
        from benchmarks.peers.onnx_models import onnx_model

        return onnx_model(self.problem).SerializeToString()

    def module(self) -> nn.Module:
        from benchmarks.peers.modules import module_of

        return module_of(self.problem)

    def restore(self, y: Array) -> Array:
        return self.problem.restore(y)


class ApartSubject(OperatorSubject):
    """A convolution and what follows it, in a kernel each."""

    def tilewright(self, target: Target, db: Path | None) -> Side:
        import tilewright as tw

        arrays = random_arrays(self.case.dag())
        records = db if db is not None and db.exists() else None
        functions = []
        for part in parts_of(self.case):
            dag = part.dag()
            function = tw.compile(tw.Task(dag.outputs, part.name), records, target=target)
            function.prepare({t.name: arrays[t.name] for t in dag.constants})
            functions.append(function)
        convolution, rest = functions
        x = arrays["x"]
        return Side(lambda: rest(convolution(x)[0]), lambda: rest(convolution(x)[0])[0])
