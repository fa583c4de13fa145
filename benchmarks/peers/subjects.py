"""What is compared: one computation as every side takes it.

    subject = subject_of("operator:C2D-2-b1")               an operator of benchmarks.cases
    subject = subject_of("apart:CONV-14-256-256-3-1")       a convolution and what follows, in turn
    subject = subject_of("network:resnet50-b1:networks")    a network, its ONNX file in networks/
    subject = subject_of("served:resnet50-b1:networks")     the same where calls alone are timed
    subject = subject_of("chain:mlp-768-b128:networks")     contractions back to back
    subject = subject_of("narrow:GMM-1-1024-1024:bytes:networks")   of benchmarks.models.narrow
    subject = subject_of("shaped:bert-base:64:networks")    of benchmarks.models.shaped, for its
                                                            range; `shaped-static` for one shape

A subject crosses to a side's process by its name. A new kind is a class and a line in KINDS.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
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
    the CPU, where calls are timed. `another` makes a call that other threads may run beside `call`;
    None: they run `call` itself.
    """

    call: Callable[[], Any]
    output: Callable[[], Array]
    mode: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    clock: Callable[[int], Sequence[float]] | None = None
    another: Callable[[], Callable[[], Any]] | None = None


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


def _operator(name: str) -> Subject:
    from benchmarks.peers.operator_subject import OperatorSubject

    return OperatorSubject(name)


def _apart(name: str) -> Subject:
    from benchmarks.peers.operator_subject import ApartSubject

    return ApartSubject(name)


def _network(name: str) -> Subject:
    from benchmarks.peers.network_subject import NetworkSubject

    case, _, folder = name.partition(":")
    return NetworkSubject(case, Path(folder))


def _served(name: str) -> Subject:
    from benchmarks.peers.network_subject import ServedNetwork

    case, _, folder = name.partition(":")
    return ServedNetwork(case, Path(folder))


def _chain(name: str) -> Subject:
    from benchmarks.peers.chain_subject import ChainSubject

    case, _, folder = name.partition(":")
    return ChainSubject(case, Path(folder))


def _narrow(name: str) -> Subject:
    from benchmarks.peers.network_subject import NarrowSubject

    case, _, folder = name.rpartition(":")
    return NarrowSubject(case, Path(folder))


def _shaped(name: str, is_static: bool = False) -> Subject:
    from benchmarks.peers.network_subject import ShapedSubject

    case, _, folder = name.rpartition(":")
    return ShapedSubject(case, Path(folder), is_static)


KINDS: dict[str, Callable[[str], Subject]] = {
    "operator": _operator,
    "apart": _apart,
    "network": _network,
    "served": _served,
    "chain": _chain,
    "narrow": _narrow,
    "shaped": _shaped,
    "shaped-static": partial(_shaped, is_static=True),
}


def subject_of(name: str) -> Subject:
    """The subject of a name. Raises KeyError for one that there is not."""
    kind, _, rest = name.partition(":")
    return KINDS[kind](rest)
