"""Load object code into this process, call it, time it.

    kernel = LoadedKernel(artifact)
    kernel(buffers, scratch)                                  addresses
    kernel(buffers, scratch, sizes={"S": 37})                 of a kernel with sizes
    seconds = kernel.bench(buffers, scratch, count=100)       one figure a call

Every kernel has an LLVM JIT of its own, because one shared by all keeps memory for each library
ever loaded; `close` gives it back, which matters to a process that measures thousands of programs.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tilewright.contract.artifact import Artifact, derive_entry, timed_entry
from tilewright.contract.sizes import checked_sizes
from tilewright.ground.errors import RunError
from tilewright.ground.lazy import llvm
from tilewright.runtime.host import check_host, host_architecture
from tilewright.runtime.native import ALL_THREADS, native
from tilewright.runtime.symbols import find_symbol, undefined_symbols

LONGEST_NS = 1 << 62
Region = tuple[int, int]
Pointers = ctypes.Array[ctypes.c_void_p]
NO_SIZES: Mapping[str, int] = {}


class NativeCode:
    """An entry point in this process: what calls and times it. `timed` is the address of a second
    entry point, of a network only (see `network.entry`), `derive` of what computes what follows
    from its sizes; `invoke` is for `runtime.invoke.Call`.
    """

    def __init__(
        self, artifact: Artifact, entry: int, timed: int | None = None, derive: int | None = None
    ) -> None:
        self.artifact = artifact
        self._native = native(host_architecture())
        self.entry = entry
        self.invoke = self._native.invoke
        self.find_sizes = self._native.find_sizes
        self.write_shapes = self._native.write_shapes
        self._timed = timed
        self.derive = derive

    @property
    def source(self) -> Callable[[], Any] | None:
        """What makes its function anew in another process, if the artifact is not enough."""
        return None

    def __call__(
        self,
        buffers: int,
        scratch: int,
        threads: int = ALL_THREADS,
        sizes: Mapping[str, int] = NO_SIZES,
    ) -> None:
        """Run once. `buffers` is the address of the pointer array, `scratch` of the scratch block;
        `threads` are the most to use. Arrays lie as the artifact's shapes say, whatever `sizes`.

        Only sizes are checked here (InputError); the GIL is released while the kernel runs.
        """
        self._native.call(self.entry, buffers, self._params(sizes), scratch, threads)

    def _params(self, sizes: Mapping[str, int]) -> ctypes.Array[ctypes.c_int64] | None:
        """The argument `params` of the native interface."""
        if not sizes and (self._timed is not None or not self.artifact.sizes):
            return None  # a network has its sizes in scratch
        values = checked_sizes(self.artifact.sizes, sizes).values()
        return (ctypes.c_int64 * len(values))(*values)

    def bench(
        self,
        buffers: int,
        scratch: int,
        count: int,
        reads: Sequence[Region] = (),
        readers: int = 0,
        budget_s: float = math.inf,
        threads: int = ALL_THREADS,
        sizes: Mapping[str, int] = NO_SIZES,
    ) -> npt.NDArray[np.float64]:
        """Run `count` times, or fewer once `budget_s` seconds have passed (but at least once); the
        seconds of each call, float64[calls].

        Before each call, outside the timed part, `readers` threads read the (address, bytes)
        regions of `reads` in turn, their pages dealt out among them.
        """
        seconds = np.empty(count, dtype=np.float64)
        regions = np.array([*(r for r in reads if r[1]), (0, 0)], dtype=np.int64)
        budget_ns = int(min(budget_s * 1e9, LONGEST_NS))
        calls = self._native.bench(
            self.entry, buffers, self._params(sizes), scratch, threads,
            regions.ctypes.data, readers, count, budget_ns, seconds.ctypes.data,
        )  # fmt: skip
        return seconds[:calls]

    def steps(
        self, buffers: int, scratch: int, threads: int = ALL_THREADS
    ) -> npt.NDArray[np.float64]:
        """Run a network once; the seconds of each of its steps, float64[steps]."""
        assert self._timed is not None, f"{self.artifact.entry} is no network"
        stamps = np.empty((len(self.artifact.steps) + 1, 2), dtype=np.int64)
        self._native.call(self._timed, buffers, stamps.ctypes.data, scratch, threads)
        seconds: npt.NDArray[np.float64] = np.diff(stamps @ (1_000_000_000, 1)) * 1e-9
        return seconds


class LoadedKernel(NativeCode):
    """One artifact's entry point, loaded. A context manager; not to be called after `close`."""

    def __init__(self, artifact: Artifact, parts: Sequence[Artifact] = ()) -> None:
        """Load `artifact`, linked with `parts` whose entry points it calls (a network's kernels).

        Raises RunError when it was compiled for another machine, when it needs a native function
        that no library offers, or when it lacks its entry point.
        """
        linked = (artifact, *parts)
        for part in linked:
            check_host(part)
        ours = native(host_architecture()).linked
        self._jit = llvm.create_lljit_compiler(use_jit_link=True, suppress_errors=True)
        builder = llvm.JITLibraryBuilder()
        wanted: set[str] = set()
        for part in linked:
            builder.add_object_img(part.object_code)
            wanted.update(undefined_symbols(part.object_code))
        for name in sorted(wanted - {part.entry for part in parts}):
            builder.import_symbol(name, ours[name] if name in ours else find_symbol(name))
        entries = [artifact.entry]
        if artifact.steps:
            entries.append(timed_entry(artifact.entry))
            entries += [derive_entry(artifact.entry)] * bool(artifact.sizes)
        for name in entries:
            builder.export_symbol(name)
        try:
            self._library = builder.link(self._jit, "kernel")
        except RuntimeError as error:
            self._jit.close()
            raise RunError(f"cannot load {artifact.entry}: {error}") from error
        super().__init__(artifact, *(self._library[name] for name in entries))

    def close(self) -> None:
        """Unload the code."""
        self._library.close()
        self._jit.close()

    def __enter__(self) -> LoadedKernel:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def pointer_array(addresses: Sequence[int]) -> Pointers:
    """The `buffers` argument of the native interface; it must outlive the calls made with it."""
    return (ctypes.c_void_p * max(1, len(addresses)))(*addresses)
