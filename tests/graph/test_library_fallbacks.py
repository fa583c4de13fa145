"""Libraries need the instruction sets that their code uses, and may have a network for others."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from test_saved_libraries import EXAMPLE, GCC, compiled, network

import tilewright as tw
from devices import tools
from tilewright.build.library import linker_for
from tilewright.build.library.instructions import needed
from tilewright.ground.errors import BuildError, RunError
from tilewright.network.executor import Network
from tilewright.runtime.host import host_architecture
from tilewright.target import CpuTarget

V3 = "cpu:x86-64-v3 cores=2"
VNNI = "cpu:cascadelake cores=2"
AMX = "cpu:sapphirerapids cores=2"
NEW = "cpu:x86-64-v3 cores=2 features=+avxvnni,+avxvnniint8"

pytestmark = [
    pytest.mark.cpu,
    tools("gcc"),
    pytest.mark.skipif(host_architecture() != "x86_64", reason="code for x86"),
]


def bytes_model() -> tw.Model:
    """A product of bytes, and its result as bytes: equal on every CPU."""
    rng = np.random.default_rng(0)
    constants = {
        "sx": np.float32(0.02), "zx": np.uint8(117), "w": rng.integers(-128, 128, (64, 48), "i1"),
        "sw": np.float32(0.01), "zw": np.int8(0), "sy": np.float32(0.2), "zy": np.uint8(128),
    }  # fmt: skip
    made = helper.make_graph(
        [helper.make_node("QLinearMatMul", ["x", *constants], ["y"])],
        "bytes",
        [helper.make_tensor_value_info("x", TensorProto.UINT8, (21, 64))],
        [helper.make_tensor_value_info("y", TensorProto.UINT8, None)],
        [numpy_helper.from_array(np.asarray(v), n) for n, v in constants.items()],
    )
    opsets = [helper.make_opsetid("", 21)]
    return tw.load(helper.make_model(made, opset_imports=opsets, ir_version=10))


X = np.random.default_rng(1).integers(0, 256, (21, 64), np.uint8)


@pytest.fixture(scope="module")
def nets() -> dict[str, Network]:
    model = bytes_model()
    return {t: tw.compile(model, target=t) for t in (V3, VNNI, AMX, NEW)}


def needs_of(net: Network, folder: Path) -> frozenset[str]:
    files = []
    for i, part in enumerate((net.artifact, *net.kernels)):
        files.append(folder / f"{i}.o")
        files[-1].write_bytes(part.object_code)
    target = CpuTarget.of(net.artifact.target)
    return needed(linker_for(target), files, target)


@pytest.mark.parametrize(
    ("target", "words"),
    [(V3, set()), (VNNI, {"avx512vnni", "avx512bw"}), (AMX, {"amx-tile", "amx-int8"}),
     (NEW, {"avxvnni"})],
    ids=["v3", "vnni", "amx", "avxvnni"],
)  # fmt: skip
def test_what_code_uses_is_needed(
    nets: dict[str, Network], target: str, words: set[str], tmp_path: Path
) -> None:
    """And nothing else that the target has: `bf16` and tiles of other kinds are not asked for."""
    found = needs_of(nets[target], tmp_path)
    assert found >= words | {"avx2", "fma"}
    assert not found & {"avx512bf16", "amx-bf16", "avxvnniint8"}
    assert ("avx512f" in found) == (target in (VNNI, AMX))


def test_floats_need_no_instructions_for_bytes(tmp_path: Path) -> None:
    assert needs_of(network(NEW), tmp_path) == needs_of(network(V3), tmp_path)


def run_in_c(program: Path, emulator: tuple[str, ...] = ()) -> np.ndarray[Any, Any] | str:
    """The output of the example, or what it says of failing."""
    files = [program.with_name("x"), program.with_name("y")]
    files[0].write_bytes(X.tobytes())
    done = subprocess.run(
        [*emulator, program, "2", *files], capture_output=True, text=True, check=False, env={}
    )
    if done.returncode:
        return done.stderr
    return np.fromfile(files[1], np.uint8).reshape(21, 48)


@tools("qemu-x86_64")
def test_an_older_cpu_runs_the_fallback(nets: dict[str, Network], tmp_path: Path) -> None:
    path = tmp_path / "model.so"
    nets[VNNI].save(path, fallbacks=[nets[V3]])
    program = compiled(GCC, EXAMPLE, path)
    (wanted,) = tw.compile(bytes_model())(X)
    older = ("qemu-x86_64", "-cpu", "Haswell")
    np.testing.assert_array_equal(run_in_c(program, older), wanted)
    np.testing.assert_array_equal(run_in_c(program), wanted)
    shown = [
        subprocess.run([*words, program], capture_output=True, text=True, check=True).stdout
        for words in (older, ())
    ]
    here = CpuTarget.of(tw.load_library(path).artifact.target).name
    assert "for cpu:x86-64-v3" in shown[0] and f"for cpu:{here}" in shown[1]
    said = run_in_c(program, ("qemu-x86_64", "-cpu", "Nehalem"))
    assert re.search(r"lacks instructions of cascadelake: .*vnni.*; or of x86-64-v3: avx", said)


@tools("qemu-x86_64")
def test_a_cpu_without_the_instructions_is_refused(
    nets: dict[str, Network], tmp_path: Path
) -> None:
    path = tmp_path / "model.so"
    nets[NEW].save(path)
    said = run_in_c(compiled(GCC, EXAMPLE, path), ("qemu-x86_64", "-cpu", "Haswell"))
    assert re.search(r"lacks instructions of x86-64-v3: avx.*avxvnni", str(said))


def test_python_runs_the_fallback(nets: dict[str, Network], tmp_path: Path) -> None:
    """Of a library whose first network needs what this machine, or its kernel, may not have."""
    (wanted,) = tw.compile(bytes_model())(X)
    path = tmp_path / "model.so"
    nets[AMX].save(path, fallbacks=[nets[NEW], nets[V3]])
    library = tw.load_library(path)
    np.testing.assert_array_equal(library(X)[0], wanted)
    assert library.artifact.target in {nets[t].artifact.target for t in (AMX, NEW, V3)}
    nets[NEW].save(path)
    try:
        assert np.array_equal(tw.load_library(path)(X)[0], wanted)
    except RunError as error:
        assert re.search("lacks avxvnni: compile for target 'cpu'", str(error))


def test_a_fallback_that_no_cpu_would_run_is_left_out(
    nets: dict[str, Network], tmp_path: Path
) -> None:
    """The same weights are there once, too."""
    alone, both, twice = (tmp_path / n for n in ("alone.so", "both.so", "twice.so"))
    nets[V3].save(alone)
    nets[V3].save(both, fallbacks=[nets[VNNI]])
    nets[VNNI].save(twice, fallbacks=[nets[V3]])
    assert tw.load_library(both).artifact.entry == nets[V3].artifact.entry
    assert b"_fallback1" not in both.read_bytes()
    assert b"_fallback1" in twice.read_bytes()
    assert abs(both.stat().st_size - alone.stat().st_size) < 64


def test_other_fallbacks_are_refused(nets: dict[str, Network], tmp_path: Path) -> None:
    path = tmp_path / "model.so"
    with pytest.raises(BuildError, match="that for cpu:cortex-a72 is not"):
        nets[VNNI].save(path, fallbacks=[network("cpu:cortex-a72")])
    with pytest.raises(BuildError, match=r"a fallback is the same model for .* cpu:x86-64-v3 is"):
        nets[VNNI].save(path, fallbacks=[network(V3)])
    assert not path.exists()
