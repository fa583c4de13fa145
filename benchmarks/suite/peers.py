"""What a case is compared with: PyTorch in its fastest way, Triton's tutorial product.

    peers.of(name, problem, bench)      {"peer": Peer, "triton": Peer}

A peer whose result is wrong by our tolerance (sums in half precision, say) keeps its time, with a
mark; one that fails has none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from benchmarks.bolt_problems import Peer as Way
from benchmarks.bolt_problems import Problem
from benchmarks.suite.bench import Bench
from benchmarks.suite.cases import SPEED
from benchmarks.suite.verify import Work
from benchmarks.torch_graphs import Repeated, Torch
from tilewright.ground.errors import WrongAnswer
from tilewright.runtime.device import Seconds

SETUP_S, PEER_S = 120.0, 60.0  # of PyTorch, and of a peer with its autotuning
PRODUCTS = ("square", "bert", "decode", "prefill", "skinny", "odd")  # kinds of plain products


@dataclass(frozen=True)
class Peer:
    """A call that is timed."""

    repeated: Repeated
    is_wrong: bool

    def seconds(self, count: int) -> Seconds:
        """Of a call, so many times."""
        return self.repeated.seconds(count)


class Peers:
    """Those that are here."""

    def __init__(self, work: Work) -> None:
        self.work = work

    @cached_property
    def torch(self) -> Torch | None:
        """PyTorch; None where it is not here, or has no GPU."""
        if self.work.journal.is_broken("PyTorch"):
            return None
        with self.work.journal.at("setup", "PyTorch", None, SETUP_S):
            try:
                found = Torch(self.work.is_gpu)
            except ImportError as error:
                print(f"no peer: {error}", flush=True)
                return None
            if self.work.is_gpu and not found.torch.cuda.is_available():
                print(f"no peer: PyTorch {found.torch.__version__} finds no GPU", flush=True)
                return None
        if not self.work.journal.find("peer", "peer"):
            self.work.journal.add("peer", "peer", version=found.version)
        return found

    @cached_property
    def product(self) -> Callable[..., Any] | None:
        """Triton's product; None where Triton is not here."""
        try:
            from benchmarks.peers.triton_product import product
        except ImportError as error:
            print(f"no Triton: {error}", flush=True)
            return None
        found: Callable[..., Any] = product
        return found

    def of(self, name: str, problem: Problem, bench: Bench) -> dict[str, Peer]:
        """The fastest of PyTorch's ways, and Triton's where the case is a plain product."""
        torch = self.torch
        if torch is None:
            return {}
        ways: list[tuple[str, Way]] = [("peer", w) for w in (problem.peer, *problem.others)]
        product, case = self.product if self.work.is_gpu else None, SPEED[name]
        if product is not None and case.kind in PRODUCTS and case.dtype != "float32":
            ways.append(("triton", lambda _, t: product(t["x"], t["w"])))
        tensors = torch.given(problem, bench.arrays)
        found: dict[str, list[Peer]] = {}
        for number, (side, way) in enumerate(ways):
            peer = self._timed(f"{name} way {number}", way, torch, tensors, bench)
            if peer is not None:
                found.setdefault(side, []).append(peer)
        return {side: min(peers, key=_median_s) for side, peers in found.items()}

    def _timed(
        self, what: str, way: Way, torch: Torch, tensors: Mapping[str, Any], bench: Bench
    ) -> Peer | None:
        journal = self.work.journal
        if any(line["case"] == what for line in journal.lines):
            return None  # it failed, or a process ended there
        try:
            with journal.at("peer", what, None, PEER_S):
                call = called(way, torch, tensors)
                is_wrong = False
                try:
                    bench.expected.check(torch.output(call))
                except WrongAnswer as error:
                    is_wrong = True
                    print(f"{what}: {error}", flush=True)
                return Peer(torch.repeated(call), is_wrong)
        except (RuntimeError, NotImplementedError) as error:
            journal.add("peer", what, verdict="failed", why=str(error)[:300])
            return None


def called(way: Way, torch: Torch, tensors: Mapping[str, Any]) -> Callable[[], Any]:
    return lambda: way(torch.torch, tensors)


def _median_s(peer: Peer) -> float:
    return float(np.median(peer.seconds(3)))
