"""Who only runs a GPU's prepared programs needs no LLVM, no records and no cost model."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from prepared import run_blocked
from tilewright.build.compile import build_nest
from tilewright.expr import operators as ops
from tilewright.expr.dag import ComputeDAG
from tilewright.space.default import default_of
from tilewright.space.space import Space
from tilewright.target import Target
from workloads import given

RUN = """
import numpy as np
from pathlib import Path
from tilewright.contract.artifact import Artifact
from tilewright.runtime.devices import loaded
from tilewright.target import Target

artifact = Artifact.from_bytes(Path("program").read_bytes())
function = loaded(artifact, Target.parse(artifact.target))
(y,) = function(np.load("x.npy"))
np.save("y.npy", y)
"""


def test_a_prepared_program_runs_without_what_makes_programs(tmp_path: Path) -> None:
    target = Target.parse("emulated")
    dag = ComputeDAG([ops.softmax(given(24, 40))])
    space = Space(dag, target)
    default = default_of(space)
    gene = space.gene(int(default.sketch[0]), default.rows[0])
    (tmp_path / "program").write_bytes(build_nest(dag, gene, target, "softmax").to_bytes())
    x = np.random.default_rng(0).standard_normal((24, 40)).astype(np.float32)
    np.save(tmp_path / "x.npy", x)
    run_blocked(RUN, [], tmp_path)
    expected = np.exp(x) / np.exp(x).sum(axis=1, keepdims=True)
    assert np.allclose(np.load(tmp_path / "y.npy"), expected, rtol=1e-5)
