"""A build function for tests: every kind of good and bad candidate of y[i] = 2·x[i] + 1."""

from __future__ import annotations

import json
import os
import signal
import time

from native_kernels import fill_in, map_artifact, object_code

from tilewright.ground.errors import BuildError
from tilewright.runtime import Artifact, BufferSpec
from tilewright.target import Target

SIZE = 1000
GOOD = "%d = fmul float %xv, 2.0\n  %v = fadd float %d, 1.0"

# What each kind of bad candidate is recorded as: stage and error.
FAULTS = {
    "compile error": ("build", "BuildError"),
    "bug": ("build", "KeyError"),
    "builder crash": ("build", "SIGSEGV"),
    "builder hang": ("timeout", "TimeoutError"),
    "segfault": ("run", "SIGSEGV"),
    "writes behind": ("run", "SIGSEGV"),
    "illegal instruction": ("run", "SIGILL"),
    "killed": ("run", "SIGKILL"),
    "endless loop": ("timeout", "TimeoutError"),
    "missing symbol": ("run", "RunError"),
    "wrong": ("check", "WrongAnswer"),
    "unwritten tail": ("check", "WrongAnswer"),
}

LOOPS = "br label %spin\nspin:\n  br label %spin"
TRAP = "call void @llvm.trap()"
CRASH = "store i8 1, ptr null"
PRINT = "call i32 @puts(ptr @text)"
KILL = f"%pid = call i32 @getpid()\n  call i32 @kill(i32 %pid, i32 {int(signal.SIGKILL)})"

WITH_STATEMENT = """
declare void @llvm.trap()
declare i32 @puts(ptr)
declare i32 @usleep(i32)
declare i32 @getpid()
declare i32 @kill(i32, i32)
@text = private constant [6 x i8] c"noise\\00"
define void @kernel(ptr %buffers, ptr %params, ptr %scratch) {
  {statement}
  {tail}
}
"""


def request(kind: str, **options: object) -> bytes:
    """A build request; `kind` is a name in `build` below."""
    return json.dumps({"kind": kind, **options}).encode()


def build(data: bytes) -> bytes:
    """What the builder processes call."""
    fields = json.loads(data)
    match fields["kind"]:
        case "compile error":
            raise BuildError(f"invalid IR in candidate {fields.get('number', 0)}")
        case "bug":
            none: dict[str, bytes] = {}
            return none["missing"]
        case "builder crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        case "builder hang":
            time.sleep(3600)
        case "builder abort":
            os.write(2, b"LLVM ERROR: cannot select\n")
            os.abort()
    return candidate(fields["kind"], fields.get("n", SIZE), fields.get("us", 0)).to_bytes()


def candidate(kind: str, n: int = SIZE, us: int = 0) -> Artifact:
    """The artifact of one kind of candidate."""
    match kind:
        case "good":
            return map_artifact(GOOD, n)
        case "sloppy":
            return map_artifact(GOOD.replace("1.0", "0x3FF00068E0000000"), n)
        case "wrong":
            return map_artifact(GOOD.replace("1.0", "1.5"), n)
        case "unwritten tail":
            return map_artifact(GOOD, n, count=n - 3)
        case "writes slack":
            return map_artifact(GOOD, n, count=n + 1)
        case "writes behind":
            return map_artifact(GOOD, n, count=n + 2000)
        case "nan":
            return map_artifact("%v = fdiv float 0.0, 0.0", n)
        case "other interface":
            return map_artifact(GOOD, n + 1)
        case "missing symbol":
            declare = "declare float @no_such_math(float)\n"
            return map_artifact("%v = call float @no_such_math(float %xv)", n, declare=declare)
        case "segfault":
            return statement_artifact(CRASH, n)
        case "endless loop":
            return statement_artifact(LOOPS, n, tail="")
        case "illegal instruction":
            return statement_artifact(TRAP, n)
        case "killed":
            return statement_artifact(KILL, n)
        case "prints":
            return statement_artifact(PRINT, n, tail="ret void")
        case "slow":
            return slow_artifact(n, us)
    raise BuildError(f"unknown kind {kind!r}")


def statement_artifact(statement: str, n: int, tail: str = "ret void") -> Artifact:
    """A kernel that runs one statement."""
    x, y = BufferSpec("x", (n,), "float32"), BufferSpec("y", (n,), "float32")
    code = object_code(fill_in(WITH_STATEMENT, statement=statement, tail=tail))
    return Artifact("kernel", str(Target.parse("cpu")), code, (x,), (), (y,), (), 0)


def slow_artifact(n: int, us: int) -> Artifact:
    """Right, and `us` microseconds slower; it sleeps before element 0."""
    body = f"""%at0 = icmp eq i64 %i, 0
  br i1 %at0, label %nap, label %rest
nap:
  call i32 @usleep(i32 {us})
  br label %rest
rest:
  {GOOD}"""
    return map_artifact(body, n, declare="declare i32 @usleep(i32)\n", latch="rest")


def hoard(_: bytes) -> bytes:
    """A build that wants more memory than it may have."""
    return bytes(bytearray(1 << 34))
