"""The generated C: a model's header, and the file that makes `library.c` its interface.

header_text(description)      resnet50.h
source_text(description)      tables and names, then #include "library.c"
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import prod
from pathlib import Path
from string import Template

from tilewright.contract.artifact import (
    Artifact,
    BufferSpec,
    derive_entry,
    numpy_dtype,
    timed_entry,
)
from tilewright.ground.errors import BuildError
from tilewright.runtime.host import ARM_HWCAPS
from tilewright.runtime.library import FORMAT
from tilewright.runtime.sizes import size_tables
from tilewright.target import CpuTarget, Target
from tilewright.target.cpu import ARCH_REQ_XCOMP_PERM, XTILEDATA

HERE = Path(__file__).parent
C_TYPES = {
    "float16": "uint16_t",
    "bfloat16": "uint16_t",
    "float32": "float",
    "float64": "double",
    "bool": "uint8_t",
}
# What GCC's and clang's __builtin_cpu_supports know of LLVM's feature names.
GCC_FEATURES = frozenset(
    (
        *("sse3", "ssse3", "sse4.1", "sse4.2", "popcnt", "avx", "avx2", "fma", "bmi", "bmi2"),
        *("avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl", "avx512ifma", "avx512vbmi"),
        *("avx512vbmi2", "avx512vnni", "avx512bitalg", "avx512vpopcntdq", "gfni", "vpclmulqdq"),
        "sse4a",
    )
)
# Where CPUID's leaf 7 tells of others: (its part, the word of its answer, bit).
LEAF_7 = {
    "avxvnni": (1, 0, 4),
    "avxvnniint8": (1, 3, 4),
    "avx512bf16": (1, 0, 5),
    "amx-bf16": (0, 3, 22),
    "avx512fp16": (0, 3, 23),
    "amx-tile": (0, 3, 24),
    "amx-int8": (0, 3, 25),
}
LEAF_7_C = """
#include <cpuid.h>
static unsigned leaf7(unsigned part, int word) {
  unsigned found[4] = {0};
  __get_cpuid_count(7, part, &found[0], &found[1], &found[2], &found[3]);
  return found[word];
}
"""


@dataclass(frozen=True, slots=True)
class Description:
    """What is generated from. `name` is the prefix of all names, `library` the file's name,
    `title` the network's own name. Each of `artifacts` is the network for other input shapes, and
    its constants begin at `starts` in a block of `constant_bytes`. As many of them as there are
    shapes are for CPUs that have the instruction sets `needs[0]`, the next ones for `needs[1]`, ….
    """

    name: str
    library: str
    title: str
    version: str
    artifacts: tuple[Artifact, ...]
    starts: tuple[tuple[int, ...], ...]
    constant_bytes: int
    needs: tuple[frozenset[str], ...]

    @property
    def shapes(self) -> int:
        """For how many sets of input shapes there are networks."""
        return len(self.artifacts) // len(self.needs)


def refuse_unlike(title: str, groups: Sequence[Sequence[Artifact]]) -> None:
    """Raise BuildError unless the networks of the first group differ in shapes alone, and those of
    others, its fallbacks, in nothing.
    """
    artifacts, *others = groups
    first, *rest = [[(s.name, s.dtype) for s in _interface(a)] for a in artifacts]
    if rest and any(a.states for a in artifacts):
        raise BuildError(f"{title}: a library of a network with a state has no other ones")
    if any(other != first for other in rest):
        raise BuildError(
            f"{title}: the networks of a library have the same inputs and outputs but for "
            f"their shapes, not {first} and {next(o for o in rest if o != first)}"
        )
    target, number = CpuTarget.of(artifacts[0].target), interface(artifacts)
    for other in others:
        kind = Target.parse(other[0].target)
        if kind.generation != target.generation or interface(other) != number:
            raise BuildError(
                f"{title}: a fallback is the same model for the same shapes, compiled for "
                f"another CPU of {target.architecture}; that for {kind.kind}:{kind.name} is not"
            )


def interface(artifacts: Sequence[Artifact]) -> int:
    """The number that stands for the inputs and outputs, 32 bits."""
    parts = (part for a in artifacts for part in (a.inputs, a.outputs, a.sizes))
    specs = [[str(s) for s in part] for part in parts]
    digest = hashlib.sha256(json.dumps([FORMAT, *specs]).encode()).digest()
    return int.from_bytes(digest[:4], "little")


def _interface(artifact: Artifact) -> tuple[BufferSpec, ...]:
    return artifact.given + artifact.outputs


def header_text(d: Description) -> str:
    """The model's C header."""
    inputs, outputs = d.artifacts[0].given, d.artifacts[0].outputs
    ins, outs = _arguments("in", inputs), _arguments("out", outputs)
    parameters = [f", const {_c_type(s)} *{n}" for n, s in zip(ins, inputs, strict=True)]
    parameters += [f", {_c_type(s)} *{n}" for n, s in zip(outs, outputs, strict=True)]
    each = zip(*map(_interface, d.artifacts[: d.shapes]), strict=True)
    listed = [f"     {n}  {_either(specs)}" for n, specs in zip(ins + outs, each, strict=True)]
    listed += [f"     {size}" for size in dict.fromkeys(s for a in d.artifacts for s in a.sizes)]
    text = (HERE / "model.h").read_text()
    streams = (HERE / "stream.h").read_text() if d.artifacts[0].states else ""
    text = text.replace("$streams", streams)
    return Template(text.replace("$name_", "${name}_")).substitute(
        states=_comment(", ".join(s.name for s in d.artifacts[0].inputs[len(inputs) :])),
        header=f"{d.name}.h",
        library=_comment(d.library),
        title=_comment(d.title),
        version=d.version,
        target=_comment(d.artifacts[0].target.split()[0]),
        name=d.name,
        NAME_H=f"{d.name.upper()}_H",
        format=FORMAT,
        arguments=_comment("\n".join(listed)),
        parameters="".join(parameters),
        inputs=", ".join(ins) or "0",
        outputs=", ".join(outs) or "0",
        interface=interface(d.artifacts[: d.shapes]),
    )


