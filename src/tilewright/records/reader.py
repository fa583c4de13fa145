"""The reading half of a records database: see `Database`.

Every method reads one consistent view and never waits for a writer.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from hashlib import sha256
from itertools import takewhile
from typing import Any

from sqlalchemy import Select, select

from tilewright.contract.gene import Gene, compact
from tilewright.ground.errors import RecordsError
from tilewright.records import codec, exchange, queries
from tilewright.records.answers import Round, Summary, TrainingGroup, TrialLine
from tilewright.records.connection import RecordStore
from tilewright.records.machine import Machine
from tilewright.records.rows import (
    FACT_KINDS,
    CeilingsRow,
    FactsRow,
    LoadRow,
    ModelRow,
    ReuseRow,
    RunRow,
    Trial,
    WorkloadRow,
)
from tilewright.records.tables import facts, machines, reuses, trials, workloads

PAGE = 1000  # rows read or looked up at once


class Reader:
    """What an open database can be asked."""

    def __init__(self, store: RecordStore) -> None:
        self._store = store

    @property
    def name(self) -> str:
        """The file or URL, without a password."""
        return self._store.name

    def machines(self) -> list[Machine]:
        """All machines, by fingerprint."""
        return self._rows(Machine, queries.MACHINES)

    def workloads(self, structure_hash: str | None = None) -> list[WorkloadRow]:
        """All workloads, or those that differ from one another in extents only; by name."""
        query = select(workloads).order_by(workloads.c.name, workloads.c.hash)
        if structure_hash is not None:
            query = query.where(workloads.c.structure_hash == structure_hash)
        return self._rows(WorkloadRow, query)

    def workload(self, hash_: str) -> WorkloadRow | None:
        """The workload of that hash."""
        rows = self._rows(WorkloadRow, select(workloads).where(workloads.c.hash == hash_))
        return rows[0] if rows else None

    def models(self) -> list[ModelRow]:
        """All models with their tasks, by name."""
        with self._store.read() as connection:
            return queries.models(connection)

    def trial(self, trial_id: int) -> Trial | None:
        """The trial of that id."""
        rows = self._trials(queries.WHOLE_TRIALS.where(trials.c.id == trial_id))
        return rows[0] if rows else None

    def runs(self) -> list[RunRow]:
        """All tuning runs, by machine and start."""
        return self._known(RunRow)

    def loads(self) -> list[LoadRow]:
        """Of the runs whose machine was busy, by machine and start."""
        return self._known(LoadRow)

    def facts(self, kind: str) -> list[FactsRow]:
        """All facts of a kind, by machine and time."""
        return self._known(FactsRow, kind)

    def ceilings(self) -> list[CeilingsRow]:
        """What is known of machines' limits, by machine."""
        return self._known(CeilingsRow)

    def plan(self, machine: str, plan: str, seed: int) -> list[ReuseRow]:
        """The steps of a plan in order; none where it is not known."""
        query = select(reuses).where(
            reuses.c.machine == machine, reuses.c.plan == plan, reuses.c.seed == seed
        )
        return self._rows(ReuseRow, query.order_by(reuses.c.position, reuses.c.workload_hash))

    def reused(self, machine: str) -> dict[str, ReuseRow]:
        """The last step that reused another's programs, of each workload that has one, by hash."""
        query = select(reuses).where(reuses.c.machine == machine, reuses.c.trials != compact(()))
        ordered = query.order_by(reuses.c.begun_at, reuses.c.plan, reuses.c.seed)
        return {row.workload_hash: row for row in self._rows(ReuseRow, ordered)}

    def history(self, machine: str) -> list[TrialLine]:
        """All trials of a machine without genes, in order of insertion."""
        with self._store.read() as connection:
            return queries.history(connection, machine)

    def best(
        self,
        workload_hash: str,
        machine: str | None = None,
        confirmed: bool | None = None,
        without: Collection[int] = (),
    ) -> Trial | None:
        """The fastest correct trial on the machine (a fingerprint), or on any; ties: the first.
        Trials whose ids are in `without` are passed over.

        Of those that were measured again in turns, if there are any: figures of different moments
        do not compare. With `confirmed`, of those or the others only.
        """
        query = queries.WHOLE_TRIALS.where(
            trials.c.workload_hash == workload_hash, trials.c.latency_s.is_not(None)
        )
        if machine is not None:
            query = query.where(trials.c.machine == machine)
        if confirmed is not None:
            query = query.where(queries.CONFIRMED if confirmed else ~queries.CONFIRMED)
        if without:
            query = query.where(trials.c.id.not_in(without))
        rows = self._trials(query.order_by(*queries.BEST_FIRST).limit(1))
        return rows[0] if rows else None

    def trials(
        self, workload_hash: str | None = None, machine: str | None = None, after: int = 0
    ) -> Iterator[Trial]:
        """Trials in order of insertion, those after id `after`; writing meanwhile is fine."""
        query = queries.WHOLE_TRIALS.order_by(trials.c.id).limit(PAGE)
        if workload_hash is not None:
            query = query.where(trials.c.workload_hash == workload_hash)
        if machine is not None:
            query = query.where(trials.c.machine == machine)
        while page := self._trials(query.where(trials.c.id > after)):
            yield from page
            if not (ids := [t.id for t in page if t.id is not None]) or ids[-1] <= after:
                raise RecordsError(f"records database {self.name} is corrupt: its trials repeat")
            after = ids[-1]

    def lookup(self, workload_hash: str, machine: str, genes: Iterable[Gene]) -> dict[Gene, Trial]:
        """The recorded trials among some genes: what need not be measured again."""
        wanted = {gene.hash: gene for gene in genes}
        hashes = list(wanted)
        query = queries.WHOLE_TRIALS.where(
            trials.c.workload_hash == workload_hash, trials.c.machine == machine
        )
        found: dict[Gene, Trial] = {}
        for start in range(0, len(hashes), PAGE):
            page = query.where(trials.c.gene_hash.in_(hashes[start : start + PAGE]))
            found |= {trial.gene: trial for trial in self._trials(page)}
        if odd := next((t for g, t in found.items() if g.hash not in wanted), None):
            raise RecordsError(
                f"records database {self.name} is corrupt: trial {odd.id} is another program than "
                "its hash says"
            )
        return found

    def measured(self, machine: str) -> set[str]:
        """The hashes of the workloads that have trials of a machine."""
        query = select(trials.c.workload_hash).where(trials.c.machine == machine).distinct()
        with self._store.read() as connection:
            return set(connection.scalars(query))

    def rounds(self, machine: str, workload_hash: str | None = None) -> list[Round]:
        """The rounds of all tasks (or one) on a machine, in order of their first trial."""
        with self._store.read() as connection:
            return queries.rounds(connection, machine, workload_hash)

    def training_set(
        self,
        machine: str,
        workload_hashes: Collection[str] | None = None,
        include_failed: bool = False,
    ) -> list[TrainingGroup]:
        """What a cost model learns from: decisions and measured latencies, of some workloads only
        if they are named.

        One group for each workload and producer, in order of first trial; default programs are
        what a search begins with, and are in none.
        """
        with self._store.read() as connection:
            return queries.training_set(connection, machine, workload_hashes, include_failed)

    def state(self) -> str:
        """A digest of all trials, workloads and machines: of what programs are chosen by."""
        digest = sha256()
        with self._store.read() as connection:
            for table in (machines, workloads, trials):
                for row in connection.execute(select(table).order_by(*table.primary_key)):
                    digest.update(repr(tuple(row)).encode())
        return digest.hexdigest()

    def summary(self) -> Summary:
        """Counts, best latencies and errors of the whole database."""
        with self._store.read() as connection:
            return queries.summary(connection)

    def items(self) -> Iterator[exchange.Item]:
        """Everything but plans of reuse, in an order in which no row names one that comes later."""
        # Trials are bounded first and named rows read after, so that no line names one that
        # another process added meanwhile.
        with self._store.read() as connection:
            last = queries.last_trial(connection)
        models, found_facts = self.models(), [f for kind in FACT_KINDS for f in self.facts(kind)]
        beside: list[exchange.Item] = [*self.runs(), *self.loads(), *found_facts, *self.ceilings()]
        yield from self.machines()
        yield from self.workloads()
        yield from models
        yield from beside
        yield from takewhile(lambda trial: (trial.id or 0) <= last, self.trials())

    def _known(self, kind: type[codec.Row], of: str = "") -> list[codec.Row]:
        """All facts that are such rows (`of` a kind), in the order of their key."""
        wanted = of or codec.FACTS[kind][0]
        query = select(facts).where(facts.c.kind == wanted)
        return self._rows(kind, query.order_by(*facts.primary_key))

    def _rows(self, kind: type[codec.Row], query: Select[Any]) -> list[codec.Row]:
        with self._store.read() as connection:
            return [codec.row_of(kind, line) for line in queries.rows(connection, query)]

    def _trials(self, query: Select[Any]) -> list[Trial]:
        with self._store.read() as connection:
            return [codec.trial_of(line) for line in queries.rows(connection, query)]
