"""Records from elsewhere are what they say before they are merged.

    database.import_("records.jsonl", ImportCheck(database))

The records keep DAGs and genes as text. Here they are read: a DAG has the hash it comes under, and
a gene's producer can make a program of its DAG. Of a vendor's template the decisions are numbers.
"""

from __future__ import annotations

from tilewright.contract.gene import read_decisions
from tilewright.contract.surroundings import Setting
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.serialize import dag_from_json, workload_hash
from tilewright.ground.errors import RecordsError, TilewrightError
from tilewright.records.database import Database
from tilewright.records.exchange import Item
from tilewright.records.rows import Trial, WorkloadRow
from tilewright.schedule.producers import maker_of
from tilewright.search.tasks import task_hash


class ImportCheck:
    """Checks the rows of an export in order; `database` may know workloads that it names."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._dags: dict[str, ComputeDAG] = {}

    def __call__(self, item: Item) -> None:
        """Raises RecordsError for a workload or trial that is not what it says."""
        match item:
            case WorkloadRow():
                self._dags[item.hash] = self.dag(item)
            case Trial():
                self.trial(item)

    def dag(self, row: WorkloadRow) -> ComputeDAG:
        """The DAG of a workload, alone or in a network."""
        try:
            dag = dag_from_json(row.dag)
            computation = workload_hash(dag)
        except TilewrightError as error:
            raise RecordsError(f"workload {row.name}: {error}") from error
        if row.hash != task_hash(computation, Setting(row.between_bytes)):
            raise RecordsError(
                f"workload {row.name}: its DAG's hash is {computation}, not {row.hash}"
            )
        return dag

    def trial(self, trial: Trial) -> None:
        """The gene of a trial, that of one that failed, too."""
        if trial.workload_hash not in self._dags:
            row = self.database.workload(trial.workload_hash)
            if row is None:
                return  # adding it says that the workload is missing
            self._dags[row.hash] = self.dag(row)
        try:
            if trial.gene.key == "native":
                read_decisions(trial.gene.decisions)  # whether they fit, building says
                return
            maker_of(self._dags[trial.workload_hash], trial.gene)
        except TilewrightError as error:
            what = f"trial {trial.gene.hash}: its gene does not fit"
            raise RecordsError(f"{what}: {error}") from error
