"""What a captured graph computes is compared with eager mode once; what differs is left to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional
from torch_modules import captured, fallbacks, same

from tilewright.front import torch_backend
from tilewright.front.torch_backend import EagerFallback
from tilewright.front.torch_compare import deviations, faulty, watched
from tilewright.graph.torch.decompositions import DECOMPOSITIONS
from tilewright.network.executor import Network

pytestmark = [pytest.mark.cpu, pytest.mark.torch]
WRONG = {torch.sin: torch.cos, torch.tanh: torch.exp, torch.max: torch.min, torch.gt: torch.lt}
WRONG_METHODS = {"sin_": "cos_", "argmax": "argmin"}


def in_place(x: Tensor) -> Tensor:
    y = x * 3
    y.view(-1).sin_()
    return torch.exp(y * 2) + y


def several(x: Tensor) -> Tensor:
    return torch.exp(torch.tanh(torch.sin(x + 1) * 2))


def of_a_tuple(x: Tensor) -> tuple[Tensor, Tensor]:
    values, indices = torch.max(x + 1, 1)
    return torch.exp(values), indices + 1


@pytest.mark.parametrize(
    ("function", "names"),
    [
        (lambda x: torch.exp(torch.sin(x * 2)), ["sin"]),
        (in_place, ["sin_"]),
        (several, ["sin", "tanh"]),
        (of_a_tuple, ["max_1"]),
        (lambda x: torch.where(torch.gt(x.argmax(1), 1), x[0], 2), ["argmax", "gt"]),
        (lambda x: torch.exp(x).relu_().add_(1), []),
    ],
)
def test_the_operators_that_differ_are_found(
    function: Callable[..., Any], names: list[str]
) -> None:
    """By the values of a graph in which some operators were replaced by others."""
    graph, x = torch.fx.symbolic_trace(function), torch.randn(4, 4)
    watch = watched(graph, [x])
    for node in watch.graph.graph.nodes:
        table = WRONG_METHODS if node.op == "call_method" else WRONG
        node.target = table.get(node.target, node.target)
    watch.graph.recompile()
    found = faulty(graph, watch, [x], watch.graph(x))
    assert list(found) == names
    assert all(reason.startswith("differs from eager PyTorch") for reason in found.values())


@pytest.fixture
def wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """Within it, the sine is translated to the cosine."""
    monkeypatch.setitem(DECOMPOSITIONS, "aten.sin.default", torch.cos)


@pytest.mark.usefixtures("wrong")
def test_only_the_operator_that_differs_runs_in_eager_mode() -> None:
    with pytest.warns(EagerFallback) as record:
        models = captured(lambda x: torch.exp(torch.sin(x + 1)), torch.randn(4, 6))
    (message,) = fallbacks(record)
    assert "torch.sin runs in eager PyTorch (differs from eager PyTorch by " in message
    assert [[n.op for n in m.partition.graph.nodes] for m in models] == [["add"], ["exp"]]


@pytest.mark.usefixtures("wrong")
def test_comparing_leaves_results_and_arguments_as_they_are() -> None:
    """Nested results, arguments that are returned, views and a write to an argument."""

    def function(x: Tensor, y: Tensor) -> dict[str, Any]:
        z = torch.sin(x * 3)
        y.mul_(2)
        return {"x": x, "y": y[1:], "both": (z, z.t())}

    net = torch.compile(function, backend="tilewright")
    x, y = torch.randn(4, 6), torch.ones(3)
    with pytest.warns(EagerFallback) as record:
        for factor in (2, 4):
            found = net(x, y)
            assert torch.equal(y, torch.full((3,), factor))
            assert found["x"] is x and found["y"].data_ptr() == y[1:].data_ptr()
            same(found["both"], function(x, torch.ones(3))["both"])
    assert len(fallbacks(record)) == 2, "the write and the sine"


def test_every_network_is_compared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = []

    def counted(*args: Any) -> Any:
        compared.append(args)
        return deviations(*args)

    monkeypatch.setattr(torch_backend, "deviations", counted)
    net = torch.compile(lambda x: torch.exp(x), backend="tilewright", dynamic=True)
    for n in (2, 2, 3, 5, 3, 2):
        net(torch.randn(n, 6))
    assert len(compared) == 2, "up to 4 rows, and up to 10"


SAMPLED = (
    *(torch.exp, torch.expm1, torch.log, torch.log1p, torch.sqrt, torch.rsqrt, torch.reciprocal),
    *(torch.sigmoid, torch.tanh, torch.erf, torch.sinh, torch.atan, torch.sign, torch.floor),
    *(torch.round, torch.trunc, torch.isnan, torch.isinf, torch.nan_to_num, torch.square),
    *(functional.logsigmoid, functional.softplus, functional.gelu, functional.silu, functional.elu),
    *(functional.hardtanh, functional.relu6, functional.mish, functional.softsign),
)


@pytest.mark.filterwarnings("ignore::tilewright.front.torch_backend.EagerFallback")
def test_operators_give_what_eager_mode_gives_far_out() -> None:
    """At values where approximations end."""
    far = [-torch.inf, -1e30, -90, -20, -1, -0.0, 0, 1e-30, 1e-3, 1, 20, 90, 1e30, torch.inf]
    x = torch.cat([torch.tensor([*far, torch.nan]), torch.randn(5)])
    assert captured(lambda x: tuple(f(x) for f in SAMPLED), x)


class Disturbed:
    """A network whose outputs are off."""

    def __init__(self, network: Network) -> None:
        self.network = network

    def __call__(self, *arrays: Any) -> list[Any]:
        return [a + 1 for a in self.network(*arrays)]


def test_a_network_that_differs_where_no_operator_does_is_eager(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compile = torch_backend.compile
    made: list[Any] = []

    def disturbed(*args: Any, **options: Any) -> Any:
        made.append(compile(*args, **options))
        return Disturbed(made[0]) if len(made) == 1 else made[-1]

    monkeypatch.setattr(torch_backend, "compile", disturbed)
    with pytest.warns(EagerFallback, match=r"graph runs in eager .*by 1, .*: torch.sin, Tensor.t"):
        assert not captured(lambda x: torch.sin(x).t() * 2, torch.randn(3, 2))


def test_what_an_operator_before_it_does_is_not_its_own() -> None:
    graph, x = torch.fx.symbolic_trace(lambda x: torch.sin(x + 1).add_(1).round()), torch.randn(50)
    watch = watched(graph, [x])
    first = x + 1.7
    values = (first, first.sin(), first.sin() + 1, (first.sin() + 1).round())
    assert list(faulty(graph, watch, [x], values)) == ["add"]


def outputs() -> Iterator[tuple[Any, Any, bool, bool]]:
    one = torch.ones(4)
    yield one, one + 1e-4, False, True
    yield one, one + 1e-2, False, False
    yield one, one + 1e-2, True, True
    yield one.bfloat16(), one.bfloat16() + 0.0078125, False, True
    yield one.long(), one.long() + 1, True, False
    yield one.long() + 2**60, one.long() + 2**60 + 1, False, False
    yield one > 0, one > 1, True, False
    yield one, one.double(), True, False
    yield one / 0, one / 0, False, True
    yield one / 0, -one / 0, False, False
    yield one * torch.nan, one * torch.nan, False, True
    yield one * torch.nan, one, False, False
    yield torch.nan, torch.nan, False, True
    yield 3, 4, False, False
    yield one[:0], one[:0], False, True
    yield one, one[:2], False, False


@pytest.mark.parametrize(("ours", "theirs", "is_narrow", "agrees"), list(outputs()))
def test_what_is_allowed(ours: Any, theirs: Any, is_narrow: bool, agrees: bool) -> None:
    copied = ours.clone() if isinstance(ours, Tensor) else ours
    assert (not deviations([copied], [theirs], is_narrow)) == agrees
