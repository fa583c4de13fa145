"""The generated C: a model's header, and the file that makes `library.c` its interface.

header_text(description)      resnet50.h
source_text(description)      tables and names, then #include "library.c"
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from string import Template

from tilewright.errors import BuildError
from tilewright.runtime.artifact import Artifact, BufferSpec, timed_entry
from tilewright.runtime.constants import offsets
from tilewright.runtime.host import ARM_HWCAPS, needed_features
from tilewright.runtime.library import FORMAT
from tilewright.target import CpuTarget

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
    )
)


@dataclass(frozen=True, slots=True)
class Description:
    """What is generated from. `name` is the prefix of all names, `library` the file's name,
    `title` the network's own name.
    """

    name: str
    library: str
    title: str
    version: str
    artifact: Artifact

    @property
    def interface(self) -> int:
        """The number that stands for the inputs and outputs, 32 bits."""
        specs = [[str(s) for s in part] for part in (self.artifact.inputs, self.artifact.outputs)]
        digest = hashlib.sha256(json.dumps([FORMAT, *specs]).encode()).digest()
        return int.from_bytes(digest[:4], "little")


def header_text(d: Description) -> str:
    """The model's C header."""
    inputs, outputs = d.artifact.inputs, d.artifact.outputs
    ins, outs = _arguments("in", inputs), _arguments("out", outputs)
    parameters = [f", const {_c_type(s)} *{n}" for n, s in zip(ins, inputs, strict=True)]
    parameters += [f", {_c_type(s)} *{n}" for n, s in zip(outs, outputs, strict=True)]
    listed = [f"     {n}  {s}" for n, s in zip(ins + outs, inputs + outputs, strict=True)]
    return Template((HERE / "model.h").read_text().replace("$name_", "${name}_")).substitute(
        header=f"{d.name}.h",
        library=_comment(d.library),
        title=_comment(d.title),
        version=d.version,
        target=_comment(d.artifact.target.split()[0]),
        name=d.name,
        NAME_H=f"{d.name.upper()}_H",
        format=FORMAT,
        arguments=_comment("\n".join(listed)),
        parameters="".join(parameters),
        inputs=", ".join(ins) or "0",
        outputs=", ".join(outs) or "0",
        interface=d.interface,
    )


def source_text(d: Description) -> str:
    """The C file that a library's interface is compiled from."""
    a = d.artifact
    starts, constant_bytes = offsets(a.constants)
    features = sorted(needed_features(a.target))
    lines = [
        f'#include "{d.name}.h"',
        f"#define TW(x) {d.name}_##x",
        f"#define ENTRY {a.entry}",
        f"#define TIMED {timed_entry(a.entry)}",
        f"#define INPUTS {len(a.inputs)}",
        f"#define CONSTANTS {len(a.constants)}",
        f"#define OUTPUTS {len(a.outputs)}",
        f"#define INTERFACE {d.interface}u",
        *_cpu_check(CpuTarget.of(a.target), features),
        f"static const int64_t constant_offsets[] = {{{', '.join(map(str, [*starts, 0]))}}};",
        *_tensors("inputs", a.inputs),
        *_tensors("outputs", a.outputs),
        "static const tilewright_model model = {",
        f"  {FORMAT}, {_string(d.title)}, {_string(d.version)}, {_string(a.target)},",
        f"  {CpuTarget.of(a.target).cores}, {a.scratch_bytes}, {constant_bytes},",
        f"  {len(a.inputs)}, inputs, {len(a.outputs)}, outputs}};",
        '#include "library.c"',
    ]
    return "\n".join([*lines, ""])


def _cpu_check(target: CpuTarget, features: list[str]) -> list[str]:
    """CPU_FITS and LACKING, and what they need."""
    listed = ", ".join(features)
    need = f"this CPU lacks instructions of {target.cpu}, which the library was compiled for"
    lacking = f"#define LACKING {_string(f'{need}: {listed}')}"
    if target.architecture == "x86_64":
        known = [f for f in features if f in GCC_FEATURES]
        tests = [f'__builtin_cpu_supports("{f}")' for f in known]
        return [lacking, f"#define CPU_FITS (__builtin_cpu_init(), {' && '.join(tests) or '1'})"]
    masks: dict[int, int] = {}
    for feature in features:
        if feature in ARM_HWCAPS:
            kind, bit = ARM_HWCAPS[feature]
            masks[kind] = masks.get(kind, 0) | 1 << bit
    tests = [f"(getauxval({k}) & {m}ul) == {m}ul" for k, m in sorted(masks.items())]
    return ["#include <sys/auxv.h>", lacking, f"#define CPU_FITS ({' && '.join(tests) or '1'})"]


def _tensors(name: str, specs: tuple[BufferSpec, ...]) -> list[str]:
    """The table of tilewright_tensor called `name`."""
    lines, rows = [], []
    for i, s in enumerate(specs):
        shape = ", ".join(map(str, [*s.shape, 0]))
        lines.append(f"static const int64_t {name}_shape{i}[] = {{{shape}}};")
        fields = (
            f"{_string(s.name)}, {_string(s.dtype)}, {len(s.shape)}, {name}_shape{i}, {s.bytes}"
        )
        rows.append(f"  {{{fields}}},")
    empty = "  {0, 0, 0, 0, 0}"
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
