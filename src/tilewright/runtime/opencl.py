"""OpenCL devices, through pyopencl (`pip install 'tilewright[opencl]'`).

    device = OpenclDevice()            the first one found, a GPU before a CPU
    device.target                      its facts, "opencl:…"
    fn = DeviceFunction(artifact, device)

Kernels are compiled by the device's driver when they are loaded.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tilewright.contract.artifact import Array, Artifact, Launch
from tilewright.ground.errors import RunError, TargetError
from tilewright.runtime.device import OtherData, Seconds
from tilewright.target import OpenclTarget

INSTALL = (
    "OpenCL needs pyopencl (pip install 'tilewright[opencl]') and a driver; on Debian, for CPUs: "
    "apt-get install pocl-opencl-icd. Programs are compiled without a device, too: "
    "tilewright compile MODEL --target opencl:mali"
)
OPTIONS = ("-cl-std=CL1.2", "-cl-mad-enable")


def compiler() -> str:
    """What makes machine code; which driver it is, is a fact of the target."""
    return "the OpenCL driver"


def _pyopencl() -> Any:
    try:
        import pyopencl
    except ImportError as error:
        raise TargetError(f"{INSTALL} ({error})") from error
    return pyopencl


def find_device() -> Any:
    """The first device, GPUs first. Raises TargetError when there is none."""
    cl = _pyopencl()
    try:
        found = [d for p in cl.get_platforms() for d in p.get_devices()]
    except cl.Error as error:
        raise TargetError(f"{INSTALL} ({error})") from error
    if not found:
        raise TargetError(f"no OpenCL device is here. {INSTALL}")
    found.sort(key=lambda d: not d.type & cl.device_type.GPU)
    return found[0]


def target_of(device: Any) -> OpenclTarget:
    """The facts of a device, where it does not say typical ones."""
    cl = _pyopencl()
    is_gpu = bool(device.type & cl.device_type.GPU)
    known = OpenclTarget.named("intel" if is_gpu else "pocl")
    name = re.sub(r"\W+", "-", device.name).strip("-").lower()[:40]
    about = f"{device.name} {device.driver_version}".lower()
    return OpenclTarget(
        name=name if is_gpu else "pocl",
        cores=int(device.max_compute_units),
        vector_bits=128,
        line_bytes=int(device.global_mem_cacheline_size) or known.line_bytes,
        warp=known.warp,
        # a CPU runs the threads of a block one after the other: larger blocks gain nothing
        threads=min(int(device.max_work_group_size), 1024 if is_gpu else known.threads),
        shared_bytes=min(int(device.local_mem_size), 64 * 1024),
        registers=0,
        thread_registers=known.thread_registers,
        l2_bytes=int(device.global_mem_cache_size),
        virtual=known.virtual,
        driver=re.sub(r"[^\w.+-]+", "-", about).strip("-"),
    )


class OpenclDevice:
    """One device with its context, an in-order queue, and a pool of memory that is used again."""

    def __init__(self, device: Any = None) -> None:
        self._cl = _pyopencl()
        self.device = find_device() if device is None else device
        self.target = target_of(self.device)
        self.context = self._cl.Context([self.device])
        timed = self._cl.command_queue_properties.PROFILING_ENABLE
        self.queue = self._cl.CommandQueue(self.context, properties=timed)
        tools = importlib.import_module("pyopencl.tools")
        self.arrays = None  # there is no common way to give them
        self.pool = tools.MemoryPool(tools.ImmediateAllocator(self.queue))

    def allocate(self, size: int) -> Any:
        """A buffer of `size` bytes or more, of the pool. Raises RunError where memory is short."""
        try:
            return self.pool.allocate(max(size, 1))
        except (self._cl.Error, MemoryError) as error:
            raise RunError(f"{size} bytes of device memory are not to be had: {error}") from error

    def upload(self, array: Array, buffer: Any) -> None:
        """Copy a contiguous array to the device."""
        if array.nbytes:
            self._cl.enqueue_copy(self.queue, buffer, _bytes(array), is_blocking=True)

    def download(self, buffer: Any, array: Array) -> None:
        """Copy from the device into a contiguous array."""
        if array.nbytes:
            self._cl.enqueue_copy(self.queue, _bytes(array), buffer, is_blocking=True)

    def load(self, artifact: Artifact, parts: Sequence[Artifact] = ()) -> OpenclProgram:
        """Compile the kernels. Raises RunError with the driver's log."""
        kernels: dict[str, Any] = {}
        for part in (artifact, *parts):
            if part.object_code:
                kernels |= {k.function_name: k for k in self._compiled(part).all_kernels()}
        return OpenclProgram(self, kernels, artifact.launches)

    def _compiled(self, artifact: Artifact) -> Any:
        source = artifact.object_code.decode()
        try:
            return self._cl.Program(self.context, source).build(options=list(OPTIONS))
        except self._cl.Error as error:
            raise RunError(f"the OpenCL driver rejects {artifact.entry}: {error}") from error


