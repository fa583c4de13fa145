"""Numbers and notes for people, and what options' text means."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import tilewright as tw
from tilewright.cli.console import complain, output, remark
from tilewright.cli.options import assignments, parse_constants, parse_objective, parse_shape
from tilewright.cli.timing import interleaved
from tilewright.contract.arguments import Range
from tilewright.ground.errors import InputError
from tilewright.ground.text import (
    clock,
    count,
    duration,
    factor,
    harmless,
    parse_size,
    plain,
    rate,
    sentence,
    size,
)


def test_numbers_read_well() -> None:
    assert [duration(s) for s in (None, 1.5, 0.0377, 8.12e-4, 2e-9)] == [
        "–", "1.50 s", "37.7 ms", "812 µs", "2 ns",
    ]  # fmt: skip
    assert [size(b) for b in (0, 512, 2_621_440)] == ["0 B", "512 B", "2.62 MB"]
    assert [clock(s) for s in (5, 83, 3671)] == ["0:05", "1:23", "1:01:11"]
    assert rate(2e9, 0.01) == "200.0"
    assert rate(0, 0.01) == rate(1, None) == "–"
    assert factor(0.04, 0.02) == "2.00x"
    assert count(1, "trial") == "1 trial"
    assert sentence("peak memory 2 MB") == "Peak memory 2 MB"


def test_sizes_are_read_as_they_are_written() -> None:
    for number in (0, 512, 2_620_000, 34 * 10**9):
        assert parse_size(size(number)) == number
    assert [parse_size(t) for t in ("7", "1k", "2 mb", "1.5G", "1TB")] == [
        7, 1000, 2_000_000, 1_500_000_000, 10**12,
    ]  # fmt: skip
    for text in ("", "MB", "1e9", "-3", "1 XB", "1.2.3 MB", "inf"):
        with pytest.raises(ValueError, match="is no size"):
            parse_size(text)


def test_text_from_elsewhere() -> None:
    assert harmless("a\x1b[2J\r\x07\u202eb\tc\n") == "a\\x1b[2J\\r\\x07\\u202eb\tc\n"
    assert plain("n\udcffµ") == "n?µ"


def test_names_in_brackets_stay_text(capsys: pytest.CaptureFixture[str]) -> None:
    output().print("pip install 'tilewright[demo]'", "a[/b]")
    assert capsys.readouterr().out == "pip install 'tilewright[demo]' a[/b]\n"


def test_names_between_colons_stay_text(capsys: pytest.CaptureFixture[str]) -> None:
    complain("not opencl:mali: tune for opencl")
    remark("opencl:mali: no device")
    said = capsys.readouterr().err
    assert said == "error: not opencl:mali: tune for opencl\nnote: opencl:mali: no device\n"


def test_an_input_named_again_gets_another_shape() -> None:
    assert assignments([]) == []
    given = [("x", (1, 8)), ("z", (3,)), ("x", (4, 8))]
    assert assignments(given) == [{"x": (1, 8), "z": (3,)}, {"x": (4, 8), "z": (3,)}]
    with pytest.raises(InputError, match=r"as often as the others \(3 times\): x 3, z 2"):
        assignments([("x", (1,)), ("x", (2,)), ("z", (1,)), ("z", (2,)), ("x", (3,))])


def test_shapes_and_objectives_parse() -> None:
    assert parse_shape("x=1,3,224") == (None, "x", (1, 3, 224))
    assert parse_shape("net:ids:0=4") == ("net", "ids:0", (4,))
    assert parse_shape("seq=1..512") == (None, "seq", (Range(1, 512),))
    of_points = Range(0, 640, ((64, 1.0), (128, 4.0), (640, 0.5)))
    assert parse_shape("x=1,0..640@64+128x4+640x0.5,3") == (None, "x", (1, of_points, 3))
    for text in ("x=1..", "x=..2", "x=1..0", "x=1..5@", "x=5@4", "x=1..5@4x", "x=1..5@4+",
                 "x=0", "x=-1", "x=1e9", "x=٣", "=", "x", "x=" + "9" * 20, "x=" + "9" * 5000,
                 "x=" + ",".join(["1"] * 100)):  # fmt: skip
        with pytest.raises(InputError, match="is not NAME=N,N") as caught:
            parse_shape(text)
        assert len(str(caught.value)) < 200
    assert parse_objective("sum", 3) == tw.TotalLatency()
    assert parse_objective("requirement:0.02,0.1", 2) == tw.LatencyRequirement((0.02, 0.1))
    assert parse_objective("geomean:0.04", 1) == tw.GeomeanSpeedup((0.04,))
    assert parse_objective("early-stopping", 1) == tw.EarlyStopping()


def test_constants_have_the_types_that_their_text_has() -> None:
    found = parse_constants(["sr=16000", "axes=1,-2", "scale=0.5", "flag=true"])
    assert {n: (str(a.dtype), a.tolist()) for n, a in found.items()} == {
        "sr": ("int64", 16000),
        "axes": ("int64", [1, -2]),
        "scale": ("float32", 0.5),
        "flag": ("bool", True),
    }
    for text in ("sr", "=3", "sr=x", "sr=", "sr=" + "9" * 20, "sr=" + "9" * 5000):
        with pytest.raises(InputError, match="is not NAME=N,N"):
            parse_constants([text])


class Clock:
    """Stands for the module `time`; it moves when told."""

    now = 0.0

    def perf_counter(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def test_programs_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr("tilewright.cli.timing.time", clock)
    calls: list[str] = []

    def program(name: str, seconds: float) -> Callable[[], None]:
        def call() -> None:
            calls.append(name)
            clock.sleep(seconds)

        return call

    both = {"slow": program("slow", 0.02), "quick": program("quick", 0.001)}
    timings = interleaved(both, seconds=0.7)
    assert timings["slow"].calls_s == pytest.approx([0.02] * len(timings["slow"].calls_s))
    assert timings["quick"].median_s == pytest.approx(0.001)
    turns = [a for a, b in zip(calls, [*calls[1:], ""], strict=True) if a != b]
    assert turns == ["slow", "quick", "slow"]  # the second turn begins with the other one
