"""torch.compile(backend="tilewright") computes what eager PyTorch does, and says what it leaves."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch_modules import Attention, ConvNet, Mlp, compiled, fallbacks, same
from torch_modules import captured as check

import tilewright as tw
from tilewright.front import torch_backend
from tilewright.front.torch_backend import EagerFallback
from tilewright.runtime.tensors import array_of, tensor_of

pytestmark = [pytest.mark.cpu, pytest.mark.torch]


@pytest.fixture
def complete() -> Any:
    """Within it, whatever is left to eager is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", EagerFallback)
        yield


@pytest.mark.usefixtures("complete")
def test_a_convolutional_network_whose_weights_lie_channels_last() -> None:
    module = ConvNet().to(memory_format=torch.channels_last).eval()
    assert len(check(module, torch.randn(2, 3, 6, 6))) == 1


@pytest.mark.usefixtures("complete")
def test_an_attention_block_whose_tasks_load_tunes() -> None:
    module, x = Attention().eval(), torch.randn(2, 5, 16)
    (captured,) = check(module, x)
    mine, theirs = ({t.key for t in m.partition.tasks} for m in (captured, tw.load(module, (x,))))
    # The captured graph gives its second output as a view, without a kernel.
    assert mine < theirs
    assert len(theirs) == len(mine) + 1


@pytest.mark.usefixtures("complete")
def test_layouts_are_those_of_eager() -> None:
    conv = nn.Conv2d(3, 4, 3).eval()
    x = torch.randn(2, 3, 6, 7)
    (model,) = check(conv, x.to(memory_format=torch.channels_last))
    assert [n.op for n in model.partition.graph.nodes] == ["conv", "add"], "nothing is transposed"
    torch.compiler.reset()
    check(lambda a, b: (a.t() * 2, b + 1), torch.randn(3, 4), torch.randn(6, 8)[::2, ::2])


