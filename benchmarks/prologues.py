"""Arithmetic and the contraction that it feeds: in one kernel, in two, and as libraries run them.

    python -m benchmarks.prologues [--cases NAMES] [--trials 96] [--minutes 15] [--json FILE]

Cases (benchmarks.models.prologues): batch norm, ReLU and convolution as in DenseNet-121 and a
ResNet-50 with pre-activation, scaled channels before a projection, GELU before a product of Swin-T
and GPT-2, bytes before a product, a gated MLP. Everything else is as in `benchmarks.chains`:
"unchained" are two kernels.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from benchmarks import chains
from benchmarks.models.table import PROLOGUES

NAMES = tuple(f"{network.name}-b{batch}" for network in PROLOGUES for batch in network.batches)
QUICK = "norm_conv-56-256-64-1-b1,dequantised-*"
SUITE = chains.Suite((__doc__ or "").splitlines()[0], NAMES, QUICK, "prologues")


def main(words: Sequence[str] | None = None) -> int:
    """Run the benchmark; the exit status."""
    return chains.main(words, SUITE)


if __name__ == "__main__":
    sys.exit(main())
