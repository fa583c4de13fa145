"""tw.load on PyTorch modules: the compiled network computes what the module does."""

from __future__ import annotations

import builtins
import importlib
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch_modules import Attention, ConvNet, Mlp

import tilewright as tw
from tilewright.front import kernels
from tilewright.graph.torch.decompositions import DECOMPOSITIONS

pytestmark = [pytest.mark.cpu, pytest.mark.torch]


def check(net: Any, module: nn.Module, *inputs: Tensor) -> None:
    """The network's outputs are the module's, to rounding."""
    with torch.no_grad():
        expected = module(*inputs)
    expected = expected if isinstance(expected, tuple) else (expected,)
    outputs = net(*inputs)
    assert len(outputs) == len(expected)
    for ours, theirs in zip(outputs, expected, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-3, atol=1e-5)


def test_a_module_is_exported_as_it_is_in_evaluation_mode() -> None:
    module = ConvNet()
    x = torch.randn(2, 3, 6, 6)
    net = tw.compile(tw.load(module, x))
    assert module.training and module.norm.training
    module.eval()
    check(net, module, x)


def test_arguments_by_name_and_several_outputs() -> None:
    module = Attention().eval()
    inputs = {"x": torch.randn(2, 5, 16), "mask": torch.rand(5, 5) > 0.3}
    model = tw.load(module, inputs)
    assert [v.name for v in model.partition.graph.inputs] == ["x", "mask"]
    check(tw.compile(model), module, *inputs.values())


def test_an_exported_program() -> None:
    module = Mlp().eval()
    x = torch.randn(3, 12)
    check(tw.compile(tw.load(torch.export.export(module, (x,)))), module, x)


def test_several_shapes_share_their_weights() -> None:
    module = Mlp().eval()
    models = tw.load(module, (torch.randn(2, 12),), shapes=[{"x": (n, 12)} for n in (1, 8)])
    assert [m.name for m in models.models] == ["Mlp[1x12]", "Mlp[8x12]"]
    nets = tw.compile(models)
    for n in (8, 1):
        check(nets, module, torch.randn(n, 12))
    with pytest.raises(tw.InputError, match=r"no network for x \[4, 12\]; there are: x \[1, 12\];"):
        nets(torch.randn(4, 12))


def test_tensors_in_give_tensors_out() -> None:
    module, x = Mlp().eval(), torch.randn(2, 12)
    net = tw.compile(tw.load(module, (x,)))
    (y,), (z,) = net(x), net(x=x)
    with torch.no_grad():
        torch.testing.assert_close(y, module(x), rtol=1e-3, atol=1e-5)
    assert torch.equal(y, z) and y.data_ptr() != z.data_ptr()
    (w,) = net.run({"x": x.numpy()})
    assert isinstance(w, np.ndarray)
    with pytest.raises(tw.InputError, match=r"NumPy cannot take this Tensor .*detach"):
        net(x.requires_grad_())


