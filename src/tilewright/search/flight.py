"""Rounds that are being measured: on one machine one after another, on several many at once.

    with Flight(ledger, lanes=8) as flight:
        flight.launch(Round(task=0, search=search, number=3, batch=batch, known={}))
        for done in flight.landed(): ...             every program of it is in the records

A round is measured in shares, each on one of the lanes; what came of a share is recorded when it
comes. `each` does so with other work.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Self, TypeVar

from tilewright.contract.gene import Gene
from tilewright.records.rows import Trial
from tilewright.search.measuring import Answer, Ledger
from tilewright.search.strategies.memory import Candidate
from tilewright.search.tasks import AllFailedError, TaskSearch

SHARE = 8  # programs that a machine builds, and then measures, at most
AHEAD = 2  # shares that wait for a machine, at most
TELL_S = 1.0  # between two looks at rounds that take long

Key = TypeVar("Key")
Result = TypeVar("Result")


@dataclass(eq=False)
class Round:
    """Candidates of a task's round, and what is `known` of them; `left` shares are not measured;
    `errors` has an entry for each other one, None unless all of it failed alike.
    """

    task: int
    search: TaskSearch
    number: int
    batch: list[Candidate]
    known: dict[Gene, Trial]
    left: int = 0
    errors: list[AllFailedError | None] = field(default_factory=list)

    @property
    def missing(self) -> list[Candidate]:
        """What is to be measured."""
        return [c for c in self.batch if c.gene not in self.known]


@dataclass(eq=False)
class Flight:
    """The rounds of a run that are under way on so many machines. One machine has one round, which
    is measured whole, in this thread.
    """

    ledger: Ledger
    lanes: int
    rounds: list[Round] = field(default_factory=list)
    turn_s: float = 0.0  # what the last round took of this thread's time

    def __post_init__(self) -> None:
        self._shares: dict[Future[Answer], tuple[Round, list[Candidate]]] = {}
        self._threads = ThreadPoolExecutor(self.lanes, "tilewright-lane")
        self._since = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    @property
    def trials(self) -> int:
        """Candidates under way."""
        return sum(len(r.batch) for r in self.rounds)

    @property
    def room(self) -> int:
        """How many more candidates the machines can take: what they measure while a round is
        proposed, and one each; none while there is enough.
        """
        if self.lanes == 1:
            return int(not self.rounds)
        shares = self._shares.items()
        waiting = sum(len(part) for f, (_, part) in shares if not (f.running() or f.done()))
        trial_s = next(reversed(self.ledger.trials_s.values()), self.turn_s)  # of all lanes
        enough = min(self.turn_s / max(trial_s, 1e-6), AHEAD * SHARE * self.lanes)
        return max(0, self.lanes + int(enough) - waiting)

    def launch(self, one: Round) -> None:
        """Have a round measured."""
        now = time.monotonic()
        self.turn_s, self._since = now - self._since, now
        self.rounds.append(one)
        missing = one.missing
        size = len(missing) if self.lanes == 1 else min(SHARE, 1 + len(missing) // self.lanes)
        parts = [missing[at : at + size] for at in range(0, len(missing), max(size, 1))]
        one.left = len(parts)
        for part in parts:
            self._shares[self._submit(one.search, part)] = one, part

    def _submit(self, search: TaskSearch, part: list[Candidate]) -> Future[Answer]:
        if self.lanes > 1:
            return self._threads.submit(self.ledger.ask, search, part)
        done: Future[Answer] = Future()
        done.set_result(self.ledger.ask(search, part))
        return done

    def landed(self, patience_s: float = TELL_S) -> list[Round]:
        """Wait so long for a share, and record what came; the rounds that are whole now, if any.
        Raises what measuring raises; AllFailedError for a round that fails alike.
        """
        if not any(r.left == 0 for r in self.rounds):
            started = time.monotonic()
            done = wait(self._shares, patience_s, FIRST_COMPLETED).done
            self._since += time.monotonic() - started
            came: dict[Round, list[tuple[list[Candidate], Answer]]] = {}
            for future in done:
                one, part = self._shares.pop(future)
                came.setdefault(one, []).append((part, future.result()))
            for one, parts in came.items():
                trials = self.ledger.entered(one.search, parts, one.number)
                one.known |= {t.gene: t for t in trials}
                one.left -= len(parts)
                one.errors += [answer.error for _, answer in parts]
        whole = [r for r in self.rounds if r.left == 0]
        for errors in (r.errors for r in whole):
            if errors and errors[0] is not None and all(errors):
                raise errors[0]
        self.rounds = [r for r in self.rounds if r.left]
        return whole

    def give_up(self) -> None:
        """Leave out what no machine has begun with."""
        for future in [f for f in self._shares if f.cancel()]:
            one, part = self._shares.pop(future)
            one.left -= 1
            gone = {c.gene for c in part}
            one.batch = [c for c in one.batch if c.gene not in gone]


def each(
    jobs: Iterable[tuple[Key, Callable[[], Result]]], lanes: int
) -> Iterator[tuple[Key, Result]]:
    """What jobs give, in their order: as many at once as there are lanes, and one by one, each
    when it is asked for, where there is one.
    """
    if lanes == 1:
        yield from ((key, job()) for key, job in jobs)
        return
    with ExitStack() as stack:
        threads = ThreadPoolExecutor(lanes, "tilewright-lane")
        stack.callback(threads.shutdown, wait=False, cancel_futures=True)
        running: list[tuple[Key, Future[Result]]] = []
        for key, job in jobs:
            running.append((key, threads.submit(job)))
            if len(running) > lanes:
                first, future = running.pop(0)
                yield first, future.result()
        yield from ((key, future.result()) for key, future in running)
