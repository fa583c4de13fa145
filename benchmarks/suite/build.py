"""Builds the programs of all cases for a target, in two processes, without a GPU.

    pack = open_pack(folder, target, small=False)
    build(pack, names, Amount(rows=24, verified=8))       what the pack lacks
    fit(pack, 48 * MIB)                                   with fewer programs, if need be

Of a case that is timed these are candidates of every template, the best ones by the estimate and
then some that are as different as there are, CUTLASS's first ones where their headers are, and the
default program of the ordinary sketches; of one that is verified, some candidates at random. Then
there are the small kernels of the ladder, and those that tell the peaks. What the audit of machine
code refuses is left out, and named in the pack's contents.

A case is kept once it is whole. One of another commit is made anew, but only programs whose source
is another one are compiled again.
"""

from __future__ import annotations

import json
import multiprocessing
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

import numpy as np

from benchmarks import sass
from benchmarks.commit import commit
from benchmarks.gpu_peaks import kernels
from benchmarks.sass import products_of
from benchmarks.suite import made as making
from benchmarks.suite.cases import SPEED, VERIFY
from benchmarks.suite.ladder import LADDER, RUNGS
from benchmarks.suite.made import DIGITS, Made, digest, make, source_key
from benchmarks.suite.pack import CONTENTS, PEAKS, Pack, Program
from benchmarks.suite.rungs import program_of
from benchmarks.suite.verify import HOPPER
from tilewright.build.compile import make_request
from tilewright.contract.artifact import Artifact
from tilewright.contract.cache import compiler_fingerprint
from tilewright.contract.gene import Gene
from tilewright.cost.candidates import Floats, Population, concatenate
from tilewright.cost.extractor import FeatureExtractor
from tilewright.cutlass import offered
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.nodes import Var
from tilewright.expr.serialize import dag_to_json
from tilewright.ground.text import size
from tilewright.schedule.trace import template_of
from tilewright.space.default import default_of
from tilewright.space.space import LISTED_ROWS, Space
from tilewright.space.templates import TemplateProducer
from tilewright.target import GpuTarget, Target

PROCESSES = 2
BEST = 8  # by the estimate, of a template, before those that are different
NATIVE = 4  # of CUTLASS, of a case


@dataclass(frozen=True)
class Amount:
    """The most candidates of a template: `rows` of a case that is timed, `verified` of others."""

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

    @property
    def products(self) -> int:
        """That add to one sum in a step of warpgroups; 0 where there are none."""
        return products_of(self.numbers) if self.template.startswith(HOPPER) else 0


def open_pack(folder: Path, target: Target, small: bool, anew: bool = False) -> Pack:
    """The pack in a folder; an empty one where there is none, or one of another target or size."""
    fresh = Pack(folder, str(target), small, {"commit": commit()})
    if anew or not (folder / CONTENTS).exists():
        return fresh
    known = Pack.read(folder)
    is_alike = known.target == fresh.target and known.small == small
    return replace(fresh, cases=known.cases) if is_alike else fresh


def build(pack: Pack, names: Sequence[str], amount: Amount) -> None:
    """Build what the pack lacks of some cases, and say how far it is after each."""
    pack.save()
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(PROCESSES, context) as pool:
        try:
            _small_kernels(pack)
            for name in names:
                if not _has(pack, name, amount):
                    _build(pack, name, amount, pool)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    print(f"{len(pack.cases)} cases, {size(pack.bytes)}")


def _has(pack: Pack, name: str, amount: Amount) -> bool:
    """Whether a case is packed already, as it is now and with no fewer programs."""
    known = pack.cases.get(name)
    return (
        known is not None
        and known["most"] >= amount.of(name)
        and known["dag"] == _digest(dag_of(pack, name))
        and known["code"] == _code()
    )


def _code() -> str:
    """A hash of all sources that may make a program another one, or refuse it."""
    audit = (Path(module.__file__ or "").read_bytes() for module in (sass, making))
    return digest(b"".join([compiler_fingerprint().encode(), *audit]))


def _build(pack: Pack, name: str, amount: Amount, pool: ProcessPoolExecutor) -> None:
    started = time.monotonic()
    target, dag, is_timed = Target.parse(pack.target), dag_of(pack, name), name in SPEED
    known = {p.key: p for p in pack.programs(name)} if name in pack.cases else {}
    space = Space(dag, target)
    rows = rows_of_templates(space)
    most = amount.of(name)
    wanted = [w for found in rows.values() for w in best_or_some(space, found, most, is_timed)]
    begun = _begun(dag, target, wanted, known, pool)
    if is_timed:  # is looked for while these are built
        more = [*_native(dag, target, min(NATIVE, most)), *_default(dag, target)]
        wanted += more
        begun += _begun(dag, target, more, known, pool)
    programs, refused = [], {}
    for want, future in zip(wanted, begun, strict=True):
        found = future.result()
        program = _program(want, found, known)
        if program is None:
            refused[str(Program(want.template, want.numbers, 0.0, NOTHING))] = found.refused
        else:
            programs.append(program)
    count = sum(map(len, rows.values()))
    figures = {"code": _code(), "rows": count, "refused": refused, "most": most}
    pack.put(name, programs, dag=_digest(dag), **figures)
    print(
        f"{name}: {len(programs)} programs of {count} rows, {len(refused)} refused, "
        f"{sum(p.key in known for p in programs)} as they were, {size(pack.cases[name]['bytes'])}, "
        f"{time.monotonic() - started:.1f} s",
        flush=True,
    )