def test_an_unsupported_operator_stays_between_two_networks() -> None:
    class Middle(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = Mlp(), Mlp(4)

        def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
            y = self.first(x)
            return self.second(torch.special.bessel_j0(y)), torch.special.bessel_j0(y + 1)

    with pytest.warns(EagerFallback) as record:
        models = check(Middle().eval(), torch.randn(3, 12))
    (message,) = fallbacks(record)
    assert "torch._C._special.special_bessel_j0 runs in eager PyTorch" in message
    assert len(models) == 2, "one before the first call, one between it and the second"


def test_writes_in_place_are_seen_outside() -> None:
    class Writing(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(8, 8)
            self.register_buffer("calls", torch.zeros(()))

        def forward(self, x: Tensor) -> tuple[Tensor, ...]:
            y = self.layer(x)
            y.add_(1).relu_()
            x.mul_(2)
            self.calls += 1
            return y * self.calls, x, x[0], y, y[1:]

    module = Writing().eval()
    with pytest.warns(EagerFallback) as record:
        models = check(module, torch.randn(4, 8))
    assert module.calls == 2
    assert models
    assert fallbacks(record) == [
        f"tilewright: {name} runs in eager PyTorch (changes an input in place)"
        for name in ("Tensor.mul_", "operator.iadd")
    ]


@pytest.mark.usefixtures("complete")
def test_outputs_share_the_memory_that_they_share_in_eager() -> None:
    def views(x: Tensor, n: int) -> tuple[Any, ...]:
        y = x * 2
        return x, x[1:], y[:, 0], y, y, None, n, y.t()

    net, models = compiled(views)
    x = torch.randn(4, 6)
    same(net(x, 3), views(x, 3))
    same_x, tail, column, y, again, nothing, n, turned = net(x, 3)
    assert same_x is x
    assert (nothing, n) == (None, 3)
    assert tail.data_ptr() == x[1:].data_ptr()
    assert again is y
    assert (column.data_ptr(), turned.data_ptr()) == (y.data_ptr(), y.data_ptr())
    assert len(models) == 1


def test_parts_of_a_tensor_that_is_not_returned_are_eager() -> None:
    with pytest.warns(EagerFallback, match="returns parts of one tensor"):
        assert not check(lambda x: torch.relu(x).chunk(2), torch.randn(4, 6))


def test_training_modes_are_left_to_eager() -> None:
    with pytest.warns(EagerFallback, match=r"dropout runs in eager PyTorch \(Dropout: training"):
        net, models = compiled(nn.Dropout(0.5))
        with torch.no_grad():
            first, second = (net(torch.ones(30, 12)) for _ in range(2))
    assert not torch.equal(first, second)
    assert not models


def test_gradients_are_left_to_eager() -> None:
    module = Mlp().eval()
    net, models = compiled(module)
    x = torch.randn(3, 12)
    with pytest.warns(EagerFallback) as record:
        for _ in range(2):
            net(x).sum().backward()
    assert module.first.weight.grad.abs().sum() > 0
    assert not models
    assert len(fallbacks(record)) == 1
    assert "for inference; call them under torch.no_grad()" in fallbacks(record)[0]
    with torch.inference_mode():
        same(net(x), module(x))
    assert len(models) == 1


@pytest.mark.usefixtures("complete")
def test_parameters_that_change_are_packed_anew() -> None:
    module, x = Mlp().eval(), torch.randn(3, 12)
    net, models = compiled(module)
    with torch.no_grad():
        same(net(x), module(x))
        module.load_state_dict(Mlp().state_dict())
        for _ in range(2):
            same(net(x), module(x))
        module.second.weight = nn.Parameter(torch.ones(4, 16))
        same(net(x), module(x))
        module.second.weight.data = torch.zeros(4, 16)
        same(net(x), module(x))
    assert len(models) == 4


@pytest.mark.usefixtures("complete")
def test_a_parameter_that_changes_at_every_call_becomes_an_input(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(torch_backend, "STRIKES", 2)
    module, x = nn.Linear(6, 5).eval(), torch.randn(3, 6)
    net, models = compiled(module)
    with torch.no_grad():
        for _ in range(5):
            module.weight.add_(1)
            same(net(x), module(x))
    assert [len(m.partition.graph.inputs) for m in models] == [1, 1, 2]


def test_every_number_gets_a_network_up_to_a_number() -> None:
    net, models = compiled(lambda x, n: torch.exp(x) * n, dynamic=True, shapes=2)
    with torch.no_grad(), pytest.warns(EagerFallback, match="more than 2 combinations of shapes"):
        for n in (20, 30, 40, 50, 30, 40, 50):
            same(net(torch.ones(12), n), torch.exp(torch.ones(12)) * n)
    assert len(models) == 2


@pytest.mark.usefixtures("complete")
def test_numbers_that_vary() -> None:
    net, models = compiled(lambda x, n: (x * n, x.shape[0] + n), dynamic=True)
    for n in (2, 3, 2, 3):
        same(net(torch.ones(n, 4), n + 1), (torch.ones(n, 4) * (n + 1), 2 * n + 1))
    assert len(models) == 2


@pytest.mark.usefixtures("complete")
def test_memory_is_passed_without_copies() -> None:
    for dtype in (torch.float32, torch.bfloat16, torch.int64, torch.bool):
        tensor = torch.ones(3, 4, dtype=dtype)
        array = array_of(tensor)
        assert array.ctypes.data == tensor.data_ptr()
        assert tensor_of(array).data_ptr() == tensor.data_ptr()
        assert torch.equal(tensor_of(array), tensor)
        assert str(array.dtype) == str(dtype).removeprefix("torch.")
    net, _ = compiled(lambda x: (x.float() * 2).to(torch.bfloat16))
    x = torch.tensor([1.5, -2.0], dtype=torch.bfloat16)
    assert torch.equal(net(x), x * 2)
    assert isinstance(array_of(x), np.ndarray)


def test_options_that_do_not_exist(tmp_path: Path) -> None:
    x = torch.ones(2)
    for options, message in (
        (
            {"speed": 11},
            r"unknown options \['speed'\]; known: db, shapes, models; .* this machine's CPU",
        ),
        ({"shapes": 0}, "the option shapes is a positive number, not 0"),
    ):
        with pytest.raises(Exception, match=message):
            torch.compile(torch.relu, backend="tilewright", options=options)(x)
    with pytest.raises(Exception, match="has no mode 'max-autotune'"):
        torch.compile(torch.relu, backend="tilewright", mode="max-autotune")(x)
    missing = tmp_path / "no.db"
    with pytest.raises(Exception, match=r"RecordsError: .*no\.db"):
        torch.compile(torch.relu, backend="tilewright", options={"db": missing})(x)


def test_the_environment_names_the_records(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TILEWRIGHT_DB", str(tmp_path / "other.db"))
    with pytest.raises(Exception, match=r"RecordsError: .*other\.db"):
        torch.compile(torch.relu, backend="tilewright")(torch.ones(2))


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(4, 3, batch_first=True, bidirectional=True)
        self.gru, self.rnn = nn.GRU(6, 3), nn.RNN(3, 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.rnn(self.gru(self.lstm(x)[0])[0])[0]


class Autocast(nn.Module):
    """Contexts of its own, one in another, and an operator between that is eager."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm = nn.Conv1d(3, 3, 1), nn.LayerNorm(4)

    def forward(self, x: Tensor) -> Tensor:
        with torch.autocast("cpu", torch.bfloat16):
            y = self.norm(self.conv(x))
            with torch.autocast("cpu", enabled=False):
                y = torch.special.bessel_j0(self.conv(y.float()))
            y = self.conv(y)
        return self.conv(x) + y


def encoder(norm_first: bool) -> nn.Module:
    layer = nn.TransformerEncoderLayer(8, 2, 8, batch_first=True, norm_first=norm_first)
    return nn.TransformerEncoder(layer, 1, enable_nested_tensor=False).eval()


@pytest.mark.usefixtures("complete")
@pytest.mark.parametrize(
    ("module", "shape", "dynamic"),
    [
        (ConvNet().eval(), (2, 3, 6, 6), True),
        (encoder(norm_first=False), (2, 3, 8), None),
        (encoder(norm_first=True), (2, 3, 8), True),
        (nn.MultiheadAttention(8, 2).eval(), (2, 3, 8), None),
        (Recurrent().eval(), (2, 3, 4), None),
    ],
)
def test_common_modules_are_captured_whole(
    module: nn.Module, shape: tuple[int, ...], dynamic: bool | None
) -> None:
    x = torch.randn(shape)
    inputs = (x, x, x) if isinstance(module, nn.MultiheadAttention) else (x,)
    assert len(check(module, *inputs, dynamic=dynamic)) == 1


def test_recurrent_modules_are_another_backends_as_they_were() -> None:
    graphs = []

    def backend(graph: Any, inputs: Any) -> Any:
        graphs.append(graph)
        return graph

    with torch.no_grad():
        torch.compile(nn.RNN(4, 3), backend=backend)(torch.randn(2, 4))
    assert not graphs


@pytest.mark.usefixtures("complete")
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_narrow_convolutions(dtype: torch.dtype) -> None:
    pooled = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.MaxPool2d(2)).eval().to(dtype)
    x = torch.randn(1, 3, 6, 6, dtype=dtype)
    net, models = compiled(pooled)
    (loaded,) = tw.compile(tw.load(pooled, (x,)))(x)
    with torch.no_grad():
        for found in (net(x), loaded):
            torch.testing.assert_close(found, pooled(x), rtol=2e-2, atol=2e-2)
    assert len(models) == 1


@pytest.mark.usefixtures("complete")
@pytest.mark.parametrize("module", [ConvNet().eval(), encoder(norm_first=False)])
def test_autocast_around_a_module(module: nn.Module) -> None:
    x = torch.randn((2, 3, 6, 6) if isinstance(module, ConvNet) else (2, 3, 8))
    net, models = compiled(module)
    with torch.no_grad():
        same(net(x), module(x))
        with torch.autocast("cpu", torch.bfloat16):
            torch.testing.assert_close(net(x), module(x), rtol=2e-2, atol=2e-2)
        same(net(x), module(x))
    assert len(models) == 2


def test_autocast_within_a_module() -> None:
    module, x = Autocast().eval(), torch.randn(2, 3, 4)
    net, models = compiled(module)
    with torch.no_grad(), pytest.warns(EagerFallback) as record:
        for _ in range(2):
            torch.testing.assert_close(net(x), module(x), rtol=2e-2, atol=2e-2)
    (message,) = fallbacks(record)
    assert "special_bessel_j0 runs in eager" in message
    assert len(models) == 4


@pytest.mark.usefixtures("complete")
def test_floats_that_vary() -> None:
    net, models = compiled(lambda x, s: (x * s + 1, s), dynamic=True)
    x = torch.ones(2, 4)
    for s in (0.3, 0.7, 0.3):
        y, again = net(x, s)
        same([y, again], [x * s + 1, s])
    assert len(models) == 2
