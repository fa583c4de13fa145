"""Dimensions that vary: one network for all of their extents, from torch.compile and tw.load."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.export import Dim
from torch.nn import functional
from torch_modules import ConvNet, Mlp, compiled, fallbacks, same

import tilewright as tw
from tilewright.front import torch_backend
from tilewright.front.torch_backend import EagerFallback, VaryingDimension
from tilewright.graph.torch import sizes

pytestmark = [pytest.mark.cpu, pytest.mark.torch]


@pytest.fixture
def said() -> Iterator[None]:
    """Within it, whatever was not said is an error: nothing is eager, no range is guessed."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", EagerFallback)
        warnings.simplefilter("error", VaryingDimension)
        yield


@pytest.fixture
def imports(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The models that the backend imports."""
    found: list[Any] = []

    def counted(*args: Any, **options: Any) -> Any:
        found.append(tw.load(*args, **options))
        return found[-1]

    monkeypatch.setattr(torch_backend, "load", counted)
    return found


class Encoder(nn.Module):
    """Tokens and positions, then transformer layers that are told which tokens are there."""

    def __init__(self, width: int = 16, positions: int = 48) -> None:
        super().__init__()
        self.tokens, self.positions = nn.Embedding(30, width), nn.Embedding(positions, width)
        self.register_buffer("ids", torch.arange(positions))
        self.norm, self.qkv = nn.LayerNorm(width), nn.Linear(width, 3 * width)
        self.inner, self.outer = nn.Linear(width, 24), nn.Linear(24, width)

    def forward(self, ids: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        b, n = ids.shape
        x = self.norm(self.tokens(ids) + self.positions(self.ids[:n]))
        q, k, v = (t.view(b, n, 2, -1).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        bias = (1 - mask[:, None, None].to(x.dtype)) * -1e4
        y = functional.scaled_dot_product_attention(q, k, v, attn_mask=bias)
        x = x + y.transpose(1, 2).reshape(b, n, -1)
        x = x + self.outer(functional.gelu(self.inner(x)))
        return x, x[:, 0]


def agree(net: Callable[..., Any], module: Callable[..., Any], *inputs: Any) -> None:
    """The network's outputs are the module's."""
    with torch.no_grad():
        same(net(*inputs), module(*inputs))


def bounded(tensor: Tensor, **dims: Any) -> Tensor:
    """The tensor with these dimensions varying, `d1=(2, 48)`."""
    for name, (least, most) in dims.items():
        torch._dynamo.mark_dynamic(tensor, int(name[1:]), min=least, max=most)
    return tensor


@pytest.mark.thorough
@pytest.mark.usefixtures("said")
def test_an_encoder_is_imported_once_for_twenty_lengths(imports: list[Any]) -> None:
    module, rng = Encoder().eval(), np.random.default_rng(0)
    net, models = compiled(module)
    for n in [2, 48, *rng.integers(2, 49, 18)]:
        ids = bounded(torch.randint(0, 30, (1, int(n))), d1=(2, 48))
        agree(net, module, ids, bounded((torch.rand(1, int(n)) > 0.2).long(), d1=(2, 48)))
    assert len(imports) == len(models) == 1
    assert [(s.least, s.most) for s in models[0].graph.sizes] == [(2, 48)]


@pytest.mark.usefixtures("said")
def test_a_batch_that_varies(imports: list[Any]) -> None:
    module = Mlp().eval()
    net, _ = compiled(module)
    for n in [*range(3, 20), 2, 40, 39]:
        agree(net, module, bounded(torch.randn(n, 12), d0=(2, 40)))
    assert len(imports) == 1
    with torch.no_grad(), pytest.raises(Exception, match="41 not in range"):
        net(bounded(torch.randn(41, 12), d0=(2, 40)))


@pytest.mark.usefixtures("said")
@pytest.mark.parametrize(
    "layout",
    [torch.contiguous_format, pytest.param(torch.channels_last, marks=pytest.mark.thorough)],
)
def test_an_image_whose_sides_vary(layout: torch.memory_format, imports: list[Any]) -> None:
    module = ConvNet().eval().to(memory_format=layout)
    net, _ = compiled(module)
    for h, w in ((6, 9), (4, 4), (12, 5), (12, 12), (7, 11)):
        x = torch.randn(2, 3, h, w).to(memory_format=layout)
        agree(net, module, bounded(x, d2=(4, 12), d3=(4, 12)))
    assert len(imports) == 1


def test_a_most_that_nobody_gave_doubles_a_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sizes, "MOST_GROWTHS", 2)
    net, models = compiled(torch.exp, dynamic=True)
    with pytest.warns(VaryingDimension) as record:
        for n in (2, 4, 3, 5, 10, 11, 22, 23, 5, 23, 2, 11):
            agree(net, torch.exp, torch.randn(n))
    ends = [[s.most for s in m.graph.sizes] for m in models]
    assert ends == [[4], [10], [22], []], "then a network for each shape"
    told = [str(w.message) for w in record if w.category is VaryingDimension]
    assert len(told) == 3
    assert "dimension 0 of args_0 is at most 4; greater ones compile anew" in told[0]


def test_what_takes_no_sizes_has_a_network_for_each_shape() -> None:
    def pooled(x: Tensor) -> Tensor:
        return functional.adaptive_avg_pool2d(x, (2, 3))

    net, models = compiled(pooled, dynamic=True, shapes=2)
    with pytest.warns(UserWarning) as record:
        for n in (8, 9, 8, 11, 12):
            agree(net, pooled, torch.randn(1, 2, 4, n))
    assert [m.graph.sizes for m in models] == [(), ()]
    (reason,) = [str(w.message) for w in record if w.category is VaryingDimension]
    assert "dimensions vary has a network for each combination of shapes" in reason
    assert fallbacks(record) == [
        "tilewright: a graph met more than 2 combinations of shapes; further ones run in eager "
        "PyTorch: raise it with options={'shapes': ...}"
    ]


def test_a_range_that_no_memory_holds_is_left_to_shapes() -> None:
    def products(x: Tensor) -> Tensor:
        return torch.exp(x @ x.t()).sum(1)

    net, models = compiled(products)
    with pytest.warns(VaryingDimension, match=r"each combination of shapes: .* of memory a call"):
        agree(net, products, bounded(torch.randn(5, 4) * 0.1, d0=(2, 1 << 21)))
    assert [m.graph.sizes for m in models] == [()]


@pytest.mark.usefixtures("said")
def test_views_and_numbers_are_those_of_each_call(imports: list[Any]) -> None:
    def views(x: Tensor) -> tuple[Any, ...]:
        y = torch.exp(x)
        return y, x[1:], y[:, 0], y.t(), x.shape[0] + 1, y[1:].reshape(-1)

    net, models = compiled(views)
    for n in (5, 3, 9, 7, 5):
        x = bounded(torch.randn(n, 4), d0=(3, 9))
        agree(net, views, x)
        with torch.no_grad():
            y, tail, column, *_ = net(x)
        assert (tail.data_ptr(), column.data_ptr()) == (x[1:].data_ptr(), y.data_ptr())
    assert len(imports) == len(models) == 1


def test_pieces_around_an_eager_operator_vary(imports: list[Any]) -> None:
    def cut(x: Tensor) -> Tensor:
        y = torch.special.bessel_j0(x * 2)
        return torch.exp(y) + torch.arange(x.shape[0])[:, None]

    net, models = compiled(cut)
    with pytest.warns(EagerFallback, match="bessel_j0 runs in eager") as record:
        for n in (5, 2, 9, 7):
            agree(net, cut, bounded(torch.randn(n, 4), d0=(2, 9)))
    assert [[s.most for s in m.graph.sizes] for m in models] == [[9], [9]]
    assert len(imports) == 2
    assert len(record) == 1, "what was cut away is no reason to take no sizes"


def test_a_module_with_ranges_is_one_network() -> None:
    module = Mlp().eval()
    model = tw.load(module, (torch.randn(1, 12),), shapes={"x": ((1, 30, {8: 1}), 12)})
    assert [(str(s), s.points) for s in model.graph.sizes] == [("x_0 in 1..30", ((8, 1.0),))]
    assert model.example is not None
    net = tw.compile(model)
    for n in (1, 8, 30):
        agree(lambda x: net(x)[0], module, torch.randn(n, 12))
    with pytest.raises(tw.InputError, match=r"x: dimension 0, x_0, is 31; it must be in 1\.\.30"):
        net(torch.randn(31, 12))
    with pytest.raises(tw.UnsupportedModel, match=r"specialized it to be a constant \(12\)"):
        tw.load(module, (torch.randn(2, 12),), shapes={"x": (2, (2, 30))})


def test_an_exported_program_says_its_ranges() -> None:
    n = Dim("n", min=1, max=24)
    program = torch.export.export(
        nn.Bilinear(3, 4, 5),
        (torch.randn(6, 3), torch.randn(6, 4)),
        dynamic_shapes=({0: n}, {0: n}),
    )
    model = tw.load(program)
    assert [str(s) for s in model.graph.sizes] == ["input1_0 in 1..24"]
    assert [v.dims for v in model.facts.inputs] == [("input1_0", "3"), ("input1_0", "4")]
    with pytest.raises(tw.InputError, match="has its inputs, and the ranges"):
        tw.load(program, shapes={"x": (1, 2)})
    unbounded = torch.export.export(
        nn.Linear(3, 2), (torch.randn(6, 3),), dynamic_shapes=({0: Dim.DYNAMIC},)
    )
    with pytest.warns(UserWarning, match=r"dimension input_0 varies in 1\.\.512"):
        tw.load(unbounded)
