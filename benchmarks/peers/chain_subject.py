"""Contractions back to back (`benchmarks.models.chains`) as a subject.

Inputs and outputs have a plain layout: channels-last for Tilewright, channels-first for the others,
and for PyTorch whichever of the two is faster.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import tilewright as tw
from benchmarks.models.export import onnx_file
from benchmarks.models.table import CASES, NetworkCase, channels_last
from benchmarks.peers.network_subject import NetworkSubject
from benchmarks.peers.subjects import Side
from tilewright.contract.artifact import Array
from tilewright.target import Target


def ours(case: NetworkCase) -> NetworkCase:
    """The case as Tilewright runs it."""
    return NetworkCase(channels_last(case.network), case.batch) if case.network.rank else case


class ChainSubject(NetworkSubject):
    """A chain of the table by name, its ONNX files in `folder`."""

    def __init__(self, name: str, folder: Path) -> None:
        """Raises KeyError for a name that there is not."""
        super().__init__(name, folder)
        case = ours(CASES[name])
        self.own_file = onnx_file(case, folder)
        self.own_inputs = case.inputs()

    def tilewright(self, target: Target, db: Path | None) -> Side:
        return self._side(target, db, chains=True)

    def unchained(self, target: Target, db: Path | None) -> Side:
        """With every contraction in a kernel of its own."""
        return self._side(target, db, chains=False)

    def _side(self, target: Target, db: Path | None, chains: bool) -> Side:
        records = db if db is not None and db.exists() else None
        model = tw.load(self.own_file, chains=chains).for_target(target)
        net = tw.compile(model, records, target=target)
        facts = {"kernel_calls": len(model.partition.subgraphs)}
        mode = "untuned" if records is None else "tuned"
        inputs = self.own_inputs
        return Side(lambda: net(*inputs), lambda: net(*inputs)[0], mode, facts)

    def restore(self, y: Array) -> Array:
        return np.ascontiguousarray(np.moveaxis(y, 1, -1)) if self.rank else y
