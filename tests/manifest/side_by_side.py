"""What a change does to programs: the manifest's nests and code at a commit, and as they are here.

    python tests/manifest/side_by_side.py main                      all workloads, on all targets
    python tests/manifest/side_by_side.py HEAD~3 bert_gelu transpose
    python tests/manifest/side_by_side.py main --rows 8 --keep texts    both sides stay in a folder

Prints a unified diff, as `git diff` does, and nothing where all texts are equal. Each side is
written by its own sources and its own copy of this file, in a process of its own.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def write(folder: Path, names: list[str], rows: int) -> None:
    """Sketches, nests and code of the first rows of each workload, one file for each target."""
    sys.path[:0] = [str(HERE), str(HERE.parent)]
    import numpy as np
    from manifest_cases import WORKLOADS
    from test_manifest import ROWS, SEED, TARGETS, code_of, programs, sketch_line

    from tilewright.nest.print import program_text
    from tilewright.space.space import Space
    from tilewright.target import Target

    for name in names or WORKLOADS:
        for number, target in enumerate(map(Target.parse, TARGETS)):
            space = Space(WORKLOADS[name](), target)
            population = space.sample(np.random.default_rng(SEED), ROWS)[:rows]
            parts = ["\n".join(map(sketch_line, space.sketches))]
            for program in programs(space, population):
                parts += [program_text(program), code_of(program, target)]
            (folder / f"{name}-{number}.txt").write_text("\n\n".join(parts))


def main() -> int:
    """Compare; the exit status is that of `git diff`: 1 where something differs."""
    line = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    line.add_argument("commit", help="what to compare with")
    line.add_argument("names", nargs="*", help="workloads of the manifest (all)")
    line.add_argument("--rows", type=int, default=2, help="candidates a workload (%(default)s)")
    line.add_argument("--keep", type=Path, help="a new folder for both sides")
    line.add_argument("--write", type=Path, help=argparse.SUPPRESS)
    options = line.parse_args()
    if options.write:
        write(options.write, options.names, options.rows)
        return 0
    with ExitStack() as stack:
        keep = options.keep or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        base = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "base"
        tree = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*tree, "add", "-q", "--detach", str(base), options.commit], check=True)
        stack.callback(subprocess.run, [*tree, "remove", "--force", str(base)], check=True)
        for side, sources in (("before", base), ("after", ROOT)):
            (keep / side).mkdir(parents=True)
            script = sources / Path(__file__).resolve().relative_to(ROOT)
            command = [sys.executable, str(script), options.commit, *options.names]
            command += ["--rows", str(options.rows), "--write", str(keep / side)]
            environment = {**os.environ, "PYTHONPATH": str(sources / "src")}
            subprocess.run(command, env=environment, check=True)
        compare = ["git", "diff", "--no-index", "before", "after"]
        return subprocess.run(compare, cwd=keep, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
