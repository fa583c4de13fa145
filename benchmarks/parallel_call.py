"""What a parallel call costs beyond its kernel: hot, and after a rest.

    python -m benchmarks.parallel_call [--threads 2]

An empty parallel region beside an empty function, in turns, both called from Python: what the
interpreter takes, and what its own caches have forgotten in a rest, is in both. The kernels are
nothing, so the difference is the cost of the region alone.
"""

from __future__ import annotations

import argparse
import ctypes
import time
from dataclasses import replace
from statistics import median, quantiles

from tilewright.front.machine import host_target
from tilewright.measure.ceilings import empty_ir, load_kernel
from tilewright.runtime.cpu import LoadedKernel, pointer_array
from tilewright.target import CpuTarget

REST_S = 0.02
HOT_CALLS, RESTED_CALLS, TURNS = 400, 20, 5
WARM_CALLS = 20
LIMITS_US = {"hot": 5.0, "rested": 15.0}
NOTHING = "define void @ceiling(ptr %buffers, ptr %params, ptr %scratch) {\n  ret void\n}\n"


def parallel_call(target: CpuTarget, turns: int = TURNS) -> dict[str, dict[str, float]]:
    """Microseconds of a region, `hot` and `rested`: its median and its 95th percentile, each beyond
    the median of the empty function.
    """
    found: dict[str, dict[str, list[float]]] = {
        name: {"region": [], "nothing": []} for name in LIMITS_US
    }
    with load_kernel(empty_ir(target), target) as region, load_kernel(NOTHING, target) as nothing:
        kernels = {"region": region, "nothing": nothing}
        for _ in range(turns):
            for name, kernel in kernels.items():
                found["hot"][name] += _calls(kernel, HOT_CALLS, 0.0)
                found["rested"][name] += _calls(kernel, RESTED_CALLS, REST_S)
    return {
        name: {
            "median_us": 1e6 * (median(taken["region"]) - median(taken["nothing"])),
            "p95_us": 1e6 * (quantiles(taken["region"], n=20)[-1] - median(taken["nothing"])),
        }
        for name, taken in found.items()
    }


def _calls(kernel: LoadedKernel, calls: int, rest_s: float) -> list[float]:
    """Seconds of every call, each after a rest."""
    pointers = pointer_array([])
    address = ctypes.addressof(pointers)
    for _ in range(WARM_CALLS):
        kernel(address, 0)
    taken = []
    for _ in range(calls):
        if rest_s:
            time.sleep(rest_s)
        started = time.perf_counter()
        kernel(address, 0)
        taken.append(time.perf_counter() - started)
    return taken


def lines(found: dict[str, dict[str, float]]) -> list[str]:
    """The figures and their bars, for people."""
    text = []
    for name, limit in LIMITS_US.items():
        when = "hot" if name == "hot" else f"after {1e3 * REST_S:.0f} ms of rest"
        figures = found[name]
        verdict = "met" if figures["median_us"] <= limit else "missed"
        text.append(
            f"a parallel call costs at most {limit:.0f} µs {when}: {verdict} "
            f"({figures['median_us']:.1f} µs; 95 %: {figures['p95_us']:.1f} µs)"
        )
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--threads", type=int, default=host_target().cores)
    options = parser.parse_args()
    target = replace(host_target(), cores=options.threads)
    print("\n".join(lines(parallel_call(target))))


if __name__ == "__main__":
    main()
