"""The records database: every workload, machine and trial ever measured.

    with Database.open("tuning.db") as db:
        db.add_machine(machine)
        db.add_workload(workload)
        ids = db.add_trials(batch)               # one transaction; None where known before
        db.best(workload.hash, machine.fingerprint).latency_s

Every method is one transaction, so a kill at any moment leaves whole batches. Rows are only ever
added, except a confirmation of a trial, a model's tasks, a run's progress and a machine's ceilings,
which the newest replaces, and what a step of a plan reuses, which the first to begin it decides;
`prune`, `delete` and `rename` are for users who ask for that. Every method raises RecordsError,
naming the database and the way out, when the database fails. A `Database` may be used from several
threads, and a file or server by several processes.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from statistics import median
from types import TracebackType

from sqlalchemy import ColumnElement, Connection, Table, delete, insert, select, update

from tilewright.contract.gene import Gene, compact
from tilewright.ground.errors import InputError, RecordsError
from tilewright.ground.files import database_files, refuse_output
from tilewright.records import codec, exchange, queries, upkeep
from tilewright.records.connection import connect
from tilewright.records.machine import Machine
from tilewright.records.reader import PAGE, Reader
from tilewright.records.rows import (
    CeilingsRow,
    FactsRow,
    LoadRow,
    ModelRow,
    ReuseRow,
    RunRow,
    Trial,
    WorkloadRow,
    check_latencies,
)
from tilewright.records.tables import (
    facts,
    insert_new,
    machines,
    model_files,
    model_tasks,
    models,
    producers,
    reuses,
    trials,
    workloads,
)

TABLES: dict[type, Table] = {
    Machine: machines,
    WorkloadRow: workloads,
    ReuseRow: reuses,
    **dict.fromkeys((RunRow, LoadRow, FactsRow, CeilingsRow), facts),
}
COUNTED = {Machine: "machines", WorkloadRow: "workloads", RunRow: "runs"}
"""What an import tells of."""


class Database(Reader):
    """An open records database; see the module docstring, and `Reader` for what it answers."""

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

    def checkpoint(self) -> None:
        """Let the SQLite file alone hold everything, so that a copy of it is whole (else it is once
        the last process closes the database). Never waits for others.
        """
        self._store.checkpoint()

    def add_machine(self, machine: Machine) -> bool:
        """Add a machine; False if it was there."""
        return self._add(machine)

    def add_workload(self, workload: WorkloadRow) -> bool:
        """Add a workload; False if it was there (the first name stays)."""
        return self._add(workload)

    def add_trials(self, batch: Sequence[Trial]) -> list[int | None]:
        """Add a batch at once: all of it is kept or none.

        Returns one entry per trial, in order: its new id, or None where the same workload, gene
        and machine was already recorded (by anyone, or earlier in the batch). Their workloads and
        machines must have been added.
        """
        if not batch:
            return []
        with self._store.write() as connection:
            self._check_known(connection, batch)
            self._add_producers(connection, (trial.gene for trial in batch))
            key = (trials.c.workload_hash, trials.c.machine, trials.c.gene_hash)
            statement = insert_new(trials, self._store.dialect).returning(trials.c.id, *key)
            result = connection.execute(statement, [codec.trial_columns(trial) for trial in batch])
            ids = {tuple(found): int(id_) for id_, *found in result}
        return [ids.pop((t.workload_hash, t.machine, t.gene.hash), None) for t in batch]

    def confirm(self, trial_id: int, latencies_s: Sequence[float]) -> None:
        """Keep the latencies of a confirmation, in turns with the default program; they decide
        `best` from now on.

        The trial's own measurement stays as it was, so that a search can be replayed.
        """
        check_latencies(latencies_s, f"confirmation of trial {trial_id}")
        if not latencies_s:
            raise RecordsError(f"confirmation of trial {trial_id} holds no latency")
        values = {
            "confirmed_s": compact(tuple(latencies_s)),
            "latency_s": median(latencies_s),
        }
        found = (trials.c.id == trial_id) & trials.c.error.is_(None)
        with self._store.write() as connection:
            if not connection.execute(update(trials).where(found).values(values)).rowcount:
                raise RecordsError(f"{self.name} has no successful trial {trial_id} to confirm")

    def add_model(self, model: ModelRow) -> None:
        """Record which tasks a model has, in place of what was recorded of it before.

        Its name stays: the same model in another file is no other model.
        """
        with self._store.write() as connection:
            known = queries.known(
                connection, workloads.c.hash, [t.workload_hash for t in model.tasks]
            )
            for task in model.tasks:
                if task.workload_hash not in known:
                    raise RecordsError(
                        f"model {model.name!r} names workload {task.workload_hash}, which is not "
                        f"in {self.name}: record it before"
                    )
            for old in queries.models(connection):
                if old.hash == model.hash:
                    model = replace(model, name=old.name, path=model.path or old.path)
            self._put_model(connection, model)

    def keep(self, row: codec.Plain) -> None:
        """Record how far a run has come, that its machine was busy, facts, what a machine can do at
        best, or a step of a plan, in place of what was recorded of it before.
        """
        table, columns = TABLES[type(row)], codec.columns_of(row)
        with self._store.write() as connection:
            connection.execute(delete(table).where(*_key(table, columns)))
            connection.execute(insert(table), columns)

    def add_plan(self, steps: Sequence[ReuseRow]) -> list[ReuseRow]:
        """Record all steps of a plan, or none where it is known; returns it as it is recorded then.

        So processes that plan at once go by the plan of the first.
        """
        if not steps:
            return []
        head = steps[0]
        if len({(s.machine, s.plan, s.seed) for s in steps}) > 1:
            raise RecordsError(f"steps of several plans are given as plan {head.plan}")
        same = (reuses.c.machine == head.machine, reuses.c.plan == head.plan)
        with self._store.write() as connection:
            known = select(reuses.c.plan).where(*same, reuses.c.seed == head.seed).limit(1)
            if connection.execute(known).first() is None:
                connection.execute(insert(reuses), [codec.columns_of(step) for step in steps])
        return self.plan(head.machine, head.plan, head.seed)

    def pin(self, row: ReuseRow) -> ReuseRow:
        """Record which trials a step of a plan reuses, unless that is recorded; returns the step as
        it is recorded then, so that all processes go by the trials of the first.

        Raises RecordsError for a step that is not in the database.
        """
        key = _key(reuses, codec.columns_of(row))
        begins = {"trials": compact(row.trials), "begun_at": time.time()}
        with self._store.write() as connection:
            if row.trials:
                untold = reuses.c.trials == compact(())
                connection.execute(update(reuses).where(*key, untold).values(begins))
            query = select(reuses).where(*key)
            found = [codec.row_of(ReuseRow, line) for line in queries.rows(connection, query)]
        if not found:
            raise RecordsError(
                f"{self.name} has no step for {row.workload_hash} in plan {row.plan}: record the "
                "plan before"
            )
        return found[0]

    # Upkeep

    def prune(self, keep: int) -> int:
        """Drop all but the `keep` fastest programs of every task on every machine, its default
        program and those that were confirmed; returns how many trials went.

        A search goes on from what is left. A file becomes as small as what it holds.
        """
        with self._store.write() as connection:
            dropped = upkeep.beyond(connection, keep)
            upkeep.drop_trials(connection, dropped)
        self._store.give_back()
        return len(dropped)

    def delete(self, workload_hash: str) -> int:
        """Drop all trials of a task; returns how many. A task that no model has goes as well, and
        so do plans that name it.
        """
        with self._store.write() as connection:
            dropped = upkeep.trials_of(connection, workload_hash)
            upkeep.drop_trials(connection, dropped)
            upkeep.drop_unused(connection, workload_hash)
        self._store.give_back()
        return len(dropped)

    def rename(self, model_hash: str, name: str) -> None:
        """Show a model under another name."""
        with self._store.write() as connection:
            known = [m for m in queries.models(connection) if m.hash == model_hash]
            if not known:
                raise RecordsError(f"{self.name} has no model {model_hash} to rename")
            self._put_model(connection, replace(known[0], name=name))

    # Exchange

    def export(self, file: str | Path) -> int:
        """Write everything as JSON lines (gzip if the name ends in .gz); returns how many trials.

        The file appears whole or not at all. Raises RecordsError if it cannot be written, or is a
        database.
        """
        try:
            refuse_output(Path(file), (), {"the database": database_files(self.name)})
        except InputError as error:
            raise RecordsError(str(error)) from error
        written = 0

        def counted() -> Iterator[exchange.Item]:
            nonlocal written
            for item in self.items():
                written += isinstance(item, Trial)
                yield item

        exchange.write_items(Path(file), counted())
        return written

    def import_(
        self, file: str | Path, check: Callable[[exchange.Item], None] = lambda _: None
    ) -> exchange.ImportedRecords:
        """Merge an export: rows that are here already stay as they are. Can be repeated.

        Raises RecordsError naming the line that is wrong, or that `check` raises it for; the
        batches before it are kept.
        """
        file = Path(file)
        return self._take_in(exchange.read_items(file, check), lambda: exchange.importing(file))

    def merge(self, other: Reader) -> exchange.ImportedRecords:
        """Add what another database holds; rows that are here already stay as they are."""
        if other.name == self.name:
            raise RecordsError(f"{self.name} cannot be merged with itself: name another database")
        return self._take_in(other.items(), nullcontext)

    def _take_in(
        self, items: Iterable[exchange.Item], naming: Callable[[], AbstractContextManager[None]]
    ) -> exchange.ImportedRecords:
        """Add rows that are not here; errors of this database arise inside `naming()`."""
        counts: Counter[str] = Counter()
        batch: list[Trial] = []
        present = {model.hash for model in self.models()}
        for item in items:
            with naming():
                if len(batch) == PAGE or not isinstance(item, Trial):
                    self._import_trials(batch, counts)
                match item:
                    case Trial():
                        batch.append(item)
                    case ModelRow():
                        if item.hash not in present:
                            self.add_model(item)
                            counts["models"] += 1
                    case _:
                        added = self._add(item)
                        if name := COUNTED.get(type(item)):
                            counts[name] += added
        with naming():
            self._import_trials(batch, counts)
        return exchange.ImportedRecords(**counts)

    def _import_trials(self, batch: list[Trial], counts: Counter[str]) -> None:
        """Add the batch, count it and empty it."""
        ids = self.add_trials(batch)
        counts["trials"] += sum(id_ is not None for id_ in ids)
        counts["known_trials"] += sum(id_ is None for id_ in ids)
        batch.clear()

    def _put_model(self, connection: Connection, model: ModelRow) -> None:
        """Write a model in place of what is stored of it."""
        for table in (model_files, model_tasks):
            connection.execute(delete(table).where(table.c.model_hash == model.hash))
        connection.execute(delete(models).where(models.c.hash == model.hash))
        head, tasks, files = codec.model_columns(model)
        for table, lines in ((models, [head]), (model_tasks, tasks), (model_files, files)):
            if lines:
                connection.execute(insert(table), lines)

    def _add(self, row: codec.Plain) -> bool:
        """Add a row unless one with its key is there; whether it was added."""
        table = TABLES[type(row)]
        statement = insert_new(table, self._store.dialect).returning(*table.primary_key)
        with self._store.write() as connection:
            return connection.execute(statement, codec.columns_of(row)).first() is not None

    def _add_producers(self, connection: Connection, genes: Iterable[Gene]) -> None:
        """Add the producers of some genes that are not there."""
        lines = {gene.producer: codec.producer_columns(gene) for gene in genes}
        if lines:
            connection.execute(insert_new(producers, self._store.dialect), list(lines.values()))

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


def _key(table: Table, columns: codec.Columns) -> list[ColumnElement[bool]]:
    """That a line of a table is the one of the same key."""
    return [column == columns[column.name] for column in table.primary_key]
