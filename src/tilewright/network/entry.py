"""The native entry point of a network: one LLVM function that calls every kernel in order.

    define void @resnet50(ptr %buffers, ptr %params, ptr %scratch) {
      …                                     pointers of inputs, constants and outputs
      store ptr %b12, ptr %args …           the kernel's own array of buffer pointers
      call void @t3_conv(ptr %args, ptr null, ptr %workspace)
      …

A loop is a loop there, too, and a choice a branch: their counts and conditions are read from
memory. Rows of arrays are reached by the number of the step, without copies. Library functions
answer sizes, which are values of the call from then on.

Scratch begins with the int64 values of a call with sizes, `head` bytes; kernels get those they want
as their `params`. Then come intermediate values at fixed offsets, and the kernels' own scratch.
Nothing of Python runs between two kernels. A network that may refuse to go on has an int64 behind
them: 0, or the number of the refusal that ended the run.

Beside it stands `@resnet50_timed`, which does the same and takes the time before, between and
after the actions (a loop is one): `params` points there at one `struct timespec` (two int64: s,
ns) for each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tilewright.contract.artifact import derive_entry, timed_entry
from tilewright.contract.sizes import Sizes
from tilewright.expr.nodes import Shape


@dataclass(frozen=True, slots=True)
class InterfaceBuffer:
    """Buffer number `index` of the network's interface."""

    index: int


@dataclass(frozen=True, slots=True)
class Slot:
    """Memory at `offset` bytes of the arena."""

    offset: int


@dataclass(frozen=True, slots=True)
class CallValue:
    """Value number `index` of the call, an int64."""

    index: int


@dataclass(frozen=True, slots=True)
class Row:
    """The bytes at `offset + stride * t` of `base`, where t counts the steps of loop `loop`."""

    base: Place
    offset: int | CallValue
    stride: int | CallValue
    loop: int


@dataclass(frozen=True, slots=True)
class Behind:
    """The bytes of `base` behind the first `offset`."""

    base: Place
    offset: int | CallValue


Place: TypeAlias = InterfaceBuffer | Slot | CallValue | Row | Behind


@dataclass(frozen=True, slots=True)
class KernelCall:
    """A call of the kernel `entry` with its buffers in their order, and its sizes from `params`
    on.
    """

    entry: str
    places: tuple[Place, ...]
    params: CallValue | None = None


@dataclass(frozen=True, slots=True)
class Copy:
    """`size` bytes from one place to another, which do not overlap."""

    source: Place
    destination: Place
    size: int | CallValue


@dataclass(frozen=True, slots=True)
class CopyRows:
    """On a GPU: an array of these extents over `sizes`, which is a caller's contiguous one before
    (`taken`) or afterwards. `values` of the call are those of the sizes.
    """

    source: Place
    destination: Place
    extents: Shape
    dtype: str
    taken: bool
    sizes: Sizes
    values: tuple[CallValue, ...]


@dataclass(frozen=True, slots=True)
class RepeatedCalls:
    """`actions` for t = 0, 1, … of loop number `loop`: `trips` times (an int64 in memory, a number,
    or None: without end), and while the bool at `condition` is true. Before each step t is stored
    at `counter`, if anybody reads it there.
    """

    loop: int
    trips: Place | int | None
    condition: Place | None
    counter: Place | None
    actions: tuple[Action, ...]


@dataclass(frozen=True, slots=True)
class Branch:
    """`then` where the bool at `condition` is true, else `otherwise`."""

    condition: Place
    then: tuple[Action, ...]
    otherwise: tuple[Action, ...]


@dataclass(frozen=True, slots=True)
class Refuse:
    """The end of the run, for reason `number`, from 1 on."""

    number: int


@dataclass(frozen=True, slots=True)
class Limit:
    """The end of the run, for reason `refusal`, where a number of the call is more than `most`."""

    number: CallValue
    most: int
    refusal: int


@dataclass(frozen=True, slots=True)
class Resize:
    """Sizes of the call become numbers, all at once, and others follow from them."""

    sizes: tuple[tuple[CallValue, int | CallValue], ...]


@dataclass(frozen=True, slots=True)
class Select:
    """A call of the library function `entry` with arrays and numbers (`runtime/c/select.h`). Its
    answer is the value `size`, if there is one, from which others follow; more than `limit`, or
    less than 0, is the end of the run for reason `refusal`, if there is one.
    """

    entry: str
    places: tuple[Place, ...]
    numbers: tuple[int | CallValue, ...]
    size: CallValue | None
    limit: int | CallValue
    refusal: int | None


Action: TypeAlias = (
    KernelCall | Copy | CopyRows | RepeatedCalls | Branch | Refuse | Limit | Resize | Select
)


