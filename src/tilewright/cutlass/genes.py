"""Genes of templates.

{"producer": {"native": "cutlass.gemm"}, "decisions": {"block": [128, 64, 32], "stages": 3, …}}
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from tilewright.contract.gene import Gene, compact, parsed, read_decisions
from tilewright.cutlass.architectures import Architecture, architecture_of
from tilewright.cutlass.b2b_conv import B2bConv
from tilewright.cutlass.b2b_gemm import B2bGemm, B2bMatch
from tilewright.cutlass.conv import Conv
from tilewright.cutlass.gemm import Gemm
from tilewright.cutlass.guidelines import MOST
from tilewright.cutlass.parameters import Parameters, check
from tilewright.cutlass.template import Match, Program
from tilewright.expr.contraction.factors import NoMatch
from tilewright.expr.dag import ComputeDAG
from tilewright.ground import log
from tilewright.ground.errors import ScheduleError
from tilewright.runtime.headers import missing
from tilewright.target import GpuTarget, Target


class Template(Protocol):
    """What the table has an entry of."""

    name: str

    def match(self, dag: ComputeDAG, architecture: Architecture) -> Match | NoMatch:
        """What it computes of a DAG, or why nothing."""
        ...


PAIRS: tuple[Template, ...] = (B2bGemm(), B2bConv())
SINGLE: tuple[Template, ...] = (Gemm(), Conv())
TEMPLATES = (*SINGLE, *PAIRS)

LEAST_BLOCK_ROWS = 64  # of the first contraction, in the smallest block of two of them

# Each decision with the parameters that are its values.
DECISIONS: Mapping[str, tuple[str, ...]] = {
    "block": ("block_m", "block_n", "block_k"),
    "warp": ("warp_m", "warp_n"),
    "stages": ("stages",),
    "swizzle": ("swizzle",),
    "align": ("align",),
    "pad": ("pad",),
    "second": ("block_n1", "warp_m1", "warp_n1"),
    "shared": ("shared",),
}


def matches_of(dag: ComputeDAG, target: Target) -> list[Match]:
    """Every template that computes the DAG on this target."""
    return _tried(dag, target)[0]


def reasons(dag: ComputeDAG, target: Target) -> dict[str, str]:
    """Why templates do not compute the DAG, by their names; without those that do."""
    return _tried(dag, target)[1]


def _tried(dag: ComputeDAG, target: Target) -> tuple[list[Match], dict[str, str]]:
    """The templates that compute the DAG, and why the others do not, by their names."""
    where = architecture_of(target)
    if where is None:
        return [], {t.name: f"{target} has no tensor cores that templates use" for t in TEMPLATES}
    if dag.sizes:
        return [], {t.name: "it is for numbers, not for sizes" for t in TEMPLATES}
    found = {t.name: t.match(dag, where) for t in TEMPLATES}
    matches = [m for m in found.values() if isinstance(m, Match)]
    return matches, {name: m.reason for name, m in found.items() if isinstance(m, NoMatch)}


def refusal(dag: ComputeDAG, target: Target) -> str:
    """Why no template computes the DAG; "" where one does. Of those for two contractions nothing
    is told.
    """
    reason = missing()
    if reason is not None:
        return reason
    matches, refused = _tried(dag, target)
    return "" if matches else _told(refused[t.name] for t in SINGLE)


def pair_refusal(dag: ComputeDAG, target: Target) -> str:
    """Why no template computes a contraction and what reduces its result in one kernel, or none
    that gives every multiprocessor a block; "" where one does.
    """
    reason = missing()
    if reason is not None:
        return reason
    matches, refused = _tried(dag, target)
    if not matches:
        return _told(refused[t.name] for t in PAIRS)
    good = [m for m in matches if m.short_list(1)]
    if not good:
        return "no tile holds all columns of both"
    assert isinstance(target, GpuTarget)
    rows = [m.pair.first.size(m.pair.first.rows) for m in good if isinstance(m, B2bMatch)]
    if len(rows) == len(good) and max(rows) < LEAST_BLOCK_ROWS * target.cores:
        return f"{max(rows)} rows are too few for {target.cores} multiprocessors"
    return ""


def _told(reasons: Iterable[str]) -> str:
    """Different reasons, once each."""
    return "; ".join(dict.fromkeys(reasons))


def offered(dag: ComputeDAG, target: Target) -> list[Gene]:
    """The programs of all templates that compute the DAG, at most MOST in all: the templates in
    turns, the most promising of each first. None where their headers are not installed; the log
    says so.
    """
    matches = matches_of(dag, target)
    reason = missing() if matches else None
    if reason is not None:
        log.info("templates are not tried: %s", reason)
        return []
    lists = [[gene_of(m, p) for p in m.short_list(MOST)] for m in matches]
    longest = max(map(len, lists), default=0)
    return [each[i] for i in range(longest) for each in lists if i < len(each)][:MOST]


def gene_of(match: Match, p: Parameters) -> Gene:
    """The gene of an instance."""
    values: dict[str, int | list[int]] = {}
    for name, parts in DECISIONS.items():
        listed = [int(getattr(p, part)) for part in parts]
        values[name] = listed if len(listed) > 1 else listed[0]
    return Gene(compact({"native": match.template}), compact(values))


@dataclass(frozen=True)
class Native:
    """A gene's program: the template's match and the parameters, which are valid."""

    match: Match
    parameters: Parameters

    def program(self, name: str) -> Program:
        return self.match.program(self.parameters, name)


def native_of(dag: ComputeDAG, gene: Gene, target: Target) -> Native:
    """What a template's gene stands for. Raises ScheduleError for a gene of no template, one that
    does not compute the DAG on this target (with the reason), or parameters that cannot be.
    """
    producer = parsed(gene.producer, "the producer is")
    name = producer.get("native") if isinstance(producer, dict) else None
    template = next((t for t in TEMPLATES if t.name == name), None)
    if template is None:
        known = ", ".join(t.name for t in TEMPLATES)
        raise ScheduleError(f"no template is called {name!r}; known: {known}")
    where = architecture_of(target)
    if where is None:
        raise ScheduleError(f"{target} has no tensor cores that {name} uses")
    match = template.match(dag, where)
    if isinstance(match, NoMatch):
        raise ScheduleError(f"{name} does not compute this: {match.reason}")
    parameters = _parameters(read_decisions(gene.decisions), match)
    check(match.conditions(parameters), str(name))
    return Native(match, parameters)


def _parameters(decisions: Mapping[str, int | list[int]], match: Match) -> Parameters:
    name = match.template
    values: dict[str, int] = {}
    for decision, parts in DECISIONS.items():
        given = decisions.get(decision)
        listed = given if isinstance(given, list) else [given]
        if len(listed) != len(parts) or None in listed:
            raise ScheduleError(f"{name}: {decision} must have {len(parts)} numbers, not {given}")
        values |= {part: int(v) for part, v in zip(parts, listed, strict=True) if v is not None}
    unknown = set(decisions) - set(DECISIONS)
    if unknown:
        raise ScheduleError(f"{name} has no decision {', '.join(sorted(unknown))}")
    zero = [f for f in match.needed if not values[f]]
    if zero:
        raise ScheduleError(f"{name}: {', '.join(zero)} must not be 0")
    return Parameters(**values)
