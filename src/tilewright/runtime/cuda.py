"""CUDA devices, through NVIDIA's bindings of the driver (`pip install 'tilewright[cuda]'`).

    device = CudaDevice()              the first one
    device.target                      its facts, "cuda:…"
    fn = DeviceFunction(artifact, device)

Kernels are binaries already (`runtime.nvrtc`). Work goes through one stream of the device's primary
context, which other libraries of the process use, too. Several launches become a graph, captured
(on a stream of its own, so that nothing else gets into it) at the first run and launched as one
from then on. Memory comes from the driver's pool, which keeps what is given back.

What is timed is a graph, too: launching takes Python microseconds, and an event recorded between
two launches would tell of these (one recorded within a graph keeps the device from going on). Short
runs are repeated within a graph until the clock's grain and the graph's own launch are small beside
them; what a part of a graph takes is the difference to a graph without it.
"""

from __future__ import annotations

import ctypes
import itertools
import re
import weakref
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from tilewright.contract.artifact import Array, Artifact, Launch
from tilewright.ground.errors import RunError, TargetError
from tilewright.runtime.cuda_arrays import CudaArrays
from tilewright.runtime.device import OtherData, Seconds
from tilewright.runtime.tensor_maps import EncodedMap
from tilewright.target import CudaTarget

INSTALL = (
    "CUDA needs NVIDIA's driver and its bindings (pip install 'tilewright[cuda]'). Programs are "
    "compiled without a device, too: tilewright compile MODEL --target cuda:a100"
)
KEEP_ALL = 2**64 - 1  # bytes that the pool keeps
NAME_BYTES = 100
SAMPLE_S = 100e-6  # of runs in a row that are timed as one
MOST_COPIES = 64
GRAIN_S = 1e-7  # of the device's clock, about: no run takes less
# Runs of a graph in which other data passes before each: at first, and where noise hides them.
APART, MOST_APART = 16, 256
LEAST_ALONE = 5  # samples of a graph without them, whose spread is the noise
SIGMAS = 3.0  # of the noise, that a difference is more than
STEP_SAMPLES = 5  # of a graph that ends with one launch more than another
MOST_BOUND = 8  # sets of buffers whose graphs are kept
NON_BLOCKING = 1  # a stream that does not wait for the default one

Binding: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]
"""Addresses of buffers, then of the scratch memory; and the values that sizes are taken from."""
Enqueue: TypeAlias = Callable[[Any], None]
"""Puts work on the stream that it is given."""


def find_driver() -> Any:
    """The bindings, with the driver initialised. Raises TargetError when either is missing."""
    try:
        from cuda.bindings import driver
    except ImportError as error:
        raise TargetError(f"{INSTALL} ({error})") from error
    try:
        (error_code,) = driver.cuInit(0)
    except Exception as error:  # the bindings raise what they like where the library is missing
        raise TargetError(f"{INSTALL} ({error})") from error
    if error_code != driver.CUresult.CUDA_SUCCESS:
        raise TargetError(f"no CUDA device is here ({error_code.name}). {INSTALL}")
    return driver