CLOCK_MONOTONIC = 1
STAMP_BYTES = 16


def entry_ir(
    name: str,
    buffers: int,
    actions: Sequence[Action],
    workspace: int,
    status: int | None = None,
    head: int = 0,
) -> str:
    """The IR of the entry points of a network with `buffers` buffers.

    `workspace` is the offset in scratch where the kernels' own scratch begins, `status` that of the
    number of a refusal, if there may be one; slots begin at `head`.
    """
    lines = []
    for entry, timed in ((timed_entry(name), True), (name, False)):
        body = _Body(status, head, derive_entry(name))
        if status is not None:
            body.store(0)
        if timed:
            body.stamp(0)
        for number, action in enumerate(actions, 1):
            body.action(action)
            if timed:
                body.stamp(number)
        lines.append(f"define void @{entry}(ptr %buffers, ptr %params, ptr %scratch) {{")
        lines += [*body.head(buffers, workspace), *body.lines, "  ret void", "}"]
    return "\n".join(
        [
            *(f"declare void @{entry}(ptr, ptr, ptr)" for entry in body.entries),
            *(f"declare i64 @{entry}(ptr, ptr, ptr)" for entry in body.functions),
            "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)",
            "declare i32 @clock_gettime(i32, ptr)",
            *lines,
            "",
        ]
    )