def test_bfloat16_tensors_are_read_in_place() -> None:
    class Doubled(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return (x.float() * 2).to(torch.bfloat16)

    x = torch.tensor([1.5, -2.0, 3.25], dtype=torch.bfloat16)
    (y,) = tw.compile(tw.load(Doubled(), (x,)))(x)
    assert y.dtype == torch.bfloat16
    assert torch.equal(y, x * 2)


def test_outputs_in_a_dictionary_keep_their_keys() -> None:
    class Named(nn.Module):
        def forward(self, x: Tensor) -> dict[str, Tensor | tuple[Tensor, Tensor]]:
            return {"x": x + 1, "parts": (x * 2, x * 3)}

    x = torch.randn(3)
    net = tw.compile(tw.load(Named(), (x,)))
    assert [s.name for s in net.outputs] == ["x", "parts.0", "parts.1"]
    for y, expected in zip(net(x), (x + 1, x * 2, x * 3), strict=True):
        torch.testing.assert_close(y, expected)


def test_outputs_that_differ_from_the_modules_are_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    class Sine(nn.Module):
        def forward(self, x: Tensor, ids: Tensor) -> dict[str, Tensor]:
            return {"y": torch.sin(x), "z": ids + 1}

    inputs = {"ids": torch.arange(3), "x": torch.ones(2, 3)}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        good = tw.load(Sine(), inputs, shapes=[{"x": (2, 3)}, {"x": (3, 3)}])
        tw.compile(good)
    monkeypatch.setitem(DECOMPOSITIONS, "aten.sin.default", torch.cos)
    bad = tw.load(Sine(), inputs)
    with pytest.warns(UserWarning, match=r"Sine: y differs from the module's by 0\.301, .* names"):
        tw.compile(bad)
    notes: list[str] = []
    tw.compile(bad, notes=notes.append)
    assert any("y differs" in note for note in notes)


def test_training_mode_is_told_of(caplog: pytest.LogCaptureFixture) -> None:
    tw.load(Mlp().train(), (torch.randn(2, 12),))
    assert "Mlp is in training mode" in caplog.text


def test_what_cannot_be_exported_is_named() -> None:
    class Sorted(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return torch.histc(torch.relu(x), 4)

    class Counting(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("calls", torch.zeros(()))

        def forward(self, x: Tensor) -> Tensor:
            self.calls += 1
            return x * self.calls

    x = torch.randn(8)
    with pytest.raises(tw.UnsupportedModel, match="histc"):
        tw.load(Sorted(), (x,))
    with pytest.raises(tw.UnsupportedModel, match="Counting changes calls in place"):
        tw.load(Counting(), (x,))
    with pytest.raises(tw.UnsupportedModel, match=r"Mlp: torch.export refuses it: .*12"):
        tw.load(Mlp(), (x,))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_quantised_module_is_told_what_to_give_instead() -> None:
    quantised = torch.ao.quantization.quantize_dynamic(Mlp().eval(), {nn.Linear})
    with pytest.raises(tw.UnsupportedModel, match=r"quantised parts \(Linear.*the float module"):
        tw.load(quantised, (torch.randn(2, 12),))


def test_inputs_that_do_not_fit_the_source() -> None:
    with pytest.raises(tw.InputError, match="needs example inputs"):
        tw.load(Mlp())
    with pytest.raises(tw.InputError, match="not int"):
        tw.load(Mlp(), 3)
    with pytest.raises(tw.InputError, match=r"belong to a torch\.nn\.Module, not to str"):
        tw.load("net.onnx", (torch.randn(2),))
    with pytest.raises(tw.InputError, match=r"'z'; the tensors of Mlp\.forward are: x"):
        tw.load(Mlp(), (torch.randn(2, 12),), shapes={"z": (1, 12)})
    given: Any = {"dynamic_shapes": {"x": {0: "n"}}}
    with pytest.raises(tw.InputError, match=r"with its range, shapes=\{'x'"):
        tw.load(Mlp(), (torch.randn(2, 12),), **given)


def test_a_missing_exporter_is_said_how_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without_onnxscript(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "onnxscript":
            raise ImportError("No module named 'onnxscript'", name="onnxscript")
        return real(name, *args, **kwargs)

    monkeypatch.delitem(sys.modules, "tilewright.graph.torch.importing", raising=False)
    monkeypatch.setattr(builtins, "__import__", without_onnxscript)
    with pytest.raises(tw.InputError, match=r"pip install 'tilewright\[torch\]'"):
        importlib.import_module("tilewright.graph.torch.importing")


@pytest.mark.parametrize("corners", [True, False])
@pytest.mark.parametrize(("mode", "rank"), [("linear", 1), ("bilinear", 2), ("bicubic", 2)])
def test_interpolation_by_a_factor_that_does_not_divide(
    mode: str, rank: int, corners: bool
) -> None:
    x = torch.randn(1, 2, *(5, 7)[:rank])
    for how in ({"scale_factor": 1.5}, {"size": (8, 9)[:rank]}, {"scale_factor": 0.7}):
        module = nn.Upsample(**how, mode=mode, align_corners=corners)
        check(tw.compile(tw.load(module, x)), module, x)


def test_what_follows_a_capture_is_a_load_where_all_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TILEWRIGHT_CACHE", str(tmp_path))
    built = []
    plain = kernels.build_networks

    def build(model: Any, *given: Any) -> Any:
        built.append(model.name)
        return plain(model, *given)

    monkeypatch.setattr(kernels, "build_networks", build)
    module, x = nn.Linear(8, 4), torch.ones(2, 8)
    for _ in range(2):
        check(tw.compile(tw.load(module, x)), module, x)
    assert built == ["Linear"]
    with torch.no_grad():
        module.bias += 1.0
    check(tw.compile(tw.load(module, x)), module, x)
    assert len(built) == 2
