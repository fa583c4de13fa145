"""Targets: host facts, the table of named CPUs, the spec's round trip, errors."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from llvmlite import binding as llvm

from tilewright.expr.dtypes import dtype
from tilewright.front.task_measurer import TaskMeasurer
from tilewright.ground.errors import TargetError
from tilewright.target import CpuTarget, CudaTarget, GpuTarget, Target, available_cores, known_cpus
from tilewright.target.cpu import _caches, _vector_facts


def test_host_facts() -> None:
    host = Target.parse("cpu")
    assert host.kind == "cpu"
    assert host.cpu == llvm.get_host_cpu_name()
    assert host.cores == len(os.sched_getaffinity(0))
    assert host.vector_bits in (128, 256, 512)
    assert host.l1_bytes < host.l2_bytes
    assert host.line_bytes in (32, 64, 128)


@pytest.mark.parametrize(
    ("version", "quota", "cores"),
    [(2, "150000 100000", 2), (2, "50000 100000", 1), (2, "max 100000", 64), (1, "250000", 3)],
)
def test_a_containers_share_of_time_counts(
    version: int, quota: str, cores: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(64)))
    group, own = tmp_path / "groups", tmp_path / "own"
    if version == 2:
        own.write_text("0::/pod/app\n")
        (group / "pod").mkdir(parents=True)  # the limit is that of a group around the process's
        (group / "pod" / "cpu.max").write_text(quota)
    else:
        own.write_text("4:memory:/\n1:cpu,cpuacct:/elsewhere\n0::/\n")
        (group / "cpu").mkdir(parents=True)
        (group / "cpu" / "cpu.cfs_quota_us").write_text(quota)
        (group / "cpu" / "cpu.cfs_period_us").write_text("100000")
    assert available_cores(group, own) == cores
    assert available_cores(tmp_path / "none", tmp_path / "none") == 64


@pytest.mark.parametrize("name", ["", *(f":{n}" for n in known_cpus())])
def test_round_trip(name: str) -> None:
    target = Target.parse(f"cpu{name}")
    assert Target.parse(str(target)) == target


def test_a_cpu_outside_the_table_round_trips_when_every_fact_is_given() -> None:
    target = replace(Target.parse("cpu:haswell"), name="goldmont")
    assert Target.parse(str(target)) == target


def test_overrides_and_suffixes() -> None:
    target = Target.parse("cpu:cortex-a53 cores=2 l2=1M l1=16K")
    assert (target.cores, target.l2_bytes, target.l1_bytes) == (2, 1 << 20, 16 << 10)
    assert target.triple.startswith("aarch64")


GPUS = [
    f"{kind}:{name}"
    for kind, found in Target.kinds.items()
    if issubclass(found, GpuTarget)
    for name in found.known()
]


@pytest.mark.parametrize("spec", GPUS)
def test_gpus_round_trip(spec: str) -> None:
    target = Target.parse(spec)
    assert f"{target.kind}:{target.name}" == spec
    assert Target.parse(str(target)) == target


def test_facts_of_gpus() -> None:
    h200 = Target.parse("cuda:h200")
    assert isinstance(h200, CudaTarget) and h200.architecture == "sm_90"
    assert (h200.cores, h200.warp, h200.threads, h200.shared_bytes) == (132, 32, 1024, 48 << 10)
    assert h200.lanes(dtype("float32")) == 4 and h200.lanes(dtype("float16")) == 8
    assert h200.most_shared_bytes == 227 << 10 and h200.residency.shared_bytes == 228 << 10
    more = Target.parse("opencl:pocl shared=16K cores=2")
    assert (more.shared_bytes, more.cores, more.kind) == (16 << 10, 2, "opencl")
    assert more.most_shared_bytes == more.shared_bytes
    assert not isinstance(h200, CpuTarget)


def test_a_text_names_what_its_architecture_does_not_imply() -> None:
    """Machines are known by these words, so those of older records stay the same."""
    h200 = Target.parse("cuda:h200")
    assert "optin" not in str(h200) and "core_" not in str(h200)
    assert Target.parse("cuda:b200 " + str(h200).partition(" ")[2]) == replace(h200, name="b200")
    less = Target.parse("cuda:h200 optin=96K core_blocks=24")
    assert str(less).endswith(" optin=98304 core_blocks=24") and Target.parse(str(less)) == less
    new = Target.parse("cuda:new " + str(h200).partition(" ")[2].replace("sm_90", "sm_999"))
    assert isinstance(new, CudaTarget) and new.most_shared_bytes == 48 << 10


def test_lanes() -> None:
    assert Target.parse("cpu:skylake-avx512").lanes(dtype("float32")) == 16
    assert Target.parse("cpu:haswell").lanes(dtype("float64")) == 4
    assert Target.parse("cpu:cortex-a53").lanes(dtype("int8")) == 16


@pytest.mark.parametrize("name", known_cpus())
def test_llvm_knows_every_named_cpu(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    llvm.initialize_all_targets()
    target = Target.parse(f"cpu:{name}")
    machine = llvm.Target.from_triple(target.triple).create_target_machine(
        cpu=target.cpu, features=target.features
    )
    assert machine.triple
    assert "not a recognized" not in capfd.readouterr().err


def test_vector_width_comes_from_features() -> None:
    assert _vector_facts("x86_64-unknown-linux-gnu", {"avx512f": True, "avx": True}) == (512, 32)
    assert _vector_facts("x86_64-unknown-linux-gnu", {"avx512f": False, "avx": True}) == (256, 16)
    assert _vector_facts("x86_64-unknown-linux-gnu", {}) == (128, 16)
    assert _vector_facts("aarch64-unknown-linux-gnu", {"neon": True}) == (128, 32)


def _write_cache(folder: Path, index: int, level: str, kind: str, size: str, line: str) -> None:
    at = folder / f"index{index}"
    at.mkdir()
    for key, text in {
        "level": level, "type": kind, "size": size, "coherency_line_size": line
    }.items():  # fmt: skip
        (at / key).write_text(text + "\n")


def test_caches_are_read_from_sysfs(tmp_path: Path) -> None:
    _write_cache(tmp_path, 0, "1", "Data", "48K", "128")
    _write_cache(tmp_path, 1, "1", "Instruction", "64K", "128")
    _write_cache(tmp_path, 2, "2", "Unified", "2M", "128")
    assert _caches(tmp_path) == ({1: 48 << 10, 2: 2 << 20, 3: 0}, 128)


def test_caches_have_defaults(tmp_path: Path) -> None:
    sizes, line = _caches(tmp_path / "absent")
    assert sizes == {1: 32 << 10, 2: 512 << 10, 3: 8 << 20}
    assert line == 64


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("cpu:cortex-z9", "cortex-a53"),
        (
            "tpu",
            "unknown target kind 'tpu' in 'tpu'; known: cpu, cpu:<name>, cuda, cuda:<name>, op",
        ),
        ("cuda", "cuda: no device was asked for its facts; name one, cuda:<name>: t4, v100"),
        ("cuda:h2000", "unknown cuda device 'h2000'; known: t4"),
        ("opencl:mali warps=2", "unknown word 'warps=2' in target .*; known: cores=, warp="),
        ("opencl:mali warp=0", "warp in target .* must be at least 1"),
        ("", "unknown target kind ''"),
        ("cpu:haswell core=2", "cores="),
        ("cpu:haswell cores=two", "must be a number"),
        ("cpu:haswell cores=0", "at least 1"),
    ],
)
def test_errors_name_the_thing_and_the_way_out(spec: str, says: str) -> None:
    with pytest.raises(TargetError, match=says):
        Target.parse(spec)


def test_builds_overlap_with_what_a_gpu_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """On the cores that are left; PoCL and the emulation run on these cores themselves."""
    monkeypatch.setattr("tilewright.front.task_measurer.available_cores", lambda: 4)
    for name, overlap in (("cuda:h100", True), ("opencl:pocl", False), ("cpu:haswell", False)):
        measurer = TaskMeasurer(Target.parse(name))
        assert measurer.local.overlap == overlap, name
        measurer.close()


@pytest.mark.parametrize(
    ("spec", "has", "lacks"),
    [
        ("cpu:haswell", "avx2 fma", "avx512f avxvnni"),
        ("cpu:haswell features=-avx2", "fma", "avx2"),
        ("cpu:alderlake features=+gfni", "avx2 avxvnni gfni", "avx512f"),
        ("cpu:skylake-avx512", "avx512vl avx2", "avx512vnni"),
        ("cpu:cooperlake", "avx512vnni avx512bf16", "amx-tile"),
        ("cpu:graniterapids features=-amx-int8", "amx-tile amx-bf16 avx512vnni", "amx-int8"),
        ("cpu:neoverse-v2", "i8mm dotprod sve2", "avx2"),
        ("cpu:cortex-a72", "", "dotprod"),
    ],
)
def test_a_name_says_which_instructions_there_are(spec: str, has: str, lacks: str) -> None:
    found = CpuTarget.of(spec).instructions
    assert found >= set(has.split()) and not found & set(lacks.split())