class _Body:
    """Writes the instructions of one function, in order, and keeps what they need before them:
    the kernels' `entries`, library `functions`, `loops` that count, `slots` of the arena, the
    `widest` call's buffers and the most numbers of one.
    """

    def __init__(self, status: int | None, first: int, derive: str) -> None:
        self.status = status
        self.first = first
        self.derive = derive
        self.lines: list[str] = []
        self.names = 0
        self.entries: dict[str, None] = {}
        self.functions: dict[str, None] = {}
        self.most_numbers = 0
        self.loops: list[int] = []
        self.slots: set[int] = set()
        self.widest = 1

    def head(self, buffers: int, workspace: int) -> list[str]:
        """Every address that a call may need, and the counters of loops."""
        lines = [
            f"  %args = alloca [{self.widest} x ptr], align 16",
            *(f"  %t{loop} = alloca i64, align 8" for loop in self.loops),
            f"  %workspace = getelementptr i8, ptr %scratch, i64 {workspace}",
        ]
        if self.most_numbers:
            lines.append(f"  %numbers = alloca [{self.most_numbers} x i64], align 8")
        for i in range(buffers):
            lines.append(f"  %a{i} = getelementptr ptr, ptr %buffers, i64 {i}")
            lines.append(f"  %b{i} = load ptr, ptr %a{i}")
        lines += [f"  %s{i} = getelementptr ptr, ptr %args, i64 {i}" for i in range(self.widest)]
        slots = [(o, o + self.first) for o in sorted(self.slots)]
        return lines + [f"  %m{o} = getelementptr i8, ptr %scratch, i64 {at}" for o, at in slots]

    def new(self, instruction: str) -> str:
        """The name of a new value."""
        name = f"%v{self.names}"
        self.names += 1
        self.lines.append(f"  {name} = {instruction}")
        return name

    def stamp(self, number: int) -> None:
        self.lines += [
            f"  %at{number} = getelementptr i8, ptr %params, i64 {STAMP_BYTES * number}",
            f"  call i32 @clock_gettime(i32 {CLOCK_MONOTONIC}, ptr %at{number})",
        ]

    def pointer(self, place: Place) -> str:
        match place:
            case InterfaceBuffer(index):
                return f"%b{index}"
            case Slot(offset):
                self.slots.add(offset)
                return f"%m{offset}"
            case CallValue(index):
                return self.new(f"getelementptr i64, ptr %scratch, i64 {index}")
            case Behind(base, offset):
                start = self.number(offset)
                return self.new(f"getelementptr i8, ptr {self.pointer(base)}, i64 {start}")
            case Row(base, offset, stride, loop):
                step = self.new(f"load i64, ptr %t{loop}")
                moved = self.new(f"mul i64 {step}, {self.number(stride)}")
                start = self.new(f"add i64 {moved}, {self.number(offset)}")
                return self.new(f"getelementptr i8, ptr {self.pointer(base)}, i64 {start}")

    def action(self, action: Action) -> None:
        match action:
            case KernelCall(entry, places, params):
                self.entries[entry] = None
                stores = self.arguments(places)
                sizes = "null" if params is None else self.pointer(params)
                call = f"  call void @{entry}(ptr %args, ptr {sizes}, ptr %workspace)"
                self.lines += [*stores, call]
            case Copy(source, destination, size):
                ends = f"ptr {self.pointer(destination)}, ptr {self.pointer(source)}"
                self.lines.append(
                    f"  call void @llvm.memcpy.p0.p0.i64({ends}, i64 {self.number(size)}, i1 false)"
                )
            case Select():
                self.select(action)
            case RepeatedCalls():
                self.repeat(action)
            case Branch():
                self.branch(action)
            case Refuse(number):
                self.store(number)
                self.lines += ["  ret void", f"after{self.names}:"]
                self.names += 1
            case Limit(number, most, refusal):
                self.limited(self.number(number), str(most), refusal)
            case Resize(sizes):
                self.sized({size: self.number(value) for size, value in sizes})

    def arguments(self, places: Sequence[Place]) -> list[str]:
        """What puts the buffers of a call where it expects them."""
        self.widest = max(self.widest, len(places))
        return [f"  store ptr {self.pointer(p)}, ptr %s{i}" for i, p in enumerate(places)]

    def select(self, action: Select) -> None:
        """A call of a library function, and what follows from its answer."""
        self.functions[action.entry] = None
        self.most_numbers = max(self.most_numbers, len(action.numbers))
        self.lines += self.arguments(action.places)
        for i, number in enumerate(action.numbers):
            slot = self.new(f"getelementptr i64, ptr %numbers, i64 {i}")
            self.lines.append(f"  store i64 {self.number(number)}, ptr {slot}")
        count = self.new(f"call i64 @{action.entry}(ptr %args, ptr %numbers, ptr %workspace)")
        if action.refusal is not None:
            self.limited(count, self.number(action.limit), action.refusal)
        if action.size is not None:
            self.sized({action.size: count})

    def limited(self, count: str, most: str, refusal: int) -> None:
        """The end of the run where there are more."""
        wrong = self.new(f"icmp ugt i64 {count}, {most}")
        at = self.names
        self.lines += [f"  br i1 {wrong}, label %more{at}, label %fits{at}", f"more{at}:"]
        self.store(refusal)
        self.lines += ["  ret void", f"fits{at}:"]

    def sized(self, values: Mapping[CallValue, str]) -> None:
        """Sizes get values, and what follows from them."""
        for size, value in values.items():
            self.lines.append(f"  store i64 {value}, ptr {self.pointer(size)}")
        self.lines.append(f"  call void @{self.derive}(ptr %scratch)")

    def store(self, status: int) -> None:
        """Leave the number of a refusal where the caller reads it."""
        assert self.status is not None, "the network has a place for it"
        place = self.new(f"getelementptr i8, ptr %scratch, i64 {self.status}")
        self.lines.append(f"  store i64 {status}, ptr {place}")

    def repeat(self, action: RepeatedCalls) -> None:
        """A loop that tests before each step."""
        at, counter, trips = action.loop, f"%t{action.loop}", action.trips
        self.loops.append(at)
        last = None if trips is None else self.number(trips)
        self.lines += [f"  store i64 0, ptr {counter}", f"  br label %test{at}", f"test{at}:"]
        step = self.new(f"load i64, ptr {counter}")
        going = "true" if last is None else self.new(f"icmp slt i64 {step}, {last}")
        if action.condition is not None:
            going = self.new(f"and i1 {going}, {self.truth(action.condition)}")
        self.lines += [f"  br i1 {going}, label %step{at}, label %done{at}", f"step{at}:"]
        if action.counter is not None:
            self.lines.append(f"  store i64 {step}, ptr {self.pointer(action.counter)}")
        for each in action.actions:
            self.action(each)
        following = self.new(f"add i64 {step}, 1")
        self.lines += [f"  store i64 {following}, ptr {counter}", f"  br label %test{at}"]
        self.lines.append(f"done{at}:")

    def branch(self, action: Branch) -> None:
        chosen = self.truth(action.condition)
        at = self.names
        self.lines += [f"  br i1 {chosen}, label %then{at}, label %else{at}", f"then{at}:"]
        for each in action.then:
            self.action(each)
        self.lines += [f"  br label %end{at}", f"else{at}:"]
        for each in action.otherwise:
            self.action(each)
        self.lines += [f"  br label %end{at}", f"end{at}:"]

    def number(self, value: int | Place) -> str:
        """A number, or the int64 in memory."""
        return str(value) if isinstance(value, int) else self.loaded("i64", value)

    def loaded(self, kind: str, place: Place) -> str:
        return self.new(f"load {kind}, ptr {self.pointer(place)}, align 1")

    def truth(self, place: Place) -> str:
        return self.new(f"icmp ne i8 {self.loaded('i8', place)}, 0")
