"""The history of a network of many tasks, whose figures and programs are made up.

history = network_history()      tasks with long names, one of which is not confirmed
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sample_tuning import CEILINGS, LOAD, MACHINE, RUN, START, line

from tilewright.records import FactsRow, TrialLine, WorkloadRow
from tilewright.records.rows import RUN as RUN_FACTS
from tilewright.report.clock import Clock
from tilewright.report.history import History, ModelHistory
from tilewright.report.tasks import PrintedProgram, Roofline, TaskHistory

TASKS, TRIALS, ROUND = 20, 33, 8
NEST = "for i in range(4):  # parallel\n  for j in range(16):\n    y[i, j] = x[i, j] + b[j]\n"
FACTS = FactsRow(
    MACHINE.fingerprint,
    RUN_FACTS,
    RUN.started_at,
    {
        "command": "tilewright tune resnet50.onnx --minutes 10 --db tuning.db",
        "tilewright": "0.1.0",
        "python": "3.12.4",
        "llvmlite": "0.46.0",
        "lightgbm": "4.6.0",
        "tasks": TASKS,
        "minutes": 10.0,
    },
)


def lines_of(number: int, rng: np.random.Generator, confirmed: bool) -> tuple[TrialLine, ...]:
    """An untuned program, then rounds of better and better ones, a few of which fail."""
    begin = number
    scale = 2e-4 * (1 + 5 * rng.random())
    found = [line(begin, 2 * scale, START + begin, origin="default", confirmed=confirmed)]

    def at(i: int) -> int:
        """The tasks' rounds take turns."""
        return TASKS * (1 + ROUND * ((i - 1) // ROUND)) + ROUND * number + (i - 1) % ROUND

    for i in range(1, TRIALS):
        seconds = float(scale * (1 + 2 * rng.random() / np.sqrt(i)))
        score = scale / seconds + 0.1 * rng.random()
        fails = i % 17 == 16
        found.append(
            line(
                at(i),
                None if fails else seconds,
                START + at(i),
                predicted=score,
                round=(i - 1) // ROUND,
                origin=("tile", "crossover", "sample")[i % 3],
            )
        )
    if confirmed:
        best = min(range(1, TRIALS), key=lambda i: found[i].latency_s or 1.0)
        found[best] = replace(found[best], confirmed=True)
    return tuple(found)


def task_history(number: int) -> TaskHistory:
    rng = np.random.default_rng(number)
    channels = 64 << number % 4
    name = f"conv_batch_normalization_add_relu_1x{56 >> number % 4}x56x{channels}_3x3_{number}"
    lines = lines_of(number, rng, confirmed=number != 3)
    flops = int(6e10 * min(x.latency_s or 1.0 for x in lines) * (1 + 2 * rng.random()))
    program = PrintedProgram(
        least_bytes=flops // (2 << number % 6),
        own_flops=flops // 3 if number % 9 == 1 else None,
        sketch="winograd · multi_level_tiling_with_fusion",
        decisions=(("conv.f#1", 4), ("conv.f#2", 16), ("unroll", 64)),
        nest=NEST,
        math=NEST,
        ir="define void @conv() {\n" * 20,
        target="cpu:icelake-server",
    )
    at_s = np.array([x.created_at - START for x in lines])
    row = WorkloadRow(f"{number:02x}{0:030x}", name, "{}", "s", (), flops)
    calls = (("resnet50", 1 + number % 3),)
    best = min(x.latency_s for x in lines if x.latency_s and (x.confirmed or number == 3))
    figures = (best, best * 1.02)
    roofline = Roofline(CEILINGS)
    return TaskHistory(row, lines, at_s, float(TRIALS), calls, program, roofline, figures)


def network_history() -> History:
    tasks = sorted((task_history(i) for i in range(TASKS)), key=lambda task: -task.cost_s)
    calls = tuple(task.weight for task in tasks)
    net = ModelHistory("resnet50", tuple(tasks), calls)
    total = net.best_s or 0.0
    measured = {"untuned": 1.7 * total, "tuned": 1.05 * total, "onnxruntime": 1.2 * total}
    seconds = float(TASKS * TRIALS + 100)  # a trial a second, then confirming
    run = replace(RUN, seconds=seconds)
    return History(
        source="tuning.db",
        machine=MACHINE,
        tasks=tuple(tasks),
        models=(replace(net, measured=measured),),
        runs=(run,),
        ceilings=CEILINGS,
        clock=Clock([(START, START + seconds)]),
        loads=(LOAD,),
        facts=(FACTS,),
    )
