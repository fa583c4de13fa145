"""The machine a trial was measured on, reduced to the facts that make latencies comparable.

    Machine.of("cpu", cpu="icelake-server", features="+avx2,+avx512f,-tbm", cores=2,
               compiler="LLVM 22.1.0")
    -> Machine(fingerprint="5a0c…", features=("avx2", "avx512f"), …)

Two trials are compared as equals only where their fingerprints are equal. `differences` says in
words why two machines are not the same one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from tilewright.contract.gene import compact
from tilewright.ground.errors import RecordsError
from tilewright.ground.text import count


@dataclass(frozen=True, slots=True)
class Machine:
    """A measuring machine. `fingerprint` is the SHA-256 (hex) of the other fields."""

    fingerprint: str
    kind: str
    cpu: str
    features: tuple[str, ...]
    cores: int
    compiler: str

    @staticmethod
    def of(
        kind: str, *, cpu: str, features: str | Iterable[str], cores: int, compiler: str
    ) -> Machine:
        """Describe a machine by its facts.

        `kind` is the target kind ("cpu"), `cpu` LLVM's name for it, `features` LLVM's feature
        string or its parts ("+avx2" and "avx2" are the same; disabled ones such as "-tbm" say
        nothing and are dropped), `cores` the threads used, `compiler` name and version.

        Raises RecordsError when `cores` is not positive or a name is empty.
        """
        if cores < 1 or not (kind and cpu and compiler):
            raise RecordsError(
                "a machine needs a kind, a cpu, a compiler and at least one core; "
                f"got kind={kind!r}, cpu={cpu!r}, compiler={compiler!r}, cores={cores}"
            )
        parts = features.split(",") if isinstance(features, str) else features
        stripped = (part.strip() for part in parts)
        enabled = {part.lstrip("+") for part in stripped if part and not part.startswith("-")}
        ordered = tuple(sorted(enabled))
        facts = compact([kind, cpu, ordered, cores, compiler])
        fingerprint = hashlib.sha256(facts.encode()).hexdigest()
        return Machine(fingerprint, kind, cpu, ordered, cores, compiler)

    def differences(self, other: Machine) -> tuple[str, ...]:
        """Why `other` is not this machine, one phrase per fact; empty when it is the same."""
        facts = (
            ("kind", self.kind, other.kind),
            ("cpu", self.cpu, other.cpu),
            ("cores", self.cores, other.cores),
            ("compiler", self.compiler, other.compiler),
        )
        phrases = [
            f"{name} {theirs} instead of {ours}" for name, ours, theirs in facts if ours != theirs
        ]
        lacking = sorted(set(self.features) - set(other.features))
        extra = sorted(set(other.features) - set(self.features))
        if lacking:
            phrases.append("without " + ", ".join(lacking))
        if extra:
            phrases.append("with " + ", ".join(extra))
        return tuple(phrases)

    def __str__(self) -> str:
        return f"{self.cpu}, {count(self.cores, 'core')}, {self.compiler} ({self.fingerprint[:8]})"
