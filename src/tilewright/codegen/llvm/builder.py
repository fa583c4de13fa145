"""Builds one LLVM function as text, directly in SSA form.

Code is written into nested *scopes*: the function, loop bodies and branches. An instruction
without side effects goes to the outermost scope in which all its operands exist, so what does not
change in a loop is computed before it; equal instructions are written once. Nothing moves out of a
branch: what a condition guards is computed only where it holds. A load is written again where its
value would have left the registers before it is used again (see `resident`).

    b = Builder("f", ["ptr %a"])
    with b.loop("64") as i:
        x = b.pure(f"mul i64 {i}, 3", i)          # in the loop
        y = b.pure("ptrtoint ptr %a to i64")      # before it, once
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tilewright.codegen.llvm.resident import Residents
from tilewright.expr.index.intervals import Interval

SSA_NAME = re.compile(r"%[a-z]+\d+")


@dataclass(slots=True)
class Phi:
    """A value carried through a loop: `next` is what the latch passes back."""

    name: str
    type: str
    init: str
    next: str = ""


@dataclass(slots=True)
class NestingLevel:
    """One nesting level. `sink` takes the instructions that belong to it, `label` is its current
    block, `keys` are what was computed here, `bumps` advance its inductions, `stores` are the
    tensors it writes, `floor` is the depth of the innermost branch around, `vectors` counts vector
    values hoisted into it, `edges` are the blocks that join after its latest branch, `residents`
    keeps track of the loads written here.
    """

    kind: str
    sink: list[str]
    label: str
    keys: list[object] = field(default_factory=list)
    phis: list[Phi] = field(default_factory=list)
    bumps: list[str] = field(default_factory=list)
    stores: frozenset[str] = frozenset()
    floor: int = 0
    vectors: int = 0
    edges: tuple[str, str] = ("", "")
    residents: Residents = field(default_factory=Residents)


class Builder:
    """Text of one function. `vector_budget` bounds vector values hoisted out of loops, `room` the
    loaded values that wait in registers for their next use.
    """

    def __init__(self, name: str, params: list[str], vector_budget: int = 28) -> None:
        self.name = name
        self.params = params
        self.vector_budget = vector_budget
        self.room = vector_budget
        self.entry: list[str] = ["entry:"]
        body: list[str] = []
        self.out: list[list[str]] = [self.entry, body]
        self.scopes: list[NestingLevel] = [NestingLevel("function", body, "entry")]
        self.depth: dict[str, int] = {}
        self.ranges: dict[str, Interval] = {}
        self.aliases: dict[str, str] = {}
        self.memo: dict[object, Any] = {}
        self.instructions = 0
        self._names = 0

    # ---- single instructions ----------------------------------------------------------------

    def fresh(self, prefix: str = "t") -> str:
        """A new SSA name or label stem."""
        self._names += 1
        return f"%{prefix}{self._names}"

    @property
    def innermost(self) -> int:
        """The depth of the scope that is being written."""
        return len(self.scopes) - 1

    @property
    def floor(self) -> int:
        """The outermost depth reachable without leaving a branch."""
        return self.scopes[-1].floor

    def depth_of(self, *operands: str) -> int:
        """The outermost depth at which all operands exist."""
        depth = 0
        for o in operands:
            depth = max(depth, self.depth.get(o, 0))
        return depth

    def recall(self, key: object) -> Any:
        """What an enclosing scope remembers under `key`; None where none does."""
        return self.memo.get(key)

    def remember(self, key: object, value: object, depth: int) -> None:
        """Keep a name, or what consists of names, until the scope at `depth` ends."""
        self.memo[key] = value
        self.scopes[depth].keys.append(key)

    def place(self, text: str, depth: int, prefix: str = "t") -> str:
        """Write `name = text` into the scope at `depth`; returns the name."""
        name = self.fresh(prefix)
        self.scopes[depth].sink.append(f"  {name} = {text}")
        self.depth[name] = depth
        self.instructions += 1
        return name

    def pure(self, text: str, *operands: str, key: object = None) -> str:
        """An instruction without side effects, shared and hoisted. `operands` name its inputs."""
        identity = text if key is None else key
        hit: str | None = self.recall(identity)
        if hit is not None:
            return hit
        depth = max(self.depth_of(*operands), self.floor)
        if "<" in text:
            depth = self.afford(depth)
        name = self.place(text, depth)
        self.remember(identity, name, depth)
        return name

    def local(self, text: str) -> str:
        """A shared instruction that stays in the innermost scope (it folds into its users)."""
        key = (self.innermost, text)
        hit = self.memo.get(key)
        if hit is None:
            hit = self.here(text)
            self.remember(key, hit, self.innermost)
        return hit

    def load(
        self, text: str, key: object, outermost: int, *operands: str, again: bool = False
    ) -> str:
        """A load that may move out to depth `outermost`; `key` names memory and its version.

        `again`: it may be written again, rather than have its value wait for a late use.
        """
        hit = self.loaded(key)
        if hit is not None:
            return hit
        depth = self.afford(max(self.depth_of(*operands), self.floor, outermost))
        if again and depth == self.innermost and self.scopes[-1].residents.add(key, self.room):
            self.do('fence syncscope("singlethread") acq_rel')
        name = self.place(text, depth)
        self.remember(key, name, depth)
        return name

    def loaded(self, key: object) -> str | None:
        """The value of an equal load, if it can be used (again)."""
        return self.recall(key) if self.scopes[-1].residents.use(key) else None

    def written_depth(self, tensor: str) -> int:
        """The innermost loop around this point that stores to `tensor` (0: none does)."""
        for d in range(len(self.scopes) - 1, 0, -1):
            if tensor in self.scopes[d].stores:
                return d
        return 0

    def afford(self, depth: int) -> int:
        """`depth`, or the innermost one when too many vectors would stay live through loops."""
        if depth == self.innermost or not any(s.kind == "loop" for s in self.scopes[depth + 1 :]):
            return depth
        if sum(s.vectors for s in self.scopes) >= self.vector_budget:
            return self.innermost
        self.scopes[depth].vectors += 1
        return depth

    def here(self, text: str) -> str:
        """An instruction that must stay where it is (a load from memory that changes, a call)."""
        return self.place(text, self.innermost)

    def do(self, text: str) -> None:
        """An instruction without a result (a store)."""
        self.scopes[-1].sink.append(f"  {text}")
        self.instructions += 1

    # ---- loops and branches -----------------------------------------------------------------

    def _open(self, kind: str, stem: str) -> tuple[list[str], NestingLevel]:
        header: list[str] = []
        sink: list[str] = []
        self.out += [header, sink]
        scope = NestingLevel(kind, sink, self.fresh(stem)[1:])
        scope.floor = len(self.scopes) if kind == "branch" else self.scopes[-1].floor
        self.scopes.append(scope)
        return header, scope

    def _close(self, label: str) -> NestingLevel:
        for key in self.scopes.pop().keys:
            self.memo.pop(key, None)
        parent = self.scopes[-1]
        parent.sink = [f"{label}:"]
        parent.label = label
        self.out.append(parent.sink)
        return parent

    @contextmanager
    def loop(
        self, count: str, reach: Interval | None = None, stores: frozenset[str] = frozenset()
    ) -> Iterator[str]:
        """A loop that runs `count` (at least 1) times and writes `stores`; yields its counter.

        `phi` carries further values; each one's `next` must be set before the loop ends.
        """
        before = self.scopes[-1].label
        header, scope = self._open("loop", "loop")
        start = scope.label
        scope.stores = stores
        counter = self.phi("i64", "0", "i")
        self.ranges[counter.name] = reach or Interval(0, None)
        yield counter.name
        step = self.here(f"add nuw nsw i64 {counter.name}, 1")
        again = self.here(f"icmp ult i64 {step}, {count}")
        counter.next = step
        done = self.fresh("done")[1:]
        self.do(f"br i1 {again}, label %{start}, label %{done}")
        header += [f"  br label %{start}", f"{start}:"]
        for p in scope.phis:
            if p.name not in self.aliases:
                incoming = f"[ {p.init}, %{before} ], [ {p.next}, %{scope.label} ]"
                header.append(f"  {p.name} = phi {p.type} {incoming}")
        header += scope.bumps
        self._close(done)

    def phi(self, type_text: str, init: str, prefix: str = "p") -> Phi:
        """A value carried through the innermost loop."""
        p = Phi(self.fresh(prefix), type_text, init)
        scope = self.scopes[-1]
        scope.phis.append(p)
        self.depth[p.name] = self.innermost
        return p

    def finish_phi(self, p: Phi, value: str) -> str:
        """Set what the latch passes back; returns the value after the loop.

        A value that the loop did not change is not carried at all.
        """
        if self.resolve(value) == p.name:
            self.aliases[p.name] = p.init
            return p.init
        p.next = value
        self.depth[value] = min(self.depth.get(value, 0), self.innermost - 1)
        return value

    def is_inner_counter(self, name: str) -> bool:
        """Whether `name` counts the innermost loop."""
        depths = (d for d in range(self.innermost, 0, -1) if self.scopes[d].kind == "loop")
        inner = next(depths, 0)
        return inner > 0 and self.scopes[inner].phis[0].name == name

    def induction(self, counter: str, step: int) -> str:
        """`counter * step` as a value of its own, increased in each iteration."""
        depth = self.depth[counter]
        scope = self.scopes[depth]
        key = ("induction", counter, step)
        hit = self.memo.get(key)
        if hit is None:
            name = self.fresh("s")
            bump = f"{name}.next"
            scope.phis.append(Phi(name, "i64", "0", bump))
            scope.bumps.append(f"  {bump} = add nsw i64 {name}, {step}")
            self.remember(key, name, depth)
            hit = name
            self.depth[name] = depth
        return hit

    @contextmanager
    def branch(self, cond: str) -> Iterator[None]:
        """Code that runs where the i1 `cond` holds; `merge` joins values after it."""
        before = self.scopes[-1]
        start = before.label
        header, scope = self._open("branch", "then")
        label = scope.label
        yield
        join = self.fresh("join")[1:]
        self.do(f"br label %{join}")
        header += [f"  br i1 {cond}, label %{label}, label %{join}", f"{label}:"]
        end = scope.label
        parent = self._close(join)
        parent.edges = (end, start)

    def merge(self, type_text: str, inside: str, outside: str) -> str:
        """Right after a branch: the value from inside it, or `outside` where it was not taken."""
        end, start = self.scopes[-1].edges
        return self.place(
            f"phi {type_text} [ {inside}, %{end} ], [ {outside}, %{start} ]", self.innermost, "m"
        )

    # ---- the text ---------------------------------------------------------------------------

    def resolve(self, name: str) -> str:
        """The name behind aliases (carried values that never changed)."""
        while name in self.aliases:
            name = self.aliases[name]
        return name

    def text(self, head: str, attributes: str) -> str:
        """The whole function, `head` being what precedes its name."""
        lines = [line for block in self.out for line in block]
        body = "\n".join(lines)
        if self.aliases:
            body = SSA_NAME.sub(lambda m: self.resolve(m[0]), body)
        params = ", ".join(self.params)
        return f"{head} @{self.name}({params}) {attributes} {{\n{body}\n  ret void\n}}\n"
