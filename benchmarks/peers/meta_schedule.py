"""TVM's search (MetaSchedule) on an operator, in a process of its own: what it costs.

    tuned("GMM-2-b1", trials=128, target)     {"trials": 128, "seconds": 171.0, "best_s": 1.3e-3}
    python -m benchmarks.peers.meta_schedule CASE TRIALS CPU CORES      the process

Of `apache-tvm` and what its search asks for: `pip install apache-tvm 'apache-tvm-ffi<0.1.15' psutil
xgboost-cpu cloudpickle`. Releases from 0.25 on have this search, but not Ansor's or AutoTVM's.
The latency is the least that the search itself measured. Products and convolutions only.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from typing import Any

from benchmarks.cases import ALL, Case
from benchmarks.peers.process import SideError
from tilewright.target import Target

NAME = "apache-tvm"
PACKAGES = ("tvm", "psutil", "xgboost", "cloudpickle")
OPERATORS = ("GMM", "C2D")
LIMIT_S = 3600.0
FAILED_S = 1e9  # what is recorded of a program that did not build or run is more


def is_installed() -> bool:
    """Whether it can run here."""
    return all(importlib.util.find_spec(name) is not None for name in PACKAGES)


def tuned(case: str, trials: int, target: Target) -> Mapping[str, Any]:
    """Raises SideError where it fails or dies."""
    words = [case, str(trials), target.name, str(target.cores)]
    command = [sys.executable, "-m", "benchmarks.peers.meta_schedule", *words]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        raise SideError(f"{NAME}: more than {LIMIT_S:.0f} s for {case}") from None
    if done.returncode:
        raise SideError(f"{NAME}: status {done.returncode}: {done.stderr[-500:]}")
    found: Mapping[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _function(case: Case) -> Any:
    """The case in TVM's terms."""
    from tvm import te, topi

    if case.operator == "GMM":
        n, m, k = case.shape
        a, b = te.placeholder((n, k), name="a"), te.placeholder((k, m), name="b")
        return te.create_prim_func([a, b, topi.matmul(a, b)])
    h, w, ci, co, kernel, stride, padding = case.shape
    x = te.placeholder((case.batch, h, w, ci), name="x")
    weight = te.placeholder((kernel, kernel, ci, co), name="w")
    y = topi.nn.conv2d_nhwc(x, weight, stride, padding, dilation=1)
    return te.create_prim_func([x, weight, y])


def main(words: list[str]) -> None:
    """Tune, and print the figures."""
    import tvm
    from tvm.s_tir import meta_schedule

    name, trials, cpu, cores = words
    target = tvm.target.Target({"kind": "llvm", "mcpu": cpu, "num-cores": int(cores)})
    function = _function(ALL[name])
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        database = meta_schedule.tune_tir(
            function, target=target, work_dir=folder, max_trials_global=int(trials)
        )
        seconds = time.monotonic() - begun
        records = [[float(s) for s in r.run_secs or ()] for r in database.get_all_tuning_records()]
    ran = [sum(one) / len(one) for one in records if one and max(one) < FAILED_S]
    if not ran:
        sys.exit(f"none of {len(records)} programs of {name} ran")
    print(json.dumps({"trials": int(trials), "seconds": seconds, "best_s": min(ran)}))


if __name__ == "__main__":
    main(sys.argv[1:])
