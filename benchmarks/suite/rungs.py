"""Builds the small kernels of the ladder.

program_of(RUNGS["wgmma km"], target)
"""

from __future__ import annotations

from benchmarks.sass import products_of
from benchmarks.suite.ladder import THREADS, Rung
from benchmarks.suite.made import features_of, made, of_template, source_key
from benchmarks.suite.pack import Program
from benchmarks.suite.verify import HOPPER
from tilewright.build.compile import device_code
from tilewright.codegen.clike.cuda import Cuda
from tilewright.contract.artifact import Artifact, BufferSpec, Launch
from tilewright.expr.dtypes import DTYPES
from tilewright.expr.reference import static_shape
from tilewright.nest.instructions import BULK_COPY, PROXY_FENCE
from tilewright.target import Target


def program_of(rung: Rung, target: Target) -> Program:
    """Raises BuildError where a rung has no program."""
    dag, numbers = rung.dag(), dict(rung.numbers)
    if rung.kernel is None:
        lowered = of_template(rung.template, dag, numbers)
        products = products_of(numbers) if rung.template.startswith(HOPPER) else 0
        found = made(lowered, target, (), products)
        assert found.artifact, f"{rung.template}: {found.refused}"
        artifact = Artifact.from_bytes(found.artifact)
        return Program(rung.template, numbers, 0.0, artifact, found.key, found.features)
    text = _source(rung.kernel.text)
    specs = [
        [BufferSpec(t.name, static_shape(t), t.dtype.name) for t in tensors]
        for tensors in (dag.inputs, dag.outputs)
    ]
    count, given = len(specs[0]) + len(specs[1]), rung.kernel.dynamic_bytes
    launches = tuple(
        Launch(
            name, 1, (THREADS, 1), tuple(range(count)), given, given, maps=tuple(rung.kernel.maps)
        )
        for name in rung.kernel.launches
    )
    code = device_code(text.encode(), target)[0]
    artifact = Artifact(
        rung.kernel.launches[0], str(target), code, tuple(specs[0]), (), tuple(specs[1]), (), 0,
        launches=launches,
    )  # fmt: skip
    return Program("", {}, 0.0, artifact, source_key(text.encode(), target), features_of(text))


def _source(kernel: str) -> str:
    """A kernel by hand after what it may call."""
    dialect, half = Cuda(), DTYPES["float16"]
    called = dialect.instructions(BULK_COPY, half) | dialect.instructions(PROXY_FENCE, half)
    before = [*dialect.preamble(["float16"]), *called.values(), dialect.dynamic_shared]
    return "\n".join([*before, kernel])