class OpenclProgram:
    """Compiled kernels and the calls that run them."""

    def __init__(
        self, device: OpenclDevice, kernels: Mapping[str, Any], launches: Sequence[Launch]
    ) -> None:
        self._cl = _pyopencl()
        self.device = device
        self.launches = launches
        self.kernels = [kernels[launch.kernel] for launch in launches]
        self._scratch: Any = None
        self._parts: dict[int, Any] = {}  # of that scratch memory, by offset

    def run(self, buffers: Sequence[Any], scratch: Any, values: Sequence[int] = ()) -> None:
        """Run all kernels and wait. Raises RunError when one fails."""
        self._enqueue(buffers, scratch, values)
        try:
            self.device.queue.finish()
        except self._cl.Error as error:
            raise RunError(f"an OpenCL kernel failed: {error}") from error

    def steps(self, buffers: Sequence[Any], scratch: Any, values: Sequence[int] = ()) -> Seconds:
        """Seconds of each launch."""
        events = self._enqueue(buffers, scratch, values)
        self.device.queue.finish()
        return np.array([(e.profile.end - e.profile.start) * 1e-9 if e else 0.0 for e in events])

    def time(
        self,
        buffers: Sequence[Any],
        scratch: Any,
        count: int,
        other: OtherData | None = None,
        values: Sequence[int] = (),
    ) -> Seconds:
        """Seconds of each run, from the first kernel's start to the last one's end."""
        seconds = np.zeros(count)
        for i in range(count):
            if other is not None:
                self._pass(other)
            events = [e for e in self._enqueue(buffers, scratch, values) if e]
            if events:
                events[-1].wait()
                seconds[i] = (events[-1].profile.end - events[0].profile.start) * 1e-9
        return seconds

    def _pass(self, other: OtherData) -> None:
        """Write other data, and the inputs anew."""
        cl, queue = self._cl, self.device.queue
        cl.enqueue_fill_buffer(queue, other.memory, np.uint8(0), 0, other.nbytes)
        for source, to, size in other.renewed:
            cl.enqueue_copy(queue, to, source, byte_count=size)

    def _enqueue(
        self, buffers: Sequence[Any], scratch: Any, values: Sequence[int]
    ) -> list[Any | None]:
        """The event of each launch; None of one without blocks."""
        events: list[Any | None] = []
        for launch, kernel in zip(self.launches, self.kernels, strict=True):
            blocks, sizes = launch.at(values)
            if not blocks:
                events.append(None)
                continue
            arguments = [self._argument(a, buffers, scratch) for a in launch.arguments]
            x, y = launch.threads
            try:
                kernel.set_args(*arguments, *map(np.int32, sizes))
                size = (blocks * x, y)
                events.append(
                    self._cl.enqueue_nd_range_kernel(self.device.queue, kernel, size, (x, y))
                )
            except self._cl.Error as error:
                raise RunError(f"{launch.kernel} cannot be launched: {error}") from error
        return events

    def _argument(self, position: int, buffers: Sequence[Any], scratch: Any) -> Any:
        """A buffer, or the part of the scratch memory from an offset on."""
        if position >= 0:
            return buffers[position]
        if scratch is not self._scratch:
            self._scratch, self._parts = scratch, {}
        offset = -1 - position
        if offset not in self._parts:
            whole = self._cl.Buffer.from_int_ptr(scratch.int_ptr)
            self._parts[offset] = whole.get_sub_region(offset, whole.size - offset)
        return self._parts[offset]


def _bytes(array: Array) -> Any:
    """The array's memory, whatever its dtype."""
    return array.reshape(-1).view(np.uint8)
