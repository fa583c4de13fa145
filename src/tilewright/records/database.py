"""The records database: every workload, machine and trial ever measured.

    with Database.open("tuning.db") as db:
        db.add_machine(machine)
        db.add_workload(workload)
        ids = db.add_trials(batch)               # one transaction; None where known before
        db.best(workload.hash, machine.fingerprint).latency_s

Every method is one transaction, so a kill at any moment leaves whole batches. Rows are only ever
added, except a confirmation of a trial, a model's tasks, a trial's source, a run's progress and a
machine's ceilings, which the newest replaces. Every method raises RecordsError, naming the database
and the way out, when the database fails. A `Database` may be used from several threads, and a file
or server by several processes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import takewhile
from pathlib import Path
from statistics import median
from types import TracebackType
from typing import Any

from sqlalchemy import Connection, Select, Table, case, delete, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite

from tilewright.errors import RecordsError
from tilewright.records import codec, exchange, queries
from tilewright.records.connection import Store, connect
from tilewright.records.machine import Machine
from tilewright.records.rows import (
    CeilingsRow,
    LoadRow,
    ModelRow,
    Round,
    RunRow,
    Source,
    Summary,
    TrainingGroup,
    Trial,
    TrialLine,
    TrialSource,
    WorkloadRow,
    check_latencies,
)
from tilewright.records.tables import (
    ceilings,
    conditions,
    loads,
    machines,
    model_tasks,
    models,
    runs,
    sources,
    traces,
    trials,
    workloads,
)

PAGE = 1000  # rows read or looked up at once


class Database:
    """An open records database; see the module docstring."""

    def __init__(self, store: Store) -> None:
        self._store = store
        with store.read() as connection:
            self._trials = queries.whole_trials(connection)

    @staticmethod
    def open(
        target: str | Path, create: bool = True, readonly: bool = False, timeout_s: float = 30.0
    ) -> Database:
        """Open a SQLite file (or ":memory:", for one thread) or a postgresql:// URL.

        `create` makes an absent file; `readonly` neither creates nor writes; `timeout_s` is how
        long a write waits for another writer. Raises RecordsError.
        """
        return Database(connect(target, create=create, readonly=readonly, timeout_s=timeout_s))

    @property
    def name(self) -> str:
        """The file or URL, without a password."""
        return self._store.name

    def close(self) -> None:
        """Release the file or the server's connections."""
        self._store.engine.dispose()

    def __enter__(self) -> Database:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # Writing

    def add_machine(self, machine: Machine) -> bool:
        """Add a machine; False if it was there."""
        return self._add(machines, codec.machine_columns(machine))

    def add_workload(self, workload: WorkloadRow) -> bool:
        """Add a workload; False if it was there (the first name stays)."""
        return self._add(workloads, codec.workload_columns(workload))

    def add_trials(self, batch: Sequence[Trial]) -> list[int | None]:
        """Add a batch at once: all of it is kept or none.

        Returns one entry per trial, in order: its new id, or None where the same workload, trace
        and machine was already recorded (by anyone, or earlier in the batch). Their workloads and
        machines must have been added.
        """
        if not batch:
            return []
        with self._store.write() as connection:
            self._check_known(connection, batch)
            key = (trials.c.workload_hash, trials.c.machine, trials.c.trace_hash)
            statement = self._ignoring(trials).returning(trials.c.id, *key)
            result = connection.execute(statement, [codec.trial_columns(trial) for trial in batch])
            ids = {tuple(found): int(id_) for id_, *found in result}
            placed: list[int | None] = []
            added, noted = [], []
            for trial in batch:
                id_ = ids.pop((trial.workload_hash, trial.machine, trial.trace_hash), None)
                placed.append(id_)
                if id_ is not None:
                    added.append({"trial_id": id_, "trace": trial.trace})
                    if trial.region_s is not None:
                        noted.append({"trial_id": id_, "region_s": trial.region_s})
            for table, lines in ((traces, added), (conditions, noted)):
                if lines:
                    connection.execute(insert(table), lines)
        return placed

    def confirm(self, trial_id: int, latencies_s: Sequence[float]) -> None:
        """Keep the latencies of a confirmation in fresh processes; they decide `best` from now on.

        The trial's own measurement stays as it was, so that a search can be replayed.
        """
        check_latencies(latencies_s, f"confirmation of trial {trial_id}")
        if not latencies_s:
            raise RecordsError(f"confirmation of trial {trial_id} holds no latency")
        values = {
            "confirmed_s": codec.to_json(tuple(latencies_s)),
            "latency_s": median(latencies_s),
        }
        found = (trials.c.id == trial_id) & trials.c.error.is_(None)
        with self._store.write() as connection:
            if not connection.execute(update(trials).where(found).values(values)).rowcount:
                raise RecordsError(f"{self.name} has no successful trial {trial_id} to confirm")

    def add_model(self, model: ModelRow) -> None:
        """Record which tasks a model has, in place of what was recorded of it before."""
        head, tasks = codec.model_columns(model)
        with self._store.write() as connection:
            known = queries.known(connection, workloads.c.hash, [t["workload_hash"] for t in tasks])
            for task in model.tasks:
                if task.workload_hash not in known:
                    raise RecordsError(
                        f"model {model.name!r} names workload {task.workload_hash}, which is not "
                        f"in {self.name}: record it before"
                    )
            connection.execute(delete(model_tasks).where(model_tasks.c.model_hash == model.hash))
            connection.execute(delete(models).where(models.c.hash == model.hash))
            connection.execute(insert(models), head)
            if tasks:
                connection.execute(insert(model_tasks), tasks)

    def add_source(self, trial_id: int, source: Source) -> None:
        """Keep a trial's printed nest and IR, in place of those kept before."""
        row = {"trial_id": trial_id, "nest": source.nest, "ir": source.ir}
        with self._store.write() as connection:
            if not queries.known(connection, trials.c.id, [trial_id]):
                raise RecordsError(f"{self.name} has no trial {trial_id} to keep a source for")
            connection.execute(delete(sources).where(sources.c.trial_id == trial_id))
            connection.execute(insert(sources), row)

    def keep_run(self, run: RunRow) -> None:
        """Record how far a run has come, in place of what was recorded of it before."""
        self._replace(runs, codec.run_columns(run))

    def keep_load(self, load: LoadRow) -> None:
        """Record that a run's machine was busy, in place of what was recorded of it before."""
        self._replace(loads, codec.load_columns(load))

    def keep_ceilings(self, found: CeilingsRow) -> None:
        """Record what a machine can do at best, in place of what was recorded before."""
        self._replace(ceilings, codec.ceilings_columns(found))

    # Reading

    def machines(self) -> list[Machine]:
        """All machines, by fingerprint."""
        return [codec.machine_of(row) for row in self._all(queries.MACHINES)]

    def workloads(self, structure_hash: str | None = None) -> list[WorkloadRow]:
        """All workloads, or those that differ from one another in extents only; by name."""
        query = select(workloads).order_by(workloads.c.name, workloads.c.hash)
        if structure_hash is not None:
            query = query.where(workloads.c.structure_hash == structure_hash)
        return [codec.workload_of(row) for row in self._all(query)]

    def workload(self, hash_: str) -> WorkloadRow | None:
        """The workload of that hash."""
        rows = self._all(select(workloads).where(workloads.c.hash == hash_))
        return codec.workload_of(rows[0]) if rows else None

    def models(self) -> list[ModelRow]:
        """All models with their tasks, by name."""
        with self._store.read() as connection:
            return queries.models(connection)

    def trial(self, trial_id: int) -> Trial | None:
        """The trial of that id."""
        rows = self._all(self._trials.where(trials.c.id == trial_id))
        return codec.trial_of(rows[0]) if rows else None

    def source(self, trial_id: int) -> Source | None:
        """The printed nest and IR kept for a trial, if any were."""
        query = select(sources.c.nest, sources.c.ir).where(sources.c.trial_id == trial_id)
        rows = self._all(query)
        return Source(**rows[0]) if rows else None

    def runs(self) -> list[RunRow]:
        """All tuning runs, by machine and start."""
        with self._store.read() as connection:
            return [RunRow(**row) for row in queries.added(connection, runs)]

    def loads(self) -> list[LoadRow]:
        """Of the runs whose machine was busy, by machine and start."""
        with self._store.read() as connection:
            return [LoadRow(**row) for row in queries.added(connection, loads)]

    def ceilings(self) -> list[CeilingsRow]:
        """What is known of machines' limits, by machine."""
        with self._store.read() as connection:
            return [codec.ceilings_of(row) for row in queries.added(connection, ceilings)]

    def history(self, machine: str) -> list[TrialLine]:
        """All trials of a machine without traces and decisions, in order of insertion."""
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
        again = trials.c.confirmed_s != codec.to_json(())
        query = self._trials.where(
            trials.c.workload_hash == workload_hash, trials.c.latency_s.is_not(None)
        )
        if machine is not None:
            query = query.where(trials.c.machine == machine)
        if confirmed is not None:
            query = query.where(again if confirmed else ~again)
        if without:
            query = query.where(trials.c.id.not_in(without))
        order = (case((again, 0), else_=1), trials.c.latency_s, trials.c.id)
        rows = self._all(query.order_by(*order).limit(1))
        return codec.trial_of(rows[0]) if rows else None

    def trials(
        self, workload_hash: str | None = None, machine: str | None = None, after: int = 0
    ) -> Iterator[Trial]:
        """Trials in order of insertion, those after id `after`; writing meanwhile is fine."""
        query = self._trials.order_by(trials.c.id).limit(PAGE)
        if workload_hash is not None:
            query = query.where(trials.c.workload_hash == workload_hash)
        if machine is not None:
            query = query.where(trials.c.machine == machine)
        while page := self._all(query.where(trials.c.id > after)):
            yield from map(codec.trial_of, page)
            after = page[-1]["id"]

    def lookup(
        self, workload_hash: str, machine: str, trace_hashes: Iterable[str]
    ) -> dict[str, Trial]:
        """The recorded trials among some traces, by trace hash: what need not be measured again."""
        wanted = list(dict.fromkeys(trace_hashes))
        query = self._trials.where(
            trials.c.workload_hash == workload_hash, trials.c.machine == machine
        )
        found: dict[str, Trial] = {}
        for start in range(0, len(wanted), PAGE):
            page = query.where(trials.c.trace_hash.in_(wanted[start : start + PAGE]))
            found |= {row["trace_hash"]: codec.trial_of(row) for row in self._all(page)}
        return found

    def rounds(self, machine: str, workload_hash: str | None = None) -> list[Round]:
        """The rounds of all tasks (or one) on a machine, in order of their first trial."""
        with self._store.read() as connection:
            return queries.rounds(connection, machine, workload_hash)

    def training_set(self, machine: str, include_failed: bool = False) -> list[TrainingGroup]:
        """What a cost model learns from: decision rows and measured latencies, as arrays.

        One group for each workload and sketch, in order of first trial. Traces are not read.
        """
        with self._store.read() as connection:
            return queries.training_set(connection, machine, include_failed)

    def summary(self) -> Summary:
        """Counts, best latencies and errors of the whole database."""
        with self._store.read() as connection:
            return queries.summary(connection)

    # Exchange

    def export(self, file: str | Path) -> int:
        """Write everything as JSON lines (gzip if the name ends in .gz); returns how many trials.

        The file appears whole or not at all. Raises RecordsError if it cannot be written.
        """
        written = 0

        def items() -> Iterator[exchange.Item]:
            nonlocal written
            # Trials are bounded first and named rows read after, so that no line names one that
            # another process added meanwhile.
            with self._store.read() as connection:
                last = queries.last_trial(connection)
            models, found_runs, found_ceilings = self.models(), self.runs(), self.ceilings()
            found_loads = self.loads()
            yield from self.machines()
            yield from self.workloads()
            yield from models
            yield from found_runs
            yield from found_loads
            yield from found_ceilings
            for trial in takewhile(lambda trial: (trial.id or 0) <= last, self.trials()):
                written += 1
                yield trial
            yield from self._sources(last)

        exchange.write_items(Path(file), items())
        return written

    def import_(
        self, file: str | Path, check: Callable[[exchange.Item], None] = lambda _: None
    ) -> exchange.Imported:
        """Merge an export: rows that are here already stay as they are. Can be repeated.

        Raises RecordsError naming the line that is wrong, or that `check` raises it for; the
        batches before it are kept.
        """
        file = Path(file)
        counts: Counter[str] = Counter()
        batch: list[Trial] = []
        present = {model.hash for model in self.models()}
        for item in exchange.read_items(file, check):
            with exchange.importing(file):
                if len(batch) == PAGE or not isinstance(item, Trial):
                    self._import_trials(batch, counts)
                match item:
                    case Trial():
                        batch.append(item)
                    case Machine():
                        counts["machines"] += self.add_machine(item)
                    case WorkloadRow():
                        counts["workloads"] += self.add_workload(item)
                    case ModelRow() if item.hash not in present:
                        self.add_model(item)
                        counts["models"] += 1
                    case RunRow():
                        counts["runs"] += self._add(runs, codec.run_columns(item))
                    case LoadRow():
                        self._add(loads, codec.load_columns(item))
                    case CeilingsRow():
                        self._add(ceilings, codec.ceilings_columns(item))
                    case TrialSource():
                        counts["sources"] += self._import_source(item)
        with exchange.importing(file):
            self._import_trials(batch, counts)
        return exchange.Imported(**counts)

    def _import_trials(self, batch: list[Trial], counts: Counter[str]) -> None:
        """Add the batch, count it and empty it."""
        ids = self.add_trials(batch)
        counts["trials"] += sum(id_ is not None for id_ in ids)
        counts["known_trials"] += sum(id_ is None for id_ in ids)
        batch.clear()

    def _sources(self, last: int) -> Iterator[TrialSource]:
        """The sources kept for trials up to id `last`."""
        after = 0
        while True:
            query = queries.SOURCES.where(trials.c.id > after, trials.c.id <= last).limit(PAGE)
            page = self._all(query)
            if not page:
                return
            for row in page:
                after = row.pop("id")
                yield TrialSource(**row)

    def _import_source(self, item: TrialSource) -> bool:
        """Keep an imported source unless its trial has one; whether it was kept."""
        found = self.lookup(item.workload_hash, item.machine, [item.trace_hash])
        trial = found.get(item.trace_hash)
        if trial is None or trial.id is None or self.source(trial.id) is not None:
            return False
        self.add_source(trial.id, Source(item.nest, item.ir))
        return True

    def _all(self, query: Select[Any]) -> list[codec.Columns]:
        with self._store.read() as connection:
            return queries.rows(connection, query)

    def _add(self, table: Table, columns: codec.Columns) -> bool:
        statement = self._ignoring(table).returning(*table.primary_key)
        with self._store.write() as connection:
            return connection.execute(statement, columns).first() is not None

    def _replace(self, table: Table, columns: codec.Columns) -> None:
        """Put a row in place of the one with its key."""
        key = [column == columns[column.name] for column in table.primary_key]
        with self._store.write() as connection:
            connection.execute(delete(table).where(*key))
            connection.execute(insert(table), columns)

    def _ignoring(self, table: Table) -> sqlite.Insert | postgresql.Insert:
        """INSERT that leaves a row with the same key alone."""
        if self._store.dialect == "sqlite":
            return sqlite.insert(table).on_conflict_do_nothing()
        return postgresql.insert(table).on_conflict_do_nothing()

    def _check_known(self, connection: Connection, batch: Sequence[Trial]) -> None:
        """Name what is missing; the foreign keys alone would only say that something is."""
        for what, column, wanted in (
            ("workload", workloads.c.hash, {trial.workload_hash for trial in batch}),
            ("machine", machines.c.fingerprint, {trial.machine for trial in batch}),
        ):
            for missing in sorted(wanted - queries.known(connection, column, wanted)):
                raise RecordsError(
                    f"a trial names {what} {missing}, which is not in {self.name}: record it before"
                )