def source_text(d: Description) -> str:
    """The C file that a library's interface is compiled from."""
    first = d.artifacts[0]
    derives = [derive_entry(a.entry) if a.sizes else "NULL" for a in d.artifacts]
    entries = " ".join(
        f"each({a.entry}, {timed_entry(a.entry)}, {derive})"
        for a, derive in zip(d.artifacts, derives, strict=True)
    )
    counts = [len(a.constants) for a in d.artifacts]
    lines = [
        "#include <stddef.h>",
        f'#include "{d.name}.h"',
        '#include "call.h"',
        f"#define TW(x) {d.name}_##x",
        f"#define NETWORKS {len(d.artifacts)}",
        f"#define SHAPES {d.shapes}",
        f"#define ENTRIES(each) {entries}",
        f"#define INPUTS {len(first.given)}",
        f"#define CONSTANTS {max(counts)}",
        f"#define OUTPUTS {len(first.outputs)}",
        f"#define INTERFACE {interface(d.artifacts[: d.shapes])}u",
        f"#define EXTENTS {max(sum(len(s.shape) for s in _interface(a)) for a in d.artifacts)}",
        f"#define COMPUTES {int(any(a.computed for a in d.artifacts))}",
        f"#define VALUES {max(len(a.sizes) + len(a.derived) for a in d.artifacts)}",
        *_cpu_choice(d),
        *_table("int", "constant_counts", counts),
    ]
    for i, starts in enumerate(d.starts):
        lines += _table("int64_t", f"offsets{i}", [*starts, 0])
    numbers = range(len(d.artifacts))
    lines += _table("int64_t *const", "constant_offsets", [f"offsets{i}" for i in numbers])
    reasons = [_string(reason) for a in d.artifacts for reason in a.refusals]
    firsts = accumulate((len(a.refusals) for a in d.artifacts[:-1]), initial=0)
    lines += [
        f"#define REFUSALS {len(reasons)}",
        *_table("char *const", "refusals", [*reasons, "0"]),
        *_table("int", "first_refusals", list(firsts)),
        *_table(
            "int64_t",
            "status_offsets",
            [a.status_offset if a.refusals else -1 for a in d.artifacts],
        ),
    ]
    items = [numpy_dtype(s.dtype).itemsize for s in _interface(first)]
    lines += [*_table("int64_t", "item_bytes", [*items, 0]), *_sizes(d.artifacts, derives)]
    lines += _states(first)
    scratch_bytes = max(a.scratch_bytes for a in d.artifacts)
    title = f"{_string(d.title)}, {_string(d.version)}"
    rows = []
    for i, a in enumerate(d.artifacts):
        lines += _tensors(f"inputs{i}", a.given, a) + _tensors(f"outputs{i}", a.outputs, a)
        following = f"&models[{i + 1}]" if (i + 1) % d.shapes else "NULL"
        about = f"{title}, {_string(a.target)}, {CpuTarget.of(a.target).cores}"
        rows += [
            f"  {{{FORMAT}, {about}, {scratch_bytes}, {d.constant_bytes},",
            f"   {len(a.given)}, inputs{i}, {len(a.outputs)}, outputs{i}, {following}}},",
        ]
    lines += ["static const tilewright_model models[] = {", *rows, "};"]
    return "\n".join([*lines, '#include "library.c"', ""])


