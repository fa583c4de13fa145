"""A pack with faults: one template hangs and one is wrong, and everything else is measured.

plant(pack)                 in a pack for the emulation, which has sources
"""

from __future__ import annotations

from dataclasses import replace

from benchmarks.suite.pack import Pack, Program
from tilewright.ground.errors import RunError

HANGING, WRONG = "matmul.tensor_cores.1", "matmul.threads.1"
BODY = "\n{\n"  # where a kernel begins
ENDLESS = "\n{\n    for (volatile int tw_endless = 1; tw_endless;) {}\n"
CLEARED, OFF = "= 0.0f;", "= 1.0f;"


def plant(pack: Pack) -> None:
    """Change all programs of both templates. Raises RunError where there is nothing to change."""
    for name, case in pack.cases.items():
        if "most" in case:  # no ladder
            pack.put(name, [_changed(p) for p in pack.programs(name)], **case)


def _changed(program: Program) -> Program:
    changes = {HANGING: (BODY, ENDLESS), WRONG: (CLEARED, OFF)}
    if program.template not in changes:
        return program
    old, new = changes[program.template]
    code = program.artifact.object_code.decode()
    if old not in code:
        raise RunError(f"{program} cannot be changed")
    artifact = replace(program.artifact, object_code=code.replace(old, new).encode())
    return replace(program, artifact=artifact, key=f"{program.key}!")
