"""Language models with weights of 4 bits, as onnxruntime's model builder writes them."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnxruntime
import pytest
from benchmarks.models.llama import Llama

import tilewright as tw
from tilewright.ground.errors import InputError, RunError

pytestmark = pytest.mark.cpu

Array = np.ndarray[Any, Any]
MOST, LONGEST = 20, 4
SMALL = Llama("small", 2, 4, 64, 50, MOST + LONGEST, kv_heads=2, inner=96)
SHAPES: dict[str, Any] = {"batch": 1, "seq": (1, LONGEST), "past": (0, MOST)}
ROUNDED = 2e-2
"""Of the largest logit: what lies between two bytes may be rounded to either."""


@pytest.fixture(scope="module")
def session() -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(
        SMALL.model().SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def close(found: Array, wanted: Array) -> None:
    assert found.shape == wanted.shape
    assert np.abs(found - wanted).max() <= ROUNDED * np.abs(wanted).max()


def test_a_stream_decodes_as_onnxruntime(session: onnxruntime.InferenceSession) -> None:
    net = tw.compile(tw.load(SMALL.model(), shapes=SHAPES, state="cache"))
    stream, rng = net.stream(), np.random.default_rng(0)
    names = [o.name for o in session.get_outputs()]
    cache = {n: a for n, a in SMALL.inputs(1, 0).items() if n in SMALL.states}
    while stream.length <= MOST:
        tokens = int(rng.integers(1, LONGEST + 1))
        given = {
            "ids": rng.integers(0, SMALL.vocabulary, (1, tokens)),
            "attention_mask": np.ones((1, stream.length + tokens), np.int64),
        }
        wanted = dict(zip(names, session.run(None, {**given, **cache}), strict=True))
        close(stream.run(given)[0], wanted["logits"])
        cache = {n: wanted[r] for n, r in SMALL.states.items()}


def test_a_cache_is_given_and_returned(session: onnxruntime.InferenceSession) -> None:
    shapes = {**SHAPES, "batch": (1, 2)}
    net = tw.compile(tw.load(SMALL.model(), shapes=shapes))
    for seq, past in ((1, 0), (4, 0), (1, 7), (3, MOST)):
        given = SMALL.inputs(seq, past)
        for ours, theirs in zip(net.run(given), session.run(None, given), strict=True):
            close(ours, theirs)
    given = SMALL.inputs(1, 7)
    with pytest.raises(
        InputError, match=r"attention_mask: dimension 1 is 9, where past \+ seq is 8"
    ):
        net.run({**given, "attention_mask": np.ones((1, 9), np.int64)})
    given["attention_mask"][0, 0] = 0  # as if a row less were there
    with pytest.raises(RunError, match="seqlens_k is not the position of the last new element"):
        net.run(given)
