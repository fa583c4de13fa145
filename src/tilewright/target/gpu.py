"""GPUs: what devices that run blocks of threads have in common, and what serves them all."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

from tilewright.ground.errors import TargetError
from tilewright.target.backend import Backend, Part
from tilewright.target.base import Target

GPU_KEYS = {
    "cores": "cores",
    "warp": "warp",
    "threads": "threads",
    "shared": "shared_bytes",
    "registers": "registers",
    "thread_registers": "thread_registers",
    "l2": "l2_bytes",
    "vector_bits": "vector_bits",
    "line": "line_bytes",
    "virtual": "virtual",
}


PROVED, SEPARATOR = "proved", "+"  # the word of a full spec, and what is between its names
BLOCKS_OF_CORE, THREADS_OF_CORE = 16, 2048  # where a device does not say
BLOCKS_BY_SHARED = 2  # that are resident where each has all the shared memory a block can have


@dataclass(frozen=True, slots=True)
class Residency:
    """What the blocks that a multiprocessor runs at once have together. Of its `shared_bytes` the
    system keeps `reserved_bytes` for each block; `registers` is 0 where nobody knows.
    """

    threads: int
    blocks: int
    shared_bytes: int
    reserved_bytes: int
    registers: int


@dataclass(frozen=True, slots=True)
class GpuTarget(Target):
    """Facts of a device that runs blocks of threads.

    `warp` threads of a block run in step. Limits of one block: `threads` in all, `shared_bytes`
    (without asking for more) and `registers` (32 bits each, of all its threads; 0 where the device
    does not say). One thread has at most `thread_registers`. `l2_bytes` is the cache of all cores
    (0: none). `virtual` is the most virtual threads worth making of each.

    `proved` are the names of templates, programs of which were right when they were measured on it.
    They are no part of what a target is: only these serve unmeasured.
    """

    spec_keys: ClassVar[Mapping[str, str]] = GPU_KEYS
    optional: ClassVar[frozenset[str]] = frozenset({"registers", "l2_bytes"})
    usual: ClassVar[str] = ""  # the name of the device that is meant where none is given

    warp: int
    threads: int
    shared_bytes: int
    registers: int
    thread_registers: int
    l2_bytes: int
    virtual: int
    proved: frozenset[str] = field(default=frozenset(), compare=False, kw_only=True)

    def __str__(self) -> str:
        words = Target.__str__(self)
        return f"{words} {PROVED}={SEPARATOR.join(sorted(self.proved))}" if self.proved else words

    @classmethod
    def with_facts(cls, name: str, given: dict[str, Any]) -> Self:
        """See `Target`; `proved=` may be left out."""
        proved = given.pop("proved", frozenset())
        found = super(GpuTarget, cls).with_facts(name, given)
        assert isinstance(found, cls)
        return replace(found, proved=proved)

    @classmethod
    def word(cls, word: str, spec: str) -> tuple[str, Any]:
        """See `Target`."""
        key, equals, text = word.partition("=")
        if equals and key == PROVED:
            return "proved", frozenset(text.split(SEPARATOR))
        return super(GpuTarget, cls).word(word, spec)

    def has_passed(self, template: str) -> bool:
        return template in self.proved

    @property
    def has_tensor_cores(self) -> bool:
        """Whether warps multiply matrices of 16 x 16 by 16 x 8 halves, and copy asynchronously."""
        return False

    @property
    def has_warpgroups(self) -> bool:
        """Whether four warps multiply what is in shared memory (`wgmma`)."""
        return False

    @property
    def most_shared_bytes(self) -> int:
        """Shared bytes that a block can have at most."""
        return self.shared_bytes

    @property
    def residency(self) -> Residency:
        """How much runs at once on a multiprocessor."""
        shared = BLOCKS_BY_SHARED * self.shared_bytes
        return Residency(THREADS_OF_CORE, BLOCKS_OF_CORE, shared, 0, self.registers)

    @classmethod
    @abstractmethod
    def known(cls) -> Mapping[str, Self]:
        """The devices of this kind that have names."""

    @classmethod
    def named(cls, name: str) -> Self:
        """A device of the table. Raises TargetError for another name."""
        table, name = cls.known(), name or cls.usual
        if name in table:
            return table[name]
        kind, listed = cls.kind, ", ".join(table)
        if not name:
            raise TargetError(
                f"{kind}: no device was asked for its facts; name one, {kind}:<name>: {listed}"
            )
        raise TargetError(
            f"unknown {kind} device {name!r}; known: {listed}; or give every fact: "
            f"{cls.known_words()}"
        )


def gpu_backend(
    dialect: Part,
    device: Part,
    compiler: Part,
    assembler: Part | None = None,
    templates: Part | None = None,
    pairs: Part | None = None,
    apart: bool = False,
) -> Backend:
    """The parts for a kind of GPU, of which these are its own."""
    return Backend(
        rules=Part("tilewright.space.rules:GPU_RULES"),
        estimate=Part("tilewright.cost.estimate_gpu:gpu_estimate"),
        usage=Part("tilewright.cost.usage:gpu_usage"),
        mutations={"tile": 0.65, "pragma": 0.10, "sketch": 0.05, "thread": 0.20},
        emitter=Part("tilewright.codegen.clike:compiled"),
        compiler=compiler,
        trial=Part("tilewright.measure.device_trial:DeviceTask"),
        dialect=dialect,
        assembler=assembler,
        device=device,
        templates=templates,
        pairs=pairs,
        apart=apart,
    )
