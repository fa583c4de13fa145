"""Compiled networks as they stay in the user's cache: the second compile of a model is a load.

    keep(cache, key, compiled)           code, memory, plans and notes in an entry; its block has
    compiled = kept(cache, key)          the packed constants; None where it has to be made

What makes a key is for `compilation` to say. An entry is JSON, then the object code of all kernels
and networks; nothing in it can run when it is read.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from tilewright.contract.artifact import Array, Artifact
from tilewright.contract.cache import ArtifactCache
from tilewright.ground.errors import TilewrightError
from tilewright.network.executor import Network
from tilewright.network.memory_use import Arena, MemoryUse
from tilewright.network.plan import Plan, PlannedKernel
from tilewright.runtime.buffers import BYTE, aligned_empty, return_freed
from tilewright.runtime.constants import (
    ConstantPool,
    Constants,
    offsets,
    pack,
    packed_each,
    placed_arrays,
    shared_offsets,
    write_arrays,
)
from tilewright.target import Target


@dataclass(frozen=True, slots=True)
class CompiledNetworks:
    """Networks that were compiled together, one for each shape, and what there is to say of them:
    all `notes`, and the `warnings` for who does not hear these. `weights` are what their constants
    are to be packed from, if they are not.
    """

    networks: tuple[Network, ...]
    plans: tuple[Plan, ...]
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    weights: tuple[Mapping[str, Array], ...] = ()

    def packed(self) -> CompiledNetworks:
        """The same with its constants."""
        return_freed()  # by import and compilation, whose peaks shall not add to the packed weights
        for network, weights in zip(self.networks, self.weights, strict=False):
            network.constants = pack(network.artifact, weights)
        return replace(self, weights=())

    def pooled(self, pool: ConstantPool) -> CompiledNetworks:
        """The same, where constants that `pool` has already are its."""
        for network in self.networks:
            network.constants = network.constants.pooled(pool)
        return self


def keep(cache: ArtifactCache, key: str, compiled: CompiledNetworks) -> bool:
    """Write it to the cache; whether it is there then. Constants that are not packed are so one
    after another, on their way.
    """
    if compiled.weights:
        (network,), (weights,) = compiled.networks, compiled.weights
        places, size = offsets(network.artifact.constants)
        starts: Sequence[Sequence[int]] = [places]
        pairs: Iterable[tuple[int, Array]]
        pairs = zip(places, packed_each(network.artifact, weights), strict=True)
    else:
        constants = [n.constants for n in compiled.networks]
        starts, size = shared_offsets(constants)
        pairs = placed_arrays(constants, starts)
    stamp = cache.write_block(key, size, lambda block: write_arrays(block, pairs, size))
    if stamp is None:
        return False
    linked = [(n.artifact, *n.kernels) for n in compiled.networks]
    code = {id(a): a for artifacts in linked for a in artifacts}
    numbers = {identity: i for i, identity in enumerate(code)}
    about = {
        "block": [size, stamp],
        "code": [[a.header(), len(a.object_code)] for a in code.values()],
        "networks": [
            {
                "name": network.name,
                "artifacts": [numbers[id(a)] for a in artifacts],
                "constants": places,
                "arena": [network.arena.bytes, network.arena.values, network.arena.apart],
                "calls": network.calls,
                "kernels": [asdict(k) for k in plan.kernels],
                "notes": plan.notes,
                "verdicts": plan.verdicts,
                "untemplated": plan.untemplated,
            }
            for network, plan, artifacts, places in zip(
                compiled.networks, compiled.plans, linked, starts, strict=True
            )
        ],
        "notes": compiled.notes,
        "warnings": compiled.warnings,
    }
    head = json.dumps(about, separators=(",", ":")).encode()
    parts = (a.object_code for a in code.values())
    cache.write(key, b"".join((len(head).to_bytes(4, "little"), head, *parts)))
    return True


def kept(cache: ArtifactCache, key: str, target: Target) -> CompiledNetworks | None:
    """What was kept under `key`; None where there is nothing that is whole."""
    data = cache.read(key)
    if data is None:
        return None
    with contextlib.suppress(TilewrightError, ValueError, KeyError, TypeError, IndexError):
        end = 4 + int.from_bytes(data[:4], "little")
        found = _read(cache, key, target, json.loads(data[4:end]), memoryview(data)[end:])
        if found is not None:
            return found
    cache.drop(key)
    return None


def _read(
    cache: ArtifactCache, key: str, target: Target, about: Mapping[str, Any], code: memoryview
) -> CompiledNetworks | None:
    artifacts = []
    for header, length in about["code"]:
        artifacts.append(Artifact.of_header(header, bytes(code[:length])))
        code = code[length:]
    size, stamp = about["block"]
    first = artifacts[about["networks"][0]["artifacts"][0]]
    block = aligned_empty((size,), BYTE, len(first.inputs))
    if not cache.read_block(key, tuple(stamp), block):
        return None
    networks, plans = [], []
    for one in about["networks"]:
        artifact, *kernels = (artifacts[i] for i in one["artifacts"])
        constants = Constants.within(block, artifact.constants, one["constants"])
        arena = Arena(*one["arena"])
        networks.append(
            Network(one["name"], artifact, kernels, constants, arena, one["calls"], target)
        )
        planned = tuple(_planned(k) for k in one["kernels"])
        memory = MemoryUse.of(artifact, arena.bytes)
        plans.append(
            Plan(
                planned,
                memory,
                tuple(one["notes"]),
                one["verdicts"],
                one["untemplated"],
                artifact.sizes,
            )
        )
    notes, warnings = tuple(about["notes"]), tuple(about["warnings"])
    return CompiledNetworks(tuple(networks), tuple(plans), notes, warnings)


def _planned(fields: Mapping[str, Any]) -> PlannedKernel:
    points = tuple((point, seconds) for point, seconds in fields["points_s"])
    return PlannedKernel(**{**fields, "points_s": points})
