"""Between the frozen rows and what the tables and JSON lines hold.

    trial_columns(trial) -> {"workload_hash": …, "gene_hash": "5a…", "latency_s": 0.002, …}
    trial_of(result_row) -> Trial

Floats survive exactly (Python prints the shortest text that reads back equal).
"""

from __future__ import annotations

import json
from dataclasses import fields
from hashlib import sha256
from typing import Any

from tilewright.errors import RecordsError
from tilewright.gene import Gene, compact
from tilewright.records.machine import Machine
from tilewright.records.rows import (
    CeilingsRow,
    FactsRow,
    LoadRow,
    ModelRow,
    ModelTask,
    RunRow,
    Trial,
    WorkloadRow,
)

Columns = dict[str, Any]


def machine_columns(machine: Machine) -> Columns:
    return {
        "fingerprint": machine.fingerprint,
        "kind": machine.kind,
        "cpu": machine.cpu,
        "features": compact(machine.features),
        "cores": machine.cores,
        "compiler": machine.compiler,
    }


def machine_of(columns: Columns) -> Machine:
    features = tuple(json.loads(columns["features"]))
    return Machine(**{**columns, "features": features})


def workload_columns(workload: WorkloadRow) -> Columns:
    return {
        "hash": workload.hash,
        "name": workload.name,
        "structure_hash": workload.structure_hash,
        "extents": compact(workload.extents),
        "flops": workload.flops,
        "dag": workload.dag,
        "between_bytes": workload.between_bytes,
    }


def workload_of(columns: Columns) -> WorkloadRow:
    return WorkloadRow(**{**columns, "extents": tuple(json.loads(columns["extents"]))})


def producer_columns(gene: Gene) -> Columns:
    """The line in `producers` of a gene's producer."""
    return {"hash": _hash(gene.producer), "producer": gene.producer}


def _hash(producer: str) -> str:
    return sha256(producer.encode()).hexdigest()[:32]


def gene_columns(gene: Gene) -> Columns:
    """What a line of `trials` says of its gene."""
    return {
        "gene_hash": gene.hash,
        "producer_hash": _hash(gene.producer),
        "decisions": gene.decisions,
    }


def trial_columns(trial: Trial) -> Columns:
    """The trial's line in `trials`; its id is the database's."""
    return {
        "workload_hash": trial.workload_hash,
        "machine": trial.machine,
        **gene_columns(trial.gene),
        "round": trial.round,
        "seed": trial.seed,
        "origin": trial.origin,
        "stage": trial.stage,
        "error": trial.error,
        "measured_s": trial.measured_s,
        "latency_s": trial.latency_s,
        "predicted": trial.predicted,
        "build_s": trial.build_s,
        "run_s": trial.run_s,
        "region_s": trial.region_s,
        "created_at": trial.created_at,
        "latencies_s": compact(trial.latencies_s),
        "confirmed_s": compact(trial.confirmed_s),
        "message": trial.message,
    }


def trial_of(columns: Columns) -> Trial:
    """From a joined line of `trials` (less what a trial derives) and `producers`."""
    lists = {name: tuple(json.loads(columns[name])) for name in ("latencies_s", "confirmed_s")}
    gene = Gene(columns.pop("producer"), columns.pop("decisions"))
    return Trial(**{**columns, **lists, "gene": gene})


def run_columns(run: RunRow) -> Columns:
    return {field.name: getattr(run, field.name) for field in fields(run)}


def load_columns(load: LoadRow) -> Columns:
    return {field.name: getattr(load, field.name) for field in fields(load)}


def facts_columns(row: FactsRow) -> Columns:
    return {"machine": row.machine, "kind": row.kind, "at": row.at, "facts": compact(row.facts)}


def facts_of(columns: Columns) -> FactsRow:
    """Raises RecordsError for text that is no JSON object."""
    try:
        return FactsRow(**{**columns, "facts": dict(json.loads(columns["facts"]))})
    except (ValueError, TypeError) as error:
        raise RecordsError(f"facts of {columns['kind']!r} cannot be read: {error}") from error


def ceilings_columns(ceilings: CeilingsRow) -> Columns:
    return {
        "machine": ceilings.machine,
        "flops_per_s": ceilings.flops_per_s,
        "sizes_bytes": compact(ceilings.sizes_bytes),
        "bytes_per_s": compact(ceilings.bytes_per_s),
        "measured_at": ceilings.measured_at,
    }


def ceilings_of(columns: Columns) -> CeilingsRow:
    lists = {name: tuple(json.loads(columns[name])) for name in ("sizes_bytes", "bytes_per_s")}
    return CeilingsRow(**{**columns, **lists})


def model_columns(model: ModelRow) -> tuple[Columns, list[Columns], list[Columns]]:
    """The model's line in `models`, its lines in `model_tasks` and that in `model_files`."""
    tasks = [
        {
            "model_hash": model.hash,
            "position": position,
            "workload_hash": task.workload_hash,
            "weight": task.weight,
        }
        for position, task in enumerate(model.tasks)
    ]
    files = [{"model_hash": model.hash, "path": model.path}] if model.path else []
    return {"hash": model.hash, "name": model.name}, tasks, files


def model_of(hash_: str, name: str, tasks: list[tuple[str, int]], path: str) -> ModelRow:
    return ModelRow(hash_, name, tuple(ModelTask(*task) for task in tasks), path)