class CudaDevice:
    """One device with its stream."""

    def __init__(self, ordinal: int = 0) -> None:
        """Raises TargetError when there is no device of that number."""
        self.driver = find_driver()
        count = self.call("cuDeviceGetCount")
        if not 0 <= ordinal < count:
            raise TargetError(f"CUDA device {ordinal} is not here, which has {count}. {INSTALL}")
        self.ordinal = ordinal
        device = self._device = self.call("cuDeviceGet", ordinal)
        self.target = self._target()
        self._context = self.call("cuDevicePrimaryCtxRetain", device)
        self.enter()
        self.stream = self.call("cuStreamCreate", 0)
        self.recorder = self.call("cuStreamCreate", NON_BLOCKING)
        pool = self.call("cuDeviceGetDefaultMemPool", device)
        keep = self.driver.CUmemPool_attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
        self.call("cuMemPoolSetAttribute", pool, keep, self.driver.cuuint64_t(KEEP_ALL))

    @property
    def arrays(self) -> CudaArrays:
        """How it takes arrays in its memory."""
        return CudaArrays(self)

    def call(self, name: str, *arguments: Any) -> Any:
        """What the driver's function returns. Raises RunError with its message."""
        error, *results = getattr(self.driver, name)(*arguments)
        if error != self.driver.CUresult.CUDA_SUCCESS:
            raise RunError(f"{name} failed: {error.name}")
        return results[0] if results else None

    def enter(self) -> None:
        """Make the context current in this thread."""
        self.call("cuCtxSetCurrent", self._context)

    def wait(self) -> None:
        """Until all work is done. Raises RunError when some of it failed."""
        self.call("cuStreamSynchronize", self.stream)

    def wait_for(self, stream: int) -> None:
        """Have our stream wait for what another one has to do by now."""
        event = self.call("cuEventCreate", 0)
        try:
            self.call("cuEventRecord", event, self.driver.CUstream(stream))
            self.call("cuStreamWaitEvent", self.stream, event, 0)
        finally:
            self.driver.cuEventDestroy(event)

    def ordinal_of(self, address: int) -> int:
        """The number of the device whose memory this is. Raises RunError where it is none's."""
        names = self.driver.CUpointer_attribute
        what = names.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
        return int(self.call("cuPointerGetAttribute", what, address))

    def allocate(self, size: int) -> CudaMemory:
        """Memory for `size` bytes. Raises RunError when there is not enough."""
        self.enter()
        return CudaMemory(self, size)

    def upload(self, array: Array, buffer: CudaMemory) -> None:
        """Copy a contiguous array to the device."""
        self._copy("cuMemcpyHtoDAsync", buffer.address, array.ctypes.data, array.nbytes)

    def download(self, buffer: CudaMemory, array: Array) -> None:
        """Copy from the device into a contiguous array."""
        self._copy("cuMemcpyDtoHAsync", array.ctypes.data, buffer.address, array.nbytes)

    def _copy(self, name: str, to: int, source: int, size: int) -> None:
        if size:
            self.enter()
            self.call(name, to, source, size, self.stream)
            self.wait()

    def load(self, artifact: Artifact, parts: Sequence[Artifact] = ()) -> CudaProgram:
        """Load the binaries. Raises RunError when they are for another architecture."""
        self.enter()
        functions: dict[str, Any] = {}
        modules = []
        for part in (artifact, *parts):
            if not part.object_code:
                continue
            modules.append(self.call("cuModuleLoadData", part.object_code))
            for name in dict.fromkeys(launch.kernel for launch in part.launches):
                functions[name] = self.call("cuModuleGetFunction", modules[-1], name.encode())
        for launch in artifact.launches:
            if launch.dynamic_bytes:
                self._allow_shared(functions[launch.kernel], launch)
        return CudaProgram(self, modules, functions, artifact.launches)

    def _allow_shared(self, function: Any, launch: Launch) -> None:
        """Let a kernel have as much shared memory as its launch gives. Raises RunError when the
        device has less.
        """
        most = self.target.most_shared_bytes
        if launch.shared_bytes > most:
            raise RunError(
                f"{launch.kernel} takes {launch.shared_bytes} bytes of shared memory a block, of "
                f"which {self.target.name} has {most}; tune on this device"
            )
        names = self.driver.CUfunction_attribute
        attribute = names.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        if launch.shared_bytes > self.target.shared_bytes:
            self.call("cuFuncSetAttribute", function, attribute, launch.dynamic_bytes)

    def _fact(self, name: str) -> int:
        attribute = getattr(self.driver.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
        return int(self.call("cuDeviceGetAttribute", attribute, self._device))

    def _target(self) -> CudaTarget:
        fact = self._fact
        title = self.call("cuDeviceGetName", NAME_BYTES, self._device).rstrip(b"\0").decode()
        major, minor = fact("COMPUTE_CAPABILITY_MAJOR"), fact("COMPUTE_CAPABILITY_MINOR")
        return CudaTarget(
            name=re.sub(r"\W+", "-", title).strip("-").lower(),
            cores=fact("MULTIPROCESSOR_COUNT"),
            vector_bits=128,
            line_bytes=128,
            warp=fact("WARP_SIZE"),
            threads=fact("MAX_THREADS_PER_BLOCK"),
            shared_bytes=fact("MAX_SHARED_MEMORY_PER_BLOCK"),
            registers=fact("MAX_REGISTERS_PER_BLOCK"),
            thread_registers=255,
            l2_bytes=fact("L2_CACHE_SIZE"),
            virtual=8,
            architecture=f"sm_{major}{minor}",
            optin_bytes=fact("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"),
            core_shared_bytes=fact("MAX_SHARED_MEMORY_PER_MULTIPROCESSOR"),
            core_threads=fact("MAX_THREADS_PER_MULTIPROCESSOR"),
            core_blocks=fact("MAX_BLOCKS_PER_MULTIPROCESSOR"),
            core_registers=fact("MAX_REGISTERS_PER_MULTIPROCESSOR"),
        )


class CudaMemory:
    """Bytes of the device from `address` on, until nothing refers to this object."""

    def __init__(self, device: CudaDevice, size: int) -> None:
        self.address = int(device.call("cuMemAllocAsync", max(size, 1), device.stream))
        driver, stream = device.driver, device.stream
        weakref.finalize(self, driver.cuMemFreeAsync, self.address, stream).atexit = False


class CudaProgram:
    """Loaded kernels and the calls that run them."""

    def __init__(
        self,
        device: CudaDevice,
        modules: Sequence[Any],
        functions: Mapping[str, Any],
        launches: Sequence[Launch],
    ) -> None:
        self.device = device
        self._launches = [(functions[launch.kernel], launch) for launch in launches]
        self._bound: dict[Binding, _Bound] = {}  # by what they are bound to, the last used is last
        self._copies, self._row_s = 0, 0.0  # of all launches in a timed graph, and its seconds
        self._runs = APART  # in a graph in which other data passes
        for module in modules:
            weakref.finalize(self, device.driver.cuModuleUnload, module).atexit = False

    def run(
        self, buffers: Sequence[CudaMemory], scratch: CudaMemory, values: Sequence[int] = ()
    ) -> None:
        """Run all kernels and wait. Raises RunError when one fails."""
        self.device.enter()
        binding = _binding(buffers, scratch, values)
        if values and binding not in self._bound:
            # Lengths that never come again are worth no graph.
            for enqueue in self._each(binding):
                enqueue(self.device.stream)
        else:
            self._runner(binding, 1)(self.device.stream)
        self.device.wait()

    def time(
        self,
        buffers: Sequence[CudaMemory],
        scratch: CudaMemory,
        count: int,
        other: OtherData | None = None,
        values: Sequence[int] = (),
    ) -> Seconds:
        """Seconds of a run, `count` times: short ones as the mean of several in a row, those
        between which other data passes as the mean of some, or as without that data where they take
        too little to be seen beside it.
        """
        self.device.enter()
        binding = _binding(buffers, scratch, values)
        apart = None if other is None else self._apart(binding, count, other)
        if apart is not None:
            return apart
        copies = self._enough(binding)
        return self._in_a_row(self._runner(binding, copies), count) / copies

    def steps(
        self, buffers: Sequence[CudaMemory], scratch: CudaMemory, values: Sequence[int] = ()
    ) -> Seconds:
        """Seconds of each launch: those by which all launches and the first few of them once more
        take longer with one more of these.
        """
        self.device.enter()
        binding = _binding(buffers, scratch, values)
        each, copies = self._each(binding), self._enough(binding)
        graphs = [
            self._graph(binding, (copies, i), [*each * copies, *each[:i]])
            for i in range(len(each) + 1)
        ]
        seconds = [self._in_a_row(graph, STEP_SAMPLES).min() for graph in graphs]
        found: Seconds = np.diff(seconds).clip(0.0)
        return found

    def _enough(self, binding: Binding) -> int:
        """How many runs in a row are timed as one."""
        while not self._copies or (self._row_s < SAMPLE_S / 2 and self._copies < MOST_COPIES):
            wanted = round(self._copies * SAMPLE_S / self._row_s) if self._copies else 1
            self._copies = min(wanted, MOST_COPIES)
            self._row_s = self._in_a_row(self._runner(binding, self._copies), 1)[0]
        return self._copies

    def _in_a_row(self, enqueue: Enqueue, count: int) -> Seconds:
        """Seconds of each of `count` times. The first one, which would find the device idle and
        have its launch in the figure, is not timed.
        """
        call, stream = self.device.call, self.device.stream
        events = [call("cuEventCreate", 0) for _ in range(count + 1)]
        try:
            enqueue(stream)
            call("cuEventRecord", events[0], stream)
            for event in events[1:]:
                enqueue(stream)
                call("cuEventRecord", event, stream)
            self.device.wait()
            pairs = itertools.pairwise(events)
            return np.array([1e-3 * call("cuEventElapsedTime", a, b) for a, b in pairs])
        finally:
            for event in events:
                self.device.driver.cuEventDestroy(event)

    def _apart(self, binding: Binding, count: int, other: OtherData) -> Seconds | None:
        """Seconds of `count` runs, before each of which other data passes; None where that data
        hides them.
        """
        call = self.device.call

        def passing(stream: Any) -> None:
            call("cuMemsetD8Async", other.memory.address, 0, other.nbytes, stream)
            for source, to, size in other.renewed:
                call("cuMemcpyDtoDAsync", to.address, source.address, size, stream)

        work = [passing, *self._each(binding)]
        while True:
            key = other.memory.address, self._runs
            both = self._graph(binding, ("apart", *key), work * self._runs)
            alone = self._graph(binding, ("passing", *key), work[:1] * self._runs)
            without = self._in_a_row(alone, max(count, LEAST_ALONE))
            found = beyond(self._in_a_row(both, count), without, self._runs)
            if found is not None or self._runs == MOST_APART:
                return found
            self._runs = min(4 * self._runs, MOST_APART)

    def _runner(self, binding: Binding, copies: int) -> Enqueue:
        """What enqueues all launches so many times."""
        each = self._each(binding)
        return each[0] if len(each) * copies == 1 else self._graph(binding, copies, each * copies)

    def _graph(self, binding: Binding, key: Hashable, work: Sequence[Enqueue]) -> Enqueue:
        """What enqueues a graph of some work, which is captured once."""
        graphs = self._with(binding).graphs
        if key not in graphs:
            graphs[key] = _Graph(self.device, self._captured(work))
        return graphs[key]

    def _captured(self, work: Sequence[Enqueue]) -> Any:
        """Work as an executable graph."""
        call, stream = self.device.call, self.device.recorder
        mode = self.device.driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
        call("cuStreamBeginCapture", stream, mode)
        try:
            for enqueue in work:
                enqueue(stream)
        except RunError:
            self.device.driver.cuStreamEndCapture(stream)
            raise
        graph = call("cuStreamEndCapture", stream)
        executable = call("cuGraphInstantiate", graph, 0)
        call("cuGraphDestroy", graph)
        return executable

    def _each(self, binding: Binding) -> list[Enqueue]:
        """What enqueues each launch; see `_binding`."""
        return self._with(binding).each

    def _with(self, binding: Binding) -> _Bound:
        """The launches with these buffers. Callers' arrays come back to a few addresses."""
        found = self._bound.pop(binding, None)
        if found is None:
            found = _Bound([self._launcher(i, binding) for i in range(len(self._launches))])
            for old in [*self._bound][: 1 - MOST_BOUND]:
                del self._bound[old]
        self._bound[binding] = found
        return found

    def _launcher(self, number: int, binding: Binding) -> Enqueue:
        function, launch = self._launches[number]
        addresses, values = binding
        places = [addresses[a] if a >= 0 else addresses[-1] - 1 - a for a in launch.arguments]
        maps = [EncodedMap(self.device, m, places[m.argument]) for m in launch.maps]
        blocks, sizes = launch.at(values)
        if not blocks:
            return lambda stream: None
        arguments = _Arguments(places, launch.values, maps, sizes)
        grid, threads = (blocks, *launch.beyond), (*launch.threads, 1)
        return lambda stream: self.device.call(
            "cuLaunchKernel", function, *grid, *threads, launch.dynamic_bytes,
            stream, arguments.address, 0,
        )  # fmt: skip


def beyond(both: Seconds, alone: Seconds, runs: int) -> Seconds | None:
    """Seconds of one of `runs` runs in graphs that take `both`, which take `alone` without them;
    None where the difference is within the noise of that.
    """
    gaps = both - np.median(alone)
    if np.median(gaps) <= SIGMAS * alone.std():
        return None
    found: Seconds = (gaps / runs).clip(GRAIN_S)
    return found


class _Graph:
    """Enqueues an executable graph, which goes with it."""

    def __init__(self, device: CudaDevice, executable: Any) -> None:
        self._device, self._executable = device, executable
        weakref.finalize(self, device.driver.cuGraphExecDestroy, executable).atexit = False

    def __call__(self, stream: Any) -> None:
        self._device.call("cuGraphLaunch", self._executable, stream)


@dataclass(frozen=True, slots=True)
class _Bound:
    """Launches with the arguments of one set of buffers, and graphs by what they run."""

    each: list[Enqueue]
    graphs: dict[Hashable, _Graph] = field(default_factory=dict)


class _Arguments:
    """What a kernel is called with, in memory: pointers, tensor maps, then a structure of int32
    where there are `values`, and `sizes`, int32 each. `address` is where the addresses of all of
    them are.
    """

    def __init__(
        self,
        places: Sequence[int],
        values: Sequence[int],
        maps: Sequence[EncodedMap],
        sizes: Sequence[int] = (),
    ) -> None:
        self._maps = maps
        self._places = (ctypes.c_void_p * len(places))(*places)
        self._values = (ctypes.c_int32 * len(values))(*values)
        size = ctypes.sizeof(ctypes.c_void_p)
        first = ctypes.addressof(self._places)
        listed = [first + i * size for i in range(len(places))]
        listed += [one.address for one in maps]
        if values:
            listed.append(ctypes.addressof(self._values))
        self._sizes = [ctypes.c_int32(n) for n in sizes]
        listed += map(ctypes.addressof, self._sizes)
        self._addresses = (ctypes.c_void_p * len(listed))(*listed)
        self.address = ctypes.addressof(self._addresses)


def _binding(buffers: Sequence[CudaMemory], scratch: CudaMemory, values: Sequence[int]) -> Binding:
    return (*(b.address for b in buffers), scratch.address), tuple(values)
