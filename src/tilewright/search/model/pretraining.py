"""What records teach a cost model before, or without, any trial of its own.

pretrain(rows, database, machine, spaces)      spaces of recorded workloads, by hash
"""

from __future__ import annotations

from collections.abc import Mapping

from tilewright.cost.extractor import FeatureExtractor
from tilewright.records.reader import Reader
from tilewright.search.model.training_set import TrainingSet
from tilewright.space.space import Space


def pretrain(
    rows: TrainingSet, database: Reader, machine: str, spaces: Mapping[str, Space]
) -> None:
    """Append what a machine's records (a fingerprint) hold of some workloads to a training set."""
    extractors = {name: FeatureExtractor(space) for name, space in spaces.items()}
    for group in database.training_set(machine, spaces):
        found, at = spaces[group.workload_hash].rows_of(group.producer, group.decisions)
        if len(at):
            features, owner = extractors[group.workload_hash].extract(found)
            rows.append(
                features,
                owner,
                1.0 / group.latency_s[at],
                workload=group.workload_hash,
                round_id=0,
                region_s=group.region_s[at],
            )
