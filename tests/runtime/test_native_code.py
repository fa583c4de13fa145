"""The LLVM IR that is kept beside the C source of the native functions is made from it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from llvmlite import binding as llvm

from tilewright.ground.errors import RunError
from tilewright.runtime.invoke import PYTHON
from tilewright.runtime.native import ARCHITECTURES, DECLARED, EXPORTED, SOURCE, native_ir
from tilewright.runtime.symbols import find_symbol

# Code for any processor of an architecture, without what only names the compiler's own.
FLAGS = ("-std=gnu11", "-O2", "-g0", "-fomit-frame-pointer", "-fno-strict-aliasing")
FLAGS += ("-fno-sanitize=all", "-fno-stack-protector", "-fno-unwind-tables", "-ffp-contract=off")
DROPPED = re.compile(
    r"^(?:; ModuleID|source_filename|target |!).*\n|, ![\w.]+ !\d+|"
    r' "(?:target-cpu|target-features|tune-cpu|stack-protector-buffer-size)"="[^"]*"',
    re.MULTILINE,
)


def compiled(architecture: str, folder: Path) -> str:
    """The source as LLVM IR."""
    out = folder / "native.ll"
    command = [sys.executable, "-m", "ziglang", "cc", "-target", f"{architecture}-linux-gnu"]
    command += [*FLAGS, "-S", "-emit-llvm", "native.c", "-o", str(out)]
    subprocess.run(command, cwd=SOURCE, check=True, capture_output=True)
    return DROPPED.sub("", out.read_text())


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_kept_code_is_what_the_source_compiles_to(
    architecture: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    kept, now = SOURCE / f"native.{architecture}.ll", compiled(architecture, tmp_path)
    if request.config.getoption("--update-golden"):
        kept.write_text(now)
    assert kept.read_text() == now, "the C source has changed: run pytest --update-golden"


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_native_functions_exist_for_both_architectures(architecture: str) -> None:
    ir = native_ir(architecture)
    module = llvm.parse_assembly(ir)
    module.verify()
    defined = {f.name for f in module.functions if not f.is_declaration}
    assert defined >= {*EXPORTED, "tw_invoke"}
    outside = {f.name for f in module.functions if f.is_declaration and "." not in f.name}
    assert outside == {*DECLARED.findall(ir)}
    assert all(find_symbol(name) for name in outside - {*PYTHON})


def test_another_architecture_is_named() -> None:
    with pytest.raises(RunError, match="this machine is mips"):
        native_ir("mips")
