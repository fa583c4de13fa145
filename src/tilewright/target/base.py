"""What all targets have in common, and the one door to them: `Target.parse`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from tilewright.ground.errors import TargetError
from tilewright.target.backend import Backend

KIB = 1024
MIB = 1024 * KIB
SIZE_SUFFIXES = {"K": KIB, "M": MIB}


class Scalar(Protocol):
    """Anything with a width in bits (a `tilewright.expr` DType)."""

    @property
    def bits(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Target:
    """Facts of one device. Each kind of device is a subclass with a `kind`, its `spec_keys` and the
    `backend` that serves it.

    `cores` is the number of units that run at once (threads of a CPU, multiprocessors of a GPU),
    `vector_bits` the widest load of one thread, `line_bytes` a cache line.
    """

    kind: ClassVar[str]
    backend: ClassVar[Backend]
    # The words of a full spec and the field each one sets, in the order they are printed.
    spec_keys: ClassVar[Mapping[str, str]] = {}
    optional: ClassVar[frozenset[str]] = frozenset()  # fields that may be 0: the device lacks it
    kinds: ClassVar[Mapping[str, type[Target]]] = {}  # the package's table

    name: str
    cores: int
    vector_bits: int
    line_bytes: int

    @property
    def facts(self) -> tuple[str, ...]:
        """What makes programs fast or slow on it, besides its name and cores, as words."""
        words = Target.__str__(self).split()[1:]  # what a kind adds to them is none
        return tuple(w for w in words if not w.startswith("cores="))

    @property
    def generation(self) -> str:
        """What code for it needs, in one word."""
        return self.kind

    def has_passed(self, template: str) -> bool:
        """Whether programs of a template, by its name, are known to be right on it."""
        return True

    def lanes(self, dtype: Scalar) -> int:
        """Elements of `dtype`, at its storage width, in one vector (at least 1)."""
        return max(1, self.vector_bits // dtype.bits)

    def __str__(self) -> str:
        facts = {name: getattr(self, name) for name in self.spec_keys.values()}
        implied = self.implied(facts)
        words = (
            f"{key}={facts[name]}"
            for key, name in self.spec_keys.items()
            if name not in implied or facts[name] != implied[name]
        )
        return f"{self.kind}:{self.name} {' '.join(words)}"

    @classmethod
    def implied(cls, facts: Mapping[str, Any]) -> Mapping[str, Any]:
        """Facts that need no word where the others say as much, by field; `facts` may be
        incomplete.
        """
        return {}

    @classmethod
    def named(cls, name: str) -> Target:
        """The target of this kind that is called `name` ("" is the machine at hand)."""
        raise TargetError(f"unknown {cls.kind} {name!r}")

    @staticmethod
    def parse(spec: str) -> Target:
        """The target that `spec` names (see the package's docstring).

        Raises TargetError for an unknown kind, name, key or value, listing what is known.
        """
        head, *words = spec.split() or [""]
        kind, _, name = head.partition(":")
        found = Target.kinds.get(kind)
        if found is None:
            known = ", ".join(f"{k}, {k}:<name>" for k in Target.kinds)
            raise TargetError(f"unknown target kind {kind!r} in {spec!r}; known: {known}")
        return found.with_facts(name, dict(found.word(word, spec) for word in words))

    @classmethod
    def with_facts(cls, name: str, given: dict[str, Any]) -> Target:
        """The target called `name` with facts replaced; any name when all facts are given, but
        those that are implied.
        """
        every = {**cls.implied(given), **given}
        if set(every) == set(cls.spec_keys.values()):
            return cls(name=name, **every)
        base = cls.named(name)
        facts = {field: getattr(base, field) for field in cls.spec_keys.values()}
        return cls(name=base.name, **(facts | given))

    @classmethod
    def word(cls, word: str, spec: str) -> tuple[str, Any]:
        """The field that one `key=value` sets, and its value."""
        key, equals, text = word.partition("=")
        if not equals or key not in cls.spec_keys:
            raise TargetError(
                f"unknown word {word!r} in target {spec!r}; known: {cls.known_words()}"
            )
        name = cls.spec_keys[key]
        if cls.__annotations__.get(name) == "str":
            return name, text
        scale = SIZE_SUFFIXES.get(text[-1:], 1)
        digits = text[:-1] if scale > 1 else text
        if not digits.isdecimal():
            raise TargetError(f"{key} in target {spec!r} must be a number, not {text!r}")
        value = int(digits) * scale
        if value == 0 and name not in cls.optional:
            raise TargetError(f"{key} in target {spec!r} must be at least 1")
        return name, value

    @classmethod
    def known_words(cls) -> str:
        """The keys of this kind, for messages."""
        return ", ".join(f"{key}=" for key in cls.spec_keys)
