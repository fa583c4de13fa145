"""Two writers at once, and writers killed at any moment."""

from __future__ import annotations

import multiprocessing
import random
import signal
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from multiprocessing.context import ForkServerContext
from pathlib import Path

import pytest
from record_writers import BATCH, write_forever, write_shared

from tilewright.ground.errors import RecordsError
from tilewright.records import Database
from tilewright.testing.databases import MACHINE, WORKLOAD, number_of, trial

KILLS = 20


@pytest.fixture(scope="module")
def processes() -> Iterator[ForkServerContext]:
    """Starts a process in milliseconds, from a server that has the sample rows loaded."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tilewright.testing.databases"])
    yield context


def test_two_processes_write_the_same_trials(target: str, processes: ForkServerContext) -> None:
    count = 300
    orders = [list(range(count)), list(range(count))]
    random.Random(5).shuffle(orders[1])
    barrier, answers = processes.Barrier(2), processes.Queue()
    writers = [
        processes.Process(target=write_shared, args=(target, barrier, answers, order))
        for order in orders
    ]
    for writer in writers:
        writer.start()
    ids = [answers.get(timeout=30), answers.get(timeout=30)]
    for writer in writers:
        writer.join(30)
        assert writer.exitcode == 0
    with Database.open(target) as database:
        stored = {entry.id: number_of(entry) for entry in database.trials()}
    assert sorted(stored.values()) == list(range(count))
    assert sorted(ids[0] + ids[1]) == sorted(stored)  # each row was won by exactly one of them
    assert ids[0] and ids[1]


def test_kills_leave_whole_batches(target: str, processes: ForkServerContext) -> None:
    chance = random.Random(11)
    rounds = 0
    progressed = 0
    for _ in range(KILLS):
        kill_a_writer(processes, target, rounds, after=chance.randrange(2, 12))
        with Database.open(target) as database:
            sizes = Counter(entry.round for entry in database.trials())
        assert set(sizes.values()) <= {BATCH}
        assert sorted(sizes) == list(range(len(sizes)))
        progressed += len(sizes) > rounds
        rounds = len(sizes)
    assert progressed >= KILLS // 4  # most kills did strike a writer at work


def kill_a_writer(processes: ForkServerContext, target: str, first_round: int, after: int) -> None:
    """Start one and kill it when it has told `after` times that it begins something."""
    told, tells = processes.Pipe(duplex=False)
    writer = processes.Process(target=write_forever, args=(target, first_round, tells))
    writer.start()
    for _ in range(after):
        assert told.poll(30)
        told.recv()
    writer.kill()
    writer.join()
    assert writer.exitcode == -signal.SIGKILL


def test_a_kill_while_creating_leaves_a_usable_file(
    target: str, processes: ForkServerContext
) -> None:
    kill_a_writer(processes, target, 0, after=1)
    with Database.open(target) as database:
        database.add_machine(MACHINE)
        database.add_workload(WORKLOAD)
        database.add_trials([trial(10**6)])
        assert database.lookup("w0", MACHINE.fingerprint, [trial(10**6).gene])


def test_the_log_is_switched_on_when_the_last_reader_lets_go(tmp_path: Path) -> None:
    file = tmp_path / "records.db"
    Database.open(file).close()
    reader = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
    reader.execute("PRAGMA journal_mode = DELETE")
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM tilewright_meta").fetchall()
    with pytest.raises(RecordsError, match="another process holds the write lock"):
        Database.open(file, timeout_s=0.05)
    release = threading.Timer(0.1, reader.rollback)
    release.start()
    Database.open(file, timeout_s=20.0).close()
    release.join()
    reader.close()
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_threads_share_a_database(db: Database) -> None:
    def write(offset: int) -> None:
        for number in range(20):
            db.add_trials([trial(offset + number)])
            found = db.best("w0", MACHINE.fingerprint)
            best.append(number_of(found) if found else None)

    best: list[int | None] = []
    threads = [threading.Thread(target=write, args=(offset,)) for offset in (0, 1000, 2000)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(list(db.trials())) == 60
    assert best[-1] == 0 and None not in best
