"""What is compared: one computation as every side takes it.

    subject = subject_of("operator:C2D-2-b1")               an operator of benchmarks.cases
    subject = subject_of("apart:CONV-14-256-256-3-1")       a convolution and what follows, in turn
    subject = subject_of("network:resnet50-b1:networks")    a network, its ONNX file in networks/
    subject = subject_of("served:resnet50-b1:networks")     the same where calls alone are timed
    subject = subject_of("chain:mlp-768-b128:networks")     contractions back to back
    subject = subject_of("narrow:GMM-1-1024-1024:bytes:networks")   of benchmarks.models.narrow;
                                                            `exact` rounds no factors
    subject = subject_of("shaped:bert-base:64:networks")    of benchmarks.models.shaped, for its
                                                            range; `shaped-static` for one shape

A subject crosses to a side's process by its name. A new kind is a class and a line in KINDS.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from tilewright.contract.artifact import Array
from tilewright.runtime.device import DeviceFunction
from tilewright.runtime.function import CompiledFunction
from tilewright.target import Target

if TYPE_CHECKING:
    from torch import nn


@dataclass(frozen=True)
class Side:
    """A program ready to run. `output` computes once more, in Tilewright's layout.

    `mode` says how it runs, `facts` are figures for the results. `clock` runs so many times on a
    device, its arguments being there, and gives the seconds of each by the device's clock; None is
    the CPU, where calls are timed.
    """

    call: Callable[[], Any]
    output: Callable[[], Array]
    mode: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    clock: Callable[[int], Sequence[float]] | None = None


def device_clock(
    function: CompiledFunction | DeviceFunction, inputs: Sequence[Array]
) -> Callable[[int], Sequence[float]] | None:
    """The clock of Tilewright's side; None of a function on the CPU."""
    if isinstance(function, CompiledFunction):
        return None
    return lambda count: function.bench(inputs, count).tolist()


class Subject(Protocol):
    """`inputs` are those of the libraries; `rank` counts the spatial dimensions of images; `math`
    is what factors of a float32 graph may be rounded to.
    """

    inputs: tuple[Array, ...]
    rank: int
    math: str

    def tilewright(self, target: Target, db: Path | None) -> Side:
        """Compiled from the best records; with the default programs where `db` is None."""
        ...

    def onnx(self) -> bytes | str:
        """A model or its file; its inputs are `inputs`, in this order."""
        ...

    def module(self) -> nn.Module:
        """A fresh PyTorch module of `inputs`."""
        ...

    def restore(self, y: Array) -> Array:
        """A library's output in the layout of Tilewright's."""
        ...


# The module and class of a kind, and what it takes beside a name and the folder of ONNX files, of
# which an operator has none.
KINDS: dict[str, tuple[str, str, tuple[bool, ...]]] = {
    "operator": ("operator_subject", "OperatorSubject", ()),
    "apart": ("operator_subject", "ApartSubject", ()),
    "network": ("network_subject", "NetworkSubject", ()),
    "served": ("network_subject", "ServedNetwork", ()),
    "chain": ("chain_subject", "ChainSubject", ()),
    "narrow": ("network_subject", "NarrowSubject", ()),
    "exact": ("network_subject", "NarrowSubject", (True,)),
    "shaped": ("network_subject", "ShapedSubject", (False,)),
    "shaped-static": ("network_subject", "ShapedSubject", (True,)),
}


def subject_of(name: str) -> Subject:
    """The subject of a name. Raises KeyError for one that there is not."""
    kind, _, rest = name.partition(":")
    module, found, more = KINDS[kind]
    make = getattr(importlib.import_module(f"benchmarks.peers.{module}"), found)
    case, _, folder = rest.rpartition(":")
    subject: Subject = make(case, Path(folder), *more) if folder and case else make(rest)
    return subject
