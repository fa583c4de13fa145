"""Builds the programs of all cases for a target, on all cores, without a GPU.

    pack = open_pack(folder, target, small=False)
    build(pack, names, Amount(rows=200, verified=8))      what the pack lacks
    fit(pack, 40 * MIB)                                   with fewer programs, if need be

Of a case that is timed these are all candidates of every template, and the default program of the
ordinary sketches; of one that is verified, some candidates drawn at random.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import chain
from pathlib import Path

import numpy as np

from benchmarks.gpu_lab import built_or_none
from benchmarks.provenance import provenance
from benchmarks.suite.cases import SPEED, VERIFY
from benchmarks.suite.pack import CONTENTS, Pack, Program
from tilewright.artifact import Artifact
from tilewright.build.cache import compiler_fingerprint
from tilewright.build.compile import make_request
from tilewright.cost.candidates import Population, concatenate
from tilewright.cost.extractor import FeatureExtractor
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Var
from tilewright.expr.serialize import dag_to_json
from tilewright.gene import Gene
from tilewright.space.default import default_of
from tilewright.space.rules import rules_of
from tilewright.space.rules.template import TEMPLATE
from tilewright.space.space import TEMPLATE_ROWS, Space
from tilewright.target import Target
from tilewright.text import size

DIGITS = 16  # of a hash
KEPT = ("dag", "rows", "refused", "most")  # of a case's figures, when programs are left out
TOGETHER = 4  # programs that a process is given at once


@dataclass(frozen=True)
class Amount:
    """The most candidates of a template: `rows` of a case that is timed, the best by the estimate,
    `verified` of others, at random.
    """

    rows: int
    verified: int

    def of(self, name: str) -> int:
        return self.rows if name in SPEED else self.verified


@dataclass(frozen=True)
class Wanted:
    """A program to be built."""

    template: str
    numbers: dict[str, int]
    estimate_s: float
    gene: Gene


def open_pack(folder: Path, target: Target, small: bool, anew: bool = False) -> Pack:
    """The pack in a folder; an empty one where there is none, or one of another target, size or
    compiler.
    """
    code = compiler_fingerprint()[:DIGITS]
    fresh = Pack(folder, str(target), small, {**provenance(target), "code": code})
    if anew or not (folder / CONTENTS).exists():
        return fresh
    known = Pack.read(folder)
    alike = known.target == fresh.target and known.small == small
    if not alike or known.facts["code"] != code:
        return fresh
    return replace(fresh, cases=known.cases)


def build(pack: Pack, names: Sequence[str], amount: Amount) -> None:
    """Build what the pack lacks of some cases, and say how far it is after each."""
    missing = [name for name in names if not _has(pack, name, amount)]
    pack.save()
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(os.cpu_count(), context) as pool:
        for name in missing:
            started = time.monotonic()
            try:
                _build(pack, name, amount, pool)
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
            case = pack.cases[name]
            print(
                f"{name}: {case['programs']} programs ({case['rows']} rows of templates, "
                f"{case['refused']} refused), {size(case['bytes'])}, "
                f"{time.monotonic() - started:.1f} s",
                flush=True,
            )
    print(f"{len(pack.cases)} cases, {size(pack.bytes)}")


def _has(pack: Pack, name: str, amount: Amount) -> bool:
    """Whether a case is packed already, as it is now and with no fewer programs."""
    known = pack.cases.get(name)
    return (
        known is not None
        and known["most"] >= amount.of(name)
        and known["dag"] == _digest(dag_of(pack, name))
    )


def _build(pack: Pack, name: str, amount: Amount, pool: ProcessPoolExecutor) -> None:
    target, dag, is_timed = Target.parse(pack.target), dag_of(pack, name), name in SPEED
    space = Space(dag, target)
    rows = rows_of_templates(space)
    most = amount.of(name)
    wanted = [w for found in rows.values() for w in best_or_some(space, found, most, is_timed)]
    data = [_begun(dag, target, wanted, pool)]
    if is_timed:  # is looked for while these are built
        wanted += (default := _default(dag, target))
        data.append(_begun(dag, target, default, pool))
    programs = [
        Program(w.template, w.numbers, w.estimate_s, Artifact.from_bytes(built))
        for w, built in zip(wanted, chain(*data), strict=True)
        if built is not None
    ]
    refused = len(wanted) - len(programs)
    figures = {"rows": sum(map(len, rows.values())), "refused": refused, "most": most}
    pack.put(name, programs, dag=_digest(dag), **figures)


def _begun(
    dag: ComputeDAG, target: Target, wanted: Sequence[Wanted], pool: ProcessPoolExecutor
) -> Iterator[bytes | None]:
    """The artifacts of some programs, which are built from now on."""
    requests = [make_request(dag, w.gene, target, "program") for w in wanted]
    return pool.map(built_or_none, requests, chunksize=TOGETHER)


def dag_of(pack: Pack, name: str) -> ComputeDAG:
    """What a case computes."""
    is_timed = name in SPEED
    return (SPEED if is_timed else VERIFY)[name].problem(pack.small and is_timed).dag


def _digest(dag: ComputeDAG) -> str:
    return sha256(json.dumps(dag_to_json(dag), sort_keys=True).encode()).hexdigest()[:DIGITS]


def rows_of_templates(space: Space) -> dict[str, Population]:
    """All candidates of every template by its name, of which there may be several sketches."""
    found: dict[str, list[Population]] = {}
    for number, sketch in enumerate(space.sketches):
        if sketch.state.templated is not None:
            name = sketch.state.templated.template.name
            found.setdefault(name, []).append(space.listed(number, TEMPLATE_ROWS))
    return {name: concatenate(those) for name, those in found.items()}


def best_or_some(space: Space, rows: Population, most: int, best: bool) -> Iterator[Wanted]:
    """The best of a template's candidates, best first, or some of them."""
    latency = FeatureExtractor(space).latency(rows)
    order = np.argsort(latency, kind="stable") if best else _shuffled(len(rows))
    for i in order[:most]:
        sketch = space.sketches[int(rows.sketch[i])]
        templated = sketch.state.templated
        assert templated is not None
        decided = sketch.values(rows.rows[i])
        numbers = {
            parameter: decided[number.name] if isinstance(number, Var) else number
            for parameter, number in templated.numbers.items()
            if isinstance(number, Var | int)
        }
        gene = space.gene(int(rows.sketch[i]), rows.rows[i])
        yield Wanted(templated.template.name, numbers, float(latency[i]), gene)