def _table(kind: str, name: str, values: Sequence[object]) -> list[str]:
    """A constant array of C."""
    return [f"static const {kind} {name}[] = {{{', '.join(map(str, values))}}};"]


def _either(specs: Sequence[BufferSpec]) -> str:
    """An argument with all shapes that it may have: `x: float32[1, 24] or [8, 24]`."""
    shapes = dict.fromkeys(str(s).removeprefix(f"{s.name}: {s.dtype}") for s in specs)
    return f"{specs[0].name}: {specs[0].dtype}{' or '.join(shapes)}"


def _cpu_choice(d: Description) -> list[str]:
    """FIRST_NETWORK and LACKING, and what they need."""
    includes = dict[str, None]()
    choice, lacks = "-1", []
    for number, words in reversed([*enumerate(d.needs)]):
        target = CpuTarget.of(d.artifacts[number * d.shapes].target)
        tests = [*_cpu_tests(target, sorted(words), includes)]
        choice = f"({' && '.join(tests) or '1'}) ? {number * d.shapes} : {choice}"
        lacks.append(f"{target.cpu}: {', '.join(sorted(words))}")
    lacking = f"this CPU lacks instructions of {'; or of '.join(reversed(lacks))}"
    start = "__builtin_cpu_init(), " * (target.architecture == "x86_64")
    return [
        *includes,
        f"#define LACKING {_string(lacking)}",
        f"#define FIRST_NETWORK ({start}{choice})",
    ]


def _cpu_tests(target: CpuTarget, words: list[str], includes: dict[str, None]) -> Iterator[str]:
    """Expressions that are true where a CPU has the instruction sets `words`."""
    if target.architecture == "x86_64":
        yield from (f'__builtin_cpu_supports("{w}")' for w in words if w in GCC_FEATURES)
        for part, word, bit in (LEAF_7[w] for w in words if w in LEAF_7):
            includes[LEAF_7_C] = None
            yield f"(leaf7({part}, {word}) >> {bit} & 1)"
        if "amx-tile" in words:  # the kernel's word for the CPU's, and its permission
            includes["#include <sys/syscall.h>\n#include <unistd.h>"] = None
            yield f"syscall(SYS_arch_prctl, {ARCH_REQ_XCOMP_PERM}, {XTILEDATA}) == 0"
        return
    includes["#include <sys/auxv.h>"] = None
    for kind, bit in (ARM_HWCAPS[w] for w in words if w in ARM_HWCAPS):
        yield f"(getauxval({kind}) >> {bit} & 1)"


