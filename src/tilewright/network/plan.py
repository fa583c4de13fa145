"""What a compiled model consists of, for a person to read: its kernels, and what was decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tilewright.contract.sizes import Sizes
from tilewright.network.memory_use import MemoryUse

PROGRAM_KINDS = ("tuned", "measured", "carried", "default")
"""What a kernel may be compiled from, in the order they are told; see `records.rows`."""


@dataclass(frozen=True, slots=True)
class PlannedKernel:
    """One kernel. `program` says what it is compiled from (see `program_kind`), `latency_s` is
    the record's, a call; None where there is none.

    `task` is the hash that records know it by; `points_s` are its latencies at values of its sizes,
    in words: latency_s is their mean by weight.
    """

    name: str
    calls: int
    flops: int
    program: str
    latency_s: float | None
    code_bytes: int
    scratch_bytes: int
    task: str
    points_s: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """A compiled model: its kernels, and the memory of a run. `notes` say what is not as it should
    be: no records, or those of another machine. `verdicts` are what was decided about contractions
    and what they follow: the pairs, by verdict. `untemplated` has contractions that no template of
    the target computes, by the reason. `sizes` are those of a call, with their ranges.
    """

    kernels: tuple[PlannedKernel, ...]
    memory: MemoryUse
    notes: tuple[str, ...] = ()
    verdicts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    untemplated: Mapping[str, Sequence[str]] = field(default_factory=dict)
    sizes: Sizes = ()

    @property
    def calls(self) -> int:
        """Kernel calls of one run."""
        return sum(k.calls for k in self.kernels)

    @property
    def latency_s(self) -> float | None:
        """The sum of all calls' recorded latencies; None while a kernel has none."""
        known = [k.calls * k.latency_s for k in self.kernels if k.latency_s is not None]
        return sum(known) if len(known) == len(self.kernels) else None
