"""Decoders with a cache as cases of benchmarks.shapes: small ones, on its sides."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from benchmarks.models import shaped
from benchmarks.models.decoders import Decoder
from benchmarks.models.shaped import CachedNetwork, ShapedCase
from benchmarks.peers import network_subject
from benchmarks.peers.network_subject import ShapedSubject
from benchmarks.peers.sides import SIDES

from tilewright.target import Target

SMALL = {frames: Decoder("small", 1, 2, 16, 50, 12, frames) for frames in (0, 7)}


@pytest.mark.parametrize("frames", SMALL)
def test_inputs_are_in_the_order_of_the_file(frames: int) -> None:
    decoder = SMALL[frames]
    model = decoder.model()
    given = decoder.inputs(1, 5)
    assert list(given) == [i.name for i in model.graph.input]
    assert {o.name for o in model.graph.output} == {"logits", *decoder.states.values()}
    assert all(s in given for s in (*decoder.states, *decoder.crossed))


@pytest.mark.cpu
@pytest.mark.thorough
@pytest.mark.parametrize("frames", SMALL)
def test_sides_of_a_decoder_agree(
    frames: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = ShapedCase(CachedNetwork(SMALL[frames]), {"past": 5})
    assert case.name == "small:5" and case.name not in shaped.SHAPED
    monkeypatch.setitem(network_subject.SHAPED, case.name, case)
    target = Target.parse("cpu")
    stream, static = (
        ShapedSubject(case.name, tmp_path, s).tilewright(target, None) for s in (0, 1)
    )
    bound = SIDES["onnxruntime"](ShapedSubject(case.name, tmp_path, False), target, None)
    assert bound.mode == "bound"
    for side in (stream, static):
        for _ in range(2):  # a stream is where it was
            np.testing.assert_allclose(side.output(), bound.output(), rtol=2e-4, atol=2e-4)