def _sizes(artifacts: Sequence[Artifact], derives: Sequence[str]) -> list[str]:
    """The table of tw_sizes, and what it points at."""
    lines, rows = [], []
    for i, (a, derive) in enumerate(zip(artifacts, derives, strict=True)):
        sizes, extents = size_tables(a, a.inputs, a.outputs, len(a.states))
        lines += [f"extern void {derive}(int64_t *);"] if sizes else []
        for kind, table in (("size", sizes), ("extent", extents)):
            listed = [f"{{{', '.join(map(str, row))}}}" for row in table] or ["{0}"]
            lines += _table(f"struct tw_{kind}", f"{kind}s{i}", listed)
        rows.append(f"{{{derive}, {len(sizes)}, {len(extents)}, sizes{i}, extents{i}}}")
    return [*lines, *_table("struct tw_sizes", "sizes", rows)]


def _states(artifact: Artifact) -> list[str]:
    """The table of states, and what all of them have."""
    kept = artifact.inputs[len(artifact.given) :]
    values = [v.name for v in (*artifact.sizes, *artifact.derived)]
    first = next(iter(artifact.states), None)
    lines, rows = [], []
    for i, (state, spec) in enumerate(zip(artifact.states, kept, strict=True)):
        lines += _table("int64_t", f"state{i}_shape", spec.shape)
        size = prod(state.shape) * numpy_dtype(spec.dtype).itemsize
        rows.append(f"{{{len(spec.shape)}, {state.axis}, {size}, state{i}_shape}}")
    row = "struct state { int64_t rank, axis, bytes; const int64_t *shape; }"
    return [
        *lines,
        f"#define STATES {len(rows)}",
        f"#define STATE_RANK {max((len(s.shape) for s in kept), default=0)}",
        f"#define MOST_LENGTH {kept[0].shape[first.axis] if first else 0}",
        f"#define GROWN {values.index(first.grown) if first else 0}",
        *_table(row, "states", rows or ["{0}"]),
    ]


def _tensors(name: str, specs: tuple[BufferSpec, ...], artifact: Artifact) -> list[str]:
    """The table of tilewright_tensor called `name`."""
    lines, rows = [], []
    ranges = {s.name: s.least for s in (*artifact.derived, *artifact.sizes)}
    for i, s in enumerate(specs):
        names = s.varying or ("",) * len(s.shape)
        least = [ranges[name] if name else n for name, n in zip(names, s.shape, strict=True)]
        lines += _table("int64_t", f"{name}_shape{i}", [*s.shape, 0])
        lines += _table("int64_t", f"{name}_least{i}", [*least, 0])
        fields = (
            *(_string(s.name), _string(s.dtype), len(s.shape), f"{name}_shape{i}", s.bytes),
            *(f"{name}_least{i}", f"{name}_shape{i}"),
        )
        rows.append(f"  {{{', '.join(map(str, fields))}}},")
    empty = "  {0, 0, 0, 0, 0, 0, 0}"
    return [*lines, f"static const tilewright_tensor {name}[] = {{", *rows, empty, "};"]


def _arguments(prefix: str, specs: tuple[BufferSpec, ...]) -> list[str]:
    """A C identifier for each of `specs`, no two alike."""
    names: list[str] = []
    for i, spec in enumerate(specs):
        name = f"{prefix}_{re.sub(r'[^A-Za-z0-9_]', '_', spec.name)}"
        names.append(name if name not in names else f"{name}_{i}")
    return names


def _c_type(spec: BufferSpec) -> str:
    if spec.dtype in C_TYPES:
        return C_TYPES[spec.dtype]
    if re.fullmatch(r"u?int(8|16|32|64)", spec.dtype):
        return f"{spec.dtype}_t"
    raise BuildError(f"{spec} has no type in C")


def _comment(text: str) -> str:
    """`text` so that it cannot end a comment."""
    return text.replace("*/", "* /")


def _string(text: str) -> str:
    """A C string literal."""
    plain = {ord(c) for c in " !#$%&'()*+,-./:;<=>@[]^_`{|}~"}
    parts = [
        chr(b) if (b < 128 and chr(b).isalnum()) or b in plain else f"\\{b:03o}"
        for b in text.encode()
    ]
    return f'"{"".join(parts)}"'