NOTHING = Artifact("", "", b"", (), (), (), (), 0)


def _begun(
    dag: ComputeDAG,
    target: Target,
    wanted: Sequence[Wanted],
    known: Mapping[str, Program],
    pool: ProcessPoolExecutor,
) -> list[Future[Made]]:
    """Some programs, which are built from now on."""
    keys = frozenset(known)
    return [
        pool.submit(make, make_request(dag, w.gene, target, "program"), keys, w.products)
        for w in wanted
    ]


def _program(want: Wanted, found: Made, known: Mapping[str, Program]) -> Program | None:
    if found.artifact is None:
        return None
    built = Artifact.from_bytes(found.artifact) if found.artifact else known[found.key].artifact
    parts = want.template, want.numbers, want.estimate_s, built, found.key, found.features
    return Program(*parts)


def _small_kernels(pack: Pack) -> None:
    """The ladder, and the peaks."""
    target = Target.parse(pack.target)
    assert isinstance(target, GpuTarget)
    for name, make_all in ((LADDER, _ladder), (PEAKS, _peaks)):
        known = pack.cases.get(name)
        if known is None or known["code"] != _code():
            found = make_all(target)
            pack.put(name, list(found.values()), code=_code(), names=list(found))
            print(f"{name}: {', '.join(found)}, {size(pack.cases[name]['bytes'])}", flush=True)


def _peaks(target: GpuTarget) -> dict[str, Program]:
    return {
        name: Program(name, {}, 0.0, artifact, source_key(artifact.object_code, target))
        for name, artifact in kernels(target).items()
    }


def _ladder(target: Target) -> dict[str, Program]:
    return {name: program_of(rung, target) for name, rung in RUNGS.items()}


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
        if isinstance(sketch, TemplateProducer):
            name = sketch.instance.template.name
            found.setdefault(name, []).append(space.listed(number, LISTED_ROWS))
    return {name: concatenate(those) for name, those in found.items()}


def best_or_some(space: Space, rows: Population, most: int, best: bool) -> Iterator[Wanted]:
    """The best of a template's candidates, best first, then different ones; or some of them."""
    latency = FeatureExtractor(space).latency(rows)
    every = [_wanted(space, rows, i, float(latency[i])) for i in range(len(rows))]
    if best:
        order = spread([list(w.numbers.values()) for w in every], latency, min(BEST, most))
    else:
        order = _shuffled(len(rows)).tolist()
    yield from (every[i] for i in order[:most])


def _wanted(space: Space, rows: Population, i: int, estimate_s: float) -> Wanted:
    sketch = space.sketches[int(rows.sketch[i])]
    assert isinstance(sketch, TemplateProducer)
    decided = sketch.values(rows.rows[i])
    numbers = {
        parameter: decided[number.name] if isinstance(number, Var) else number
        for parameter, number in sketch.instance.numbers.items()
        if isinstance(number, Var | int)
    }
    gene = space.gene(int(rows.sketch[i]), rows.rows[i])
    return Wanted(sketch.instance.template.name, numbers, estimate_s, gene)


def spread(numbers: Sequence[Sequence[int]], latency: Floats, best: int) -> list[int]:
    """Candidates in the order in which they are worth a try: the `best` by the estimate, then each
    the one whose options are furthest from those of all before; the better of equals first.
    """
    table = np.array(numbers, np.float64).reshape(len(numbers), -1)
    places = [np.unique(column, return_inverse=True)[1] for column in table.T]
    points = np.stack([p / max(p.max(), 1) for p in places], axis=1)
    order = np.argsort(latency, kind="stable").tolist()
    found, left = order[:best], order[best:]
    nearest = np.full(len(numbers), np.inf)
    for i in found:
        nearest = np.minimum(nearest, np.abs(points - points[i]).sum(axis=1))
    while left:
        i = max(left, key=lambda k: nearest[k])
        left.remove(i)
        found.append(i)
        nearest = np.minimum(nearest, np.abs(points - points[i]).sum(axis=1))
    return found


def _shuffled(count: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.random.default_rng(0).permutation(count)


def _default(dag: ComputeDAG, target: Target) -> list[Wanted]:
    """The default program of the ordinary sketches."""
    space = Space(dag, target, templates=())
    extractor = FeatureExtractor(space)
    default = default_of(space, extractor)
    gene = space.gene(int(default.sketch[0]), default.rows[0])
    return [Wanted("", {}, float(extractor.latency(default)[0]), gene)]


def _native(dag: ComputeDAG, target: Target, most: int) -> list[Wanted]:
    """CUTLASS's most promising programs, where its headers are here."""
    genes = offered(dag, target)[:most] if target.kind == "cuda" else []
    return [Wanted(template_of(g) or "", g.values, 0.0, g) for g in genes]


def fit(pack: Pack, most_bytes: int) -> None:
    """Leave out the last programs by the estimate, of each template of each case that is timed,
    until the files are no larger; says how many are left.
    """
    most = max((_longest(pack.programs(name)) for name in _timed(pack)), default=0)
    while pack.bytes > most_bytes and most > 1:
        most = max(1, min(most - 1, int(most * most_bytes / pack.bytes)))
        for name in _timed(pack):
            pack.put(name, _first(pack.programs(name), most), **pack.cases[name])
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