def _shuffled(count: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.random.default_rng(0).permutation(count)


def _default(dag: ComputeDAG, target: Target) -> list[Wanted]:
    """The default program of the ordinary sketches."""
    space = Space(dag, target, [rule for rule in rules_of(target) if rule is not TEMPLATE])
    extractor = FeatureExtractor(space)
    default = default_of(space, extractor)
    gene = space.gene(int(default.sketch[0]), default.rows[0])
    return [Wanted("", {}, float(extractor.latency(default)[0]), gene)]


def fit(pack: Pack, most_bytes: int) -> None:
    """Leave out the last programs by the estimate, of each template of each case that is timed,
    until the files are no larger; says how many are left.
    """
    most = max((_longest(pack.programs(name)) for name in _timed(pack)), default=0)
    while pack.bytes > most_bytes and most > 1:
        most = max(1, min(most - 1, int(most * most_bytes / pack.bytes)))
        for name in _timed(pack):
            figures = {k: v for k, v in pack.cases[name].items() if k in KEPT}
            pack.put(name, _first(pack.programs(name), most), **figures)
        print(f"{size(pack.bytes)} with the best {most} programs of each template")


def _timed(pack: Pack) -> list[str]:
    return [name for name in pack.cases if name in SPEED]


def _longest(programs: Sequence[Program]) -> int:
    names = [p.template for p in programs]
    return max(map(names.count, set(names)), default=0)


def _first(programs: Sequence[Program], most: int) -> list[Program]:
    """The first `most` of each template."""
    names = [p.template for p in programs]
    return [p for i, p in enumerate(programs) if names[:i].count(p.template) < most]
