"""A case as an ONNX file, written by PyTorch's exporter once and kept.

    file = onnx_file(CASES["gpt2-b1"], folder)              exports where it is missing
    python -m benchmarks.models.export gpt2-b1 networks     the same, in this process

A file's name ends with a digest of what it was made from, so that what changed is exported anew.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.models.table import CASES, NetworkCase

OPSET = 18


def onnx_file(case: NetworkCase, folder: Path) -> Path:
    """The case's file in `folder`. Raises RuntimeError with the exporter's message."""
    file = path_of(case, folder)
    if not file.exists():
        command = [sys.executable, "-m", "benchmarks.models.export", case.name, str(folder)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"exporting {case.name} failed:\n{done.stderr[-2000:]}")
    return file


def path_of(case: NetworkCase, folder: Path) -> Path:
    """Where the case's file is, or will be."""
    here = Path(__file__).parent
    digest = hashlib.sha256()
    for source in (f"{case.network.file}.py", "weights.py"):
        digest.update((here / source).read_bytes())
    inputs = [(name, *shape) for name, shape in case.input_shapes().items()]
    digest.update(f"{inputs} {OPSET} {case.network.options}".encode())
    return folder / f"{case.name}-{digest.hexdigest()[:8]}.onnx"


def export(case: NetworkCase, folder: Path) -> Path:
    """Export in this process; the file is whole or absent."""
    import torch

    file = path_of(case, folder)
    partial = file.with_suffix(".partial")
    folder.mkdir(parents=True, exist_ok=True)
    module, inputs = case.module(), tuple(torch.from_numpy(x) for x in case.inputs())
    names: dict[str, Any] = {
        "input_names": list(case.network.inputs),
        "output_names": ["output"],
        "opset_version": OPSET,
    }
    if case.network.traced:
        torch.onnx.export(module, inputs, partial, dynamo=False, **names)
    else:
        program = torch.onnx.export(
            module, inputs, dynamo=True, external_data=False, verbose=False, **names
        )
        assert program is not None
        program.save(partial, external_data=False)
    partial.replace(file)
    return file


if __name__ == "__main__":
    print(export(CASES[sys.argv[1]], Path(sys.argv[2])))
