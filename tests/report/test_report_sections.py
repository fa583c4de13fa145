"""What the page says of a network: where the next gain is, what was measured, how it was made."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from page_reader import Page, read_page
from sample_network import FACTS, TASKS, network_history
from sample_tuning import MACHINE, START, fill, line, tasks

import tilewright as tw
from tilewright.expr import operators as ops
from tilewright.expr.dag import ComputeDAG
from tilewright.expr.rewrites.winograd import MATRICES
from tilewright.expr.tensors import placeholder
from tilewright.front.inspection import keep_measured, winograd_flops, write_report
from tilewright.front.machine import machine_of
from tilewright.ground.errors import RecordsError
from tilewright.ground.text import duration
from tilewright.network.memory_use import MemoryUse
from tilewright.network.plan import Plan, PlannedKernel
from tilewright.records import Database, FactsRow
from tilewright.records.provenance import network_key, provenance
from tilewright.records.rows import CARRIED, MEASURED
from tilewright.report.bars import MOST, gains, latencies
from tilewright.report.figures import overview
from tilewright.report.history import History
from tilewright.report.page import render
from tilewright.report.plot import framed, from_zero, lines
from tilewright.report.words import ORIGINS, RULES, origin_words, sketch_words
from tilewright.schedule.steps import Winograd
from tilewright.search.reuse.strategy import RANKED
from tilewright.search.strategies.evolution import CHOICE, CROSSOVER, PARENT, SAMPLE
from tilewright.search.strategies.evolution import TEMPLATE as ROW
from tilewright.search.strategies.profiler import PROFILE
from tilewright.search.tasks import PARTS
from tilewright.space.derivation import UNTOLD
from tilewright.space.rules import CPU_RULES, GPU_RULES
from tilewright.target import Target


@pytest.fixture(scope="module")
def history() -> History:
    return network_history()


@pytest.fixture(scope="module")
def page(history: History) -> Page:
    return read_page(render(history))


# ---- gains --------------------------------------------------------------------------------------


def test_the_largest_gap_comes_first(history: History) -> None:
    bars = gains(history)
    assert len(bars) == MOST + 1 and bars[-1].label == f"{TASKS - MOST} more kernels"
    (net,) = history.models
    by_key = {t.key: t for t in history.tasks}
    total = net.best_s or 0.0
    takes = {t.key: t.weight * (t.best_s if t.confirmed else t.default_s) for t in by_key.values()}
    gaps = {key: takes[key] - task.weight * task.least_s for key, task in by_key.items()}
    assert [bar.key for bar in bars[:-1]] == sorted(gaps, key=lambda key: -gaps[key])[:MOST]
    passed = 0.0
    for bar in bars[:-1]:
        passed += gaps[bar.key]
        assert bar.cells == (
            duration(takes[bar.key]),
            f"{100 * takes[bar.key] / total:.0f} %",
            duration(gaps[bar.key]),
            f"{100 * passed / sum(gaps.values()):.0f} %",
        )
        parts = dict(bar.parts)
        longest = max(takes.values())
        assert parts["gap"] == pytest.approx(gaps[bar.key] / longest)
        assert sum(parts.values()) == pytest.approx(takes[bar.key] / longest)
    assert bars[-1].cells[3] == "100 %"
    assert sum(takes.values()) == pytest.approx(total), "the figure at the top of the page"


def test_without_limits_what_takes_longest_comes_first(history: History) -> None:
    blind = replace(history.tasks[0].roofline, ceilings=None)
    tasks_ = tuple(replace(t, roofline=blind) for t in history.tasks)
    unknown = replace(history, tasks=tasks_, ceilings=None)
    seconds = [cost.seconds for cost in unknown.costs]
    assert seconds == sorted(seconds, reverse=True)
    assert {bar.cells[2] for bar in gains(unknown)} == {"–"}
    assert {kind for bar in gains(unknown) for kind, _ in bar.parts} == {"tuned"}


def test_a_program_beyond_the_limits_has_no_gap(history: History) -> None:
    fast = replace(history.tasks[0], lines=(line(1, 1e-9, START, origin="default"),))
    one = replace(history, tasks=(fast,), models=())
    assert gains(one)[0].cells[2:] == ("none", "–")
    assert one.beyond == 1 and "1 task is faster than that" in read_page(render(one)).text
    assert history.beyond == 0 and "faster than that" not in read_page(render(history)).text


# ---- latency ------------------------------------------------------------------------------------


def test_measured_latencies_stand_beside_the_estimate(page: Page, history: History) -> None:
    (net,) = history.models
    bars = latencies(net)
    assert [bar.label for bar in bars] == [
        "untuned, sum of its kernels",
        "tuned, sum of its kernels",
        "untuned, measured as a whole",
        "tuned, measured as a whole",
        "onnxruntime, measured as a whole",
    ]
    assert [bar.cells for bar in bars[2:]] == [(duration(s),) for s in net.measured.values()]
    longest = max(net.default_s or 0.0, *net.measured.values())
    assert bars[1].parts == (("tuned", pytest.approx((net.best_s or 0.0) / longest)),)
    assert all(bar.label in page.text for bar in bars)


def test_an_unconfirmed_pair_has_no_factor(page: Page, history: History) -> None:
    (doubtful,) = [t for t in history.tasks if not t.confirmed]
    assert doubtful.best_s and doubtful.default_s, "both are known, of different moments"
    row = page.table("task")[doubtful.name]
    assert row[2].text == duration(doubtful.default_s) and row[4].text == "–"
    others = [row[4].text for name, row in page.table("task").items() if name != doubtful.name]
    assert all(re.fullmatch(r"\d+\.\d\d×", text) for text in others)
    assert "The best program of 1 task was not measured again" in page.text
    (net,) = history.models
    assert f"→ {net.default_s / net.best_s:.2f}×" in " ".join(page.text.split())


def test_what_bench_measures_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "t.db"
    target = "cpu:icelake-server cores=2"
    kernel = PlannedKernel("gemm", 1, 0, "tuned", None, 0, 0, tasks()[0].hash)
    plan = Plan((kernel,), MemoryUse(0, 0, 0, 0))
    with Database.open(file) as database:
        fill(database)
    keep_measured(file, plan, {"untuned": 2e-3, "tuned": 1e-3}, target)
    with Database.open(file, readonly=True) as database:
        (row,) = database.facts(MEASURED)
    assert row.machine == machine_of(tw.Target.parse(target)).fingerprint
    assert row.facts == {
        "network": network_key([(tasks()[0].hash, 1)]),
        "untuned": 2e-3,
        "tuned": 1e-3,
    }
    keep_measured(tmp_path / "absent.db", plan, {"tuned": 1e-3}, target)
    assert not (tmp_path / "absent.db").exists()


def test_the_newest_measurement_of_the_same_network_is_shown(tmp_path: Path) -> None:
    parts = [(task.hash, int(task.weight)) for task in tasks()[:2]]
    with Database.open(tmp_path / "t.db") as database:
        fill(database)
        for at, key, seconds in (
            (START + 2, network_key(parts), 0.0123),
            (START + 1, network_key(parts), 0.0456),
            (START + 3, network_key(parts[:1]), 0.0789),
        ):
            facts = {"network": key, "tuned": seconds}
            database.keep(FactsRow(MACHINE.fingerprint, MEASURED, at, facts))
    net = write_report(tmp_path / "t.db", tmp_path / "r.html").models[0]
    assert net.measured == {"tuned": 0.0123}


# ---- axes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("low", "high"), [(31.7, 35.1), (3.1, 3.4), (0.9, 4.0), (2.0, 900.0)])
def test_a_logarithmic_axis_has_labels_around_its_data(low: float, high: float) -> None:
    axis = framed([lines([1, 2], [low, high], "")], "", "", log="y")["layout"]["yaxis"]
    ticks, (begin, end) = axis["tickvals"], axis["range"]
    assert 2 <= len(ticks) == len(axis["ticktext"]) <= 9
    assert ticks[0] <= low and ticks[-1] >= high
    assert 10**begin < ticks[0] and ticks[-1] < 10**end, "no label is on the edge"
    assert [float(text.replace(",", "")) for text in axis["ticktext"]] == ticks


def test_a_tenth_less_looks_like_a_tenth_less(history: History) -> None:
    axis = from_zero([lines([0, 1], [35.1, 31.7], "")], "", "")["layout"]["yaxis"]
    assert axis["type"] == "linear" and axis["rangemode"] == "tozero"
    wide = from_zero([lines([0, 1], [900.0, 2.0], "")], "", "")["layout"]["yaxis"]
    assert wide["type"] == "log" and len(wide["tickvals"]) >= 2
    for name in ("time", "trials"):
        assert overview(history)[name]["layout"]["yaxis"]["rangemode"] == "tozero"


# ---- Winograd's form ----------------------------------------------------------------------------


def test_winograds_own_operations_are_counted() -> None:
    x = placeholder((1, 16, 16, 8), name="x")
    k = placeholder((3, 3, 8, 12), name="k", constant=True)
    dag = ComputeDAG([ops.conv2d(x, k, padding=1)])
    (conv,) = [t for t in dag.stages if t.source.reduce_axes]
    direct = 2 * 16 * 16 * 12 * 9 * 8
    assert dag.useful_flops == direct
    axes = tuple(a.name for a in conv.source.axes[1:3])
    tiles, sides = 16, MATRICES[4]
    products = tiles * 36 * 8 * 12
    data = tiles * 8 * np.count_nonzero(sides.data) ** 2
    inverse = tiles * 12 * np.count_nonzero(sides.inverse) ** 2
    own = winograd_flops(dag, [Winograd(conv.name, axes, 4)])
    assert own == 2 * (products + data + inverse)
    assert winograd_flops(dag, []) is None


def test_programs_in_winograds_form_are_marked(page: Page, history: History) -> None:
    marked = [t for t in history.tasks if t.is_winograd]
    assert 0 < len(marked) < TASKS
    rows = page.table("task")
    assert {name for name in rows if name.endswith("Winograd")} == {
        f"{t.name}Winograd" for t in marked
    }
    one = marked[0]
    speed = one.flops / one.best_s / 1e9
    assert rows[f"{one.name}Winograd"][6].text == f"{speed:.1f}"
    assert f"{one.workload.flops:,} operations by the direct form, {one.flops:,} in" in page.text
    figure = {trace["name"]: trace for trace in overview(history)["roofline"]["data"]}
    form = figure["tuned, in Winograd's form"]
    assert sorted(form["customdata"]) == sorted(t.key for t in marked)
    assert max(form["y"]) == pytest.approx(max(t.flops / t.best_s / 1e9 for t in marked), rel=1e-3)


# ---- how it was made ----------------------------------------------------------------------------


def test_the_page_is_named_after_its_model(page: Page) -> None:
    assert page.texts[[x.strip() for x in page.texts].index("resnet50")]
    assert "resnet50 · tuning report" in page.text


def test_a_run_says_how_it_was_started(page: Page) -> None:
    row = [cell.text for cell in page.table("run")["1"]]
    assert row[2:6] == ["12:40", "0", "evolution", "10 minutes"]
    assert row[6] == FACTS.facts["command"]
    assert row[7] == "tilewright 0.1.0, python 3.12.4, llvmlite 0.46.0, lightgbm 4.6.0"
    assert row[8].startswith("busy for 80 %")


def test_runs_of_earlier_versions_have_dashes(history: History) -> None:
    page = read_page(render(replace(history, facts=(), loads=())))
    assert [cell.text for cell in page.table("run")["1"]][5:] == ["–", "–", "–", "–"]


def test_odd_facts_are_only_text(history: History) -> None:
    odd: dict[str, Any] = {"command": "<b>x</b>", "minutes": "<i>", "x": 1e15}
    runs = (replace(history.runs[0], started_at=1e300),)
    facts = (replace(FACTS, at=1e300, facts=odd),)
    page = read_page(render(replace(history, runs=runs, facts=facts)))
    row = [cell.text for cell in page.table("run")["1"]]
    assert row[1] == "–" and row[5:8] == ["–", "<b>x</b>", "x 1000000000000000.0"]


def test_a_command_is_told_without_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    url = "postgresql://me:secret@host/db"
    monkeypatch.setattr("sys.argv", ["/usr/bin/tilewright", "tune", "a b.onnx", "--db", url])
    facts = provenance()
    assert facts["command"] == "tilewright tune 'a b.onnx' --db postgresql://me:…@host/db"
    assert facts["tilewright"] == tw.__version__ and "numpy" in facts


@pytest.mark.parametrize(
    "facts", [{"a": None}, {"a": float("nan")}, {"a": [1]}, {"a": True}, {"a": 10**400}]
)
def test_facts_are_text_and_numbers(facts: dict[str, Any]) -> None:
    with pytest.raises(RecordsError, match="fact 'a' must be text or a number"):
        FactsRow(MACHINE.fingerprint, MEASURED, START, facts)


# ---- words --------------------------------------------------------------------------------------


def test_every_word_of_the_source_has_one_of_a_reader() -> None:
    mutations = {name for kind in Target.kinds.values() for name in kind.backend.mutations}
    own = {"", "default", SAMPLE, PARENT, CROSSOVER, CHOICE, PROFILE, PARTS, ROW, CARRIED, RANKED}
    assert mutations | own == ORIGINS.keys()
    shown = {rule.name for rule in (*CPU_RULES, *GPU_RULES)}.difference(UNTOLD)
    assert shown == RULES.keys()
    assert sketch_words("pack_read · c: rfactor inner k · c: tables unrolled") == (
        "an input packed, c: partial sums, inner part of k, c: tables unrolled"
    )
    assert sketch_words("multi_level_tiling_with_fusion · Z: at R · mx: root · e: inline") == (
        "tiled together with what reads the result, Z in the loops of R, mx by itself, "
        "e where it is read"
    )
    assert origin_words("my_rule") == "my rule"


def test_no_word_of_the_source_is_on_the_page(page: Page) -> None:
    assert "Winograd's form, tiled together with what reads the result" in page.text
    for word in ("proposed by", "in round", "multi_level_tiling", "confirming", "guessing)."):
        assert word not in page.text.replace("0 guessing).", "")


def test_an_empty_section_is_left_out(history: History) -> None:
    whole = tuple(
        replace(t, lines=tuple(x for x in t.lines if x.error is None), at_s=t.at_s)
        for t in history.tasks[:1]
    )
    page = read_page(render(replace(history, tasks=whole, models=(), runs=(), facts=())))
    assert "No trial failed" not in page.text
    links = {a.get("href") for tag, a in page.elements if tag == "a"}
    places = {a.get("id") for _, a in page.elements}
    assert "errors" not in places and "#errors" not in links
    assert {link[1:] for link in links if link} <= places, "every link leads somewhere"


def test_the_cost_model_is_judged_by_all_its_predictions(page: Page, history: History) -> None:
    count = sum(x.predicted is not None and x.error is None for t in history.tasks for x in t.lines)
    mean = np.mean([t.rank_correlation for t in history.tasks])
    text = " ".join(page.text.split())
    assert f"Over {count} programs that were predicted and then measured" in text
    assert f"rank correlation is {mean:.2f}" in text
    assert 0.5 < mean < 1.0
