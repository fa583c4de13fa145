"""What this machine can do at best: prints what tilewright/measure/ceilings.py measures.

python -m benchmarks.ceilings [--threads 2]
"""

from __future__ import annotations

import argparse
from dataclasses import replace

from tilewright.front.machine import host_target
from tilewright.measure.ceilings import Ceilings, Traffic, measure
from tilewright.target import MIB

SHOWN_BYTES = tuple(MIB * 4**i // 16 for i in range(7))
GB = 1e9


def lines(ceilings: Ceilings) -> list[str]:
    """The figures for people."""
    text = [
        f"float32 multiply-adds {ceilings.fma_flops / GB:.0f} GFLOP/s, loads from L1 "
        f"{ceilings.load_bytes / GB:.0f} GB/s, a call of an empty parallel region "
        f"{ceilings.call_s * 1e6:.1f} µs"
    ]
    text += [
        f"{name} {rate / GB:.0f} GOP/s, {rate / ceilings.fma_flops:.1f} times float32"
        for name, rate in ceilings.rates
    ]
    for stream in ceilings.streams:
        t = stream.traffic
        text.append(
            f"{t.read / MIB:8.2f} MiB read, {t.written / MIB:8.2f} MiB written: "
            f"{stream.seconds * 1e6:9.1f} µs, {t.total / stream.seconds / GB:4.0f} GB/s"
        )
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    target = replace(host_target(), cores=options.threads)
    shown = [
        t for n in SHOWN_BYTES for t in (Traffic(n, 0), Traffic(0, n), Traffic(n // 2, n // 2))
    ]
    print("\n".join(lines(measure(target, shown))))


if __name__ == "__main__":
    main()
