"""Who runs what in a GPU program: kernels, threads of a block, and the rules they keep.

    kernels(program.body)          the outermost block loops, one a launch
    thread_counts(kernel)          {Kind.THREAD_X: 128}
    check_workers(program)         None, or VerifyError naming the statement and the rule

A `Team` says for one place of a kernel which loops bind the threads there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import prod
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from tilewright.expr.evaluate import ColumnProgram
from tilewright.expr.nodes import Expr
from tilewright.expr.traversal import free_vars, reads
from tilewright.ground.errors import VerifyError
from tilewright.nest.instructions import INSTRUCTIONS
from tilewright.nest.nodes import (
    THREADS,
    WORKERS,
    Alloc,
    Barrier,
    For,
    If,
    Instruction,
    Kind,
    Node,
    Program,
    Scope,
    Seq,
    Store,
    bodies,
    expressions,
)
from tilewright.nest.nodes import walk as nodes
from tilewright.nest.print import nest_text


def perfect_nest(loop: For) -> tuple[tuple[For, ...], Node]:
    """The loops of one kind that follow each other directly, and what is inside them."""
    found = [loop]
    while isinstance(found[-1].body, For) and found[-1].body.kind is loop.kind:
        found.append(found[-1].body)
    return tuple(found), found[-1].body


def threads_where(cond: Expr, loop: For) -> NDArray[np.bool_] | None:
    """For which threads of a loop a condition holds, `[threads]`; None where it depends on more."""
    if not isinstance(loop.extent, int) or free_vars(cond) != {loop.var.name} or reads(cond):
        return None
    values = ColumnProgram([cond]).run({loop.var.name: np.arange(loop.extent)})
    return np.broadcast_to(np.asarray(values[cond], np.bool_), (loop.extent,))


def kernels(body: Node) -> list[Node]:
    """The root nests of a program, in order: each is one launch.

    A loop of extent 1 is not there: a nest without block loops is one block, one without thread
    loops one thread.
    """
    match body:
        case Seq(parts):
            return [k for part in parts for k in kernels(part)]
        case Alloc(scope=Scope.LOCAL):
            return kernels(body.body)
        case Barrier():
            return []
    return [body]


def is_for_workers(node: Node) -> bool:
    """Whether a nest names the workers of a GPU anywhere."""
    return any(map(_names_workers, nodes(node)))


def _names_workers(node: Node) -> bool:
    match node:
        case For():
            return node.kind in WORKERS
        case Alloc():
            return node.scope is Scope.SHARED
    return isinstance(node, Barrier)


def concrete_extents(loops: tuple[For, ...]) -> tuple[int, ...]:
    """Extents of a perfect nest of a concrete program."""
    return tuple(loop.extent for loop in loops if isinstance(loop.extent, int))


def thread_counts(kernel: Node) -> dict[Kind, int]:
    """Threads of a block by dimension: the largest of the loops that bind them."""
    counts: dict[Kind, int] = {}
    _count(kernel, frozenset(), counts)
    return counts


def _count(node: Node, bound: frozenset[Kind], counts: dict[Kind, int]) -> None:
    if isinstance(node, For) and node.kind in THREADS and node.kind not in bound:
        loops, inner = perfect_nest(node)
        counts[node.kind] = max(counts.get(node.kind, 1), prod(concrete_extents(loops)))
        _count(inner, bound | {node.kind}, counts)
        return
    for b in bodies(node):
        _count(b, bound, counts)


@dataclass(frozen=True, slots=True)
class Team:
    """The worker loops around a place of a kernel.

    `threads` are the loops that bind each dimension (the innermost perfect nest of it), `owned`
    those of them that are not cooperative, `virtual` the virtual thread loops. `uniform` says that
    all threads of the block come here together; if not, under which `conditions` some do. `private`
    are the tensors that each thread has for itself.
    """

    threads: Mapping[Kind, tuple[For, ...]] = field(default_factory=dict)
    virtual: tuple[For, ...] = ()
    cooperative: frozenset[Kind] = frozenset()
    uniform: bool = True
    conditions: tuple[Expr, ...] = ()
    private: frozenset[str] = frozenset()

    @property
    def variables(self) -> frozenset[str]:
        """Variables in which the threads that come here differ."""
        loops = [*self.virtual, *(loop for nest in self.threads.values() for loop in nest)]
        return frozenset(loop.var.name for loop in loops)

    def entering(self, node: Node, counts: Mapping[Kind, int]) -> Team:
        """The team inside `node`; the loops of a perfect nest of threads are entered together."""
        match node:
            case For() if any(node is loop for loop in self.threads.get(node.kind, ())):
                return self
            case If(cond, _) if not self.is_predicated(node):
                divergent = bool(free_vars(cond) & self.variables) or bool(reads(cond))
                if not divergent:
                    return self
                return replace(self, uniform=False, conditions=(*self.conditions, cond))
            case For() if node.kind in THREADS:
                loops, _ = perfect_nest(node)
                again = node.kind in self.threads
                concrete = all(isinstance(loop.extent, int) for loop in loops)
                full = not concrete or prod(concrete_extents(loops)) == counts.get(node.kind, 1)
                return replace(
                    self,
                    threads={**self.threads, node.kind: loops},
                    cooperative=self.cooperative | {node.kind} if again else self.cooperative,
                    uniform=self.uniform and full and not again,
                )
            case For() if node.kind is Kind.VIRTUAL:
                return replace(self, virtual=(*self.virtual, node))
            case Alloc(tensor=tensor, scope=Scope.LOCAL) if self.threads:
                return replace(self, private=self.private | {tensor.name})
        return self

    def come_in_runs(self, count: int) -> bool:
        """Whether the threads that come here are runs of `count` side by side, along x."""
        loops = self.threads.get(Kind.THREAD_X, ())
        if len(loops) != 1 or not isinstance(loops[0].extent, int):
            return False
        threads = loops[0].extent
        come = np.arange(threads + -threads % count) < threads
        for cond in self.conditions:
            holds = threads_where(cond, loops[0])
            if holds is None:
                return False
            come[:threads] &= holds
        runs = come.reshape(-1, count)
        return bool((runs == runs[:, :1]).all())

    def is_predicated(self, node: Node) -> bool:
        """Whether a node is a combined reduction under conditions: a thread for which they do not
        hold takes part and adds nothing.
        """
        while isinstance(node, If):
            node = node.body
        return isinstance(node, Store) and bool(self.combined(node))

    def combined(self, store: Store) -> tuple[Kind, ...]:
        """Thread dimensions over which a reduction is combined: none of their loops moves it, and
        it is not each thread's own.
        """
        if store.reduce is None or store.tensor.name in self.private:
            return ()
        moving = frozenset[str]().union(*(free_vars(i) for i in store.indices))
        return tuple(
            kind
            for kind, loops in self.threads.items()
            if not any(loop.var.name in moving for loop in loops)
        )


def statements(kernel: Node) -> Iterator[tuple[Store | Barrier, Team]]:
    """The statements of a concrete kernel with the threads that run them, in order."""
    yield from _statements(kernel, Team(), thread_counts(kernel))


def _statements(
    node: Node, team: Team, counts: Mapping[Kind, int]
) -> Iterator[tuple[Store | Barrier, Team]]:
    if isinstance(node, (Store, Barrier)):
        yield node, team
    within = team.entering(node, counts)
    for b in bodies(node):
        yield from _statements(b, within, counts)


# ---- the rules ------------------------------------------------------------------------------


def check_workers(program: Program, *, symbolic: bool = False) -> None:
    """Raise VerifyError where worker loops, scopes and barriers break a rule.

    Block loops are outermost and a perfect nest; a cooperative
    loop has no more iterations than there are threads and is the same for all of them; storage
    that several threads use is shared; every thread reaches a barrier.
    """
    for kernel in kernels(program.body):
        if is_for_workers(kernel):
            _Check(program, symbolic).root(kernel)


@dataclass(frozen=True, slots=True)
class _Check:
    program: Program
    symbolic: bool

    def fail(self, node: Node, problem: str) -> NoReturn:
        text = nest_text(node).splitlines()[0].strip()
        raise VerifyError(f"program {self.program.name}: {text}: {problem}")

    def root(self, node: Node) -> None:
        body = node
        if isinstance(node, For) and node.kind is Kind.BLOCK:
            _, body = perfect_nest(node)
        counts = {} if self.symbolic else thread_counts(body)
        allocations = [n for n in nodes(body) if isinstance(n, Alloc)]
        shared = frozenset(n.tensor.name for n in allocations if n.scope is Scope.SHARED)
        self.kernel(body, Team(), counts, frozenset(), shared)

    def kernel(
        self,
        node: Node,
        team: Team,
        counts: Mapping[Kind, int],
        local: frozenset[str],
        shared: frozenset[str],
    ) -> None:
        """`local` names the tensors that are private to a thread, `shared` those of the block."""
        match node:
            case For() if node.kind in (Kind.BLOCK, Kind.PARALLEL):
                self.fail(node, f"a {node.kind.value} loop inside a kernel; blocks are outermost")
            case For() if node.kind in THREADS:
                if team.entering(node, counts) is not team:
                    self.threads(node, team, counts)
            case Alloc(_, offset, _, Scope.SHARED):
                self.shared(node, team, offset)
            case Alloc(tensor):
                self.private(node, team)
                local = local | {tensor.name}
            case Store():
                self.store(node, team, local)
                if node.tensor.name in shared and not self.symbolic:
                    self.written_once(node, team)
            case Barrier() if not team.uniform:
                self.fail(node, "not every thread of the block comes to this barrier")
            case Instruction():
                self.instruction(node, team, counts)
        inner = team.entering(node, counts)
        for b in bodies(node):
            self.kernel(b, inner, counts, local, shared)

    def threads(self, node: For, team: Team, counts: Mapping[Kind, int]) -> None:
        if node.kind not in team.threads:
            return
        loops, body = perfect_nest(node)
        if not self.symbolic and prod(concrete_extents(loops)) > counts[node.kind]:
            self.fail(
                node, f"{prod(concrete_extents(loops))} iterations for {counts[node.kind]} threads"
            )
        theirs = {loop.var.name for loop in (*team.threads[node.kind], *team.virtual)}
        for n in nodes(body):
            used = {v for e in expressions(n) for v in free_vars(e)} & theirs
            if used:
                self.fail(node, f"a cooperative loop cannot depend on the thread: {sorted(used)}")

    def shared(self, node: Alloc, team: Team, offset: tuple[Expr, ...]) -> None:
        used = {v for e in offset for v in free_vars(e)} & team.variables
        if used:
            self.fail(node, f"the window of all threads cannot start at one's: {sorted(used)}")

    def private(self, node: Alloc, team: Team) -> None:
        for n in nodes(node.body):
            if isinstance(n, For) and n.kind in THREADS and n.kind not in team.threads:
                self.fail(node, f"the threads of {n.var.name} use it; its scope must be shared")
        if team.cooperative:
            self.fail(node, "storage of one thread inside a cooperative loop")

    def store(self, node: Store, team: Team, local: frozenset[str]) -> None:
        if team.cooperative:
            used = {node.tensor.name, *(r.tensor.name for r in reads(node.value))} & local
            if used:
                self.fail(node, f"a cooperative loop cannot use the private {sorted(used)[0]}")
        if team.combined(node) and not team.uniform:
            self.fail(node, "not every thread of the block takes part in this reduction")
        moving = frozenset[str]().union(*(free_vars(i) for i in node.indices))
        for kind, loops in team.threads.items():
            moves = [loop.var.name in moving for loop in loops]
            if node.reduce is not None and any(moves) and not all(moves):
                self.fail(
                    node,
                    f"a reduction over some of the loops of {kind.value}; bind the others to "
                    "another dimension",
                )

    def instruction(self, node: Instruction, team: Team, counts: Mapping[Kind, int]) -> None:
        """What threads do together, or all of them agree on, every thread comes to."""
        rule = INSTRUCTIONS.get(node.name)
        if rule is None:
            self.fail(node, f"no such instruction; known: {', '.join(INSTRUCTIONS)}")
        if team.cooperative:
            self.fail(node, "an instruction inside a cooperative loop")
        if rule.threads == 1 and not rule.result and not team.uniform:
            self.fail(node, "not every thread of the block comes to this instruction")
        if rule.threads == 1 or self.symbolic:
            return
        if team.uniform and counts and prod(counts.values()) % rule.threads:
            self.fail(node, f"{prod(counts.values())} threads are no whole warps")
        if not team.uniform and not team.come_in_runs(rule.threads):
            self.fail(node, f"not every thread of {rule.threads} comes to this instruction")

    def written_once(self, node: Store, team: Team) -> None:
        """A shared element is one thread's to write: its indices tell the threads around apart."""
        moving = frozenset[str]().union(*(free_vars(i) for i in node.indices))
        nests = [nest for kind, nest in team.threads.items() if kind not in team.combined(node)]
        nests += [] if team.cooperative else [(loop,) for loop in team.virtual]
        for nest in nests:
            if not any(loop.var.name in moving for loop in nest):
                self.fail(
                    node, f"every {nest[0].kind.value} of {nest[0].var.name} writes this shared "
                    "element; the threads must share out a loop of its own"
                )  # fmt: skip
