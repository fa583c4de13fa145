"""What the plans of sets of operators expect, without a trial: `benchmarks.reuse_sets --plans`.

Foreseen.of(plan).expected              programs that its reuses should take
show_plans(SETS, ["ranked"], 128, ["0", "1"], target)        a line a set, way and hops
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from benchmarks.operator_sets import Entry
from benchmarks.reuse_records import task_of
from tilewright.cli.console import output
from tilewright.records.rows import REUSE, SEARCH
from tilewright.search.reuse.family import Family, Nest, Operator, bridges
from tilewright.search.reuse.plan import COSTS, Plan, make_plan
from tilewright.search.tasks import TuningTask
from tilewright.target import Target

HOPS = {"0": 0, "1": 1, "all": None}
HEAD = (
    "set", "operators", "reuse", "hops", "bridges", "considered", "used", "searched", "reuses",
    "programs", "of reuses",
)  # fmt: skip


@dataclass(frozen=True)
class Foreseen:
    """What a plan expects: bridges that came into question and that it uses, how many operators are
    searched and how many reuse, programs in all and those of the reuses, which then took `spent`.
    """

    considered: int
    used: int
    searches: int
    reuses: int
    programs: int
    expected: int
    spent: int | None = None

    @staticmethod
    def of(plan: Plan, spent: Mapping[str, int] | None = None) -> Foreseen:
        """That of a plan; `spent` says what its steps measured, by the hash of their tasks."""
        reuses = [step for step in plan.steps if step.kind == REUSE]
        return Foreseen(
            plan.considered,
            sum(not task.weight for task in plan.tasks),
            sum(step.kind == SEARCH for step in plan.steps),
            len(reuses),
            plan.programs + plan.rest,
            sum(step.programs for step in reuses),
            None if spent is None else sum(spent[step.task] for step in reuses),
        )


def show_plans(
    sets: Mapping[str, Sequence[Entry]],
    modes: Sequence[str],
    search: int,
    hops: Sequence[str],
    target: Target,
) -> None:
    """What the plans of sets expect, for each way to reuse, with bridges of so many hops (one)."""
    console = output()
    console.print("  ".join(HEAD), highlight=False)
    for name, mode, hop in product(sets, modes, hops or ["1"]):
        tasks = [task_of(e.case, float(e.frequency)) for e in sets[name]]
        costs = replace(COSTS[mode], search=search)
        plan = make_plan(tasks, target, costs=costs, hops=HOPS[hop])
        one, nests = Foreseen.of(plan), possible(tasks, HOPS[hop])
        figures = (
            len(tasks), mode, hop, nests, one.considered, one.used, one.searches, one.reuses,
            one.programs, one.expected,
        )  # fmt: skip
        console.print("  ".join(map(str, (name, *figures))), highlight=False, soft_wrap=True)


def possible(tasks: Iterable[TuningTask], hops: int | None) -> int:
    """How many bridges there are between the nests of each family."""
    families: dict[Family, list[Nest]] = defaultdict(list)
    for operator in (Operator.of(task.dag) for task in tasks):
        families[operator.family].append(operator.nest)
    return sum(len(bridges(nests, hops)) for nests in families.values())
