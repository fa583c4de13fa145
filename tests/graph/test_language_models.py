"""Language models with weights of 4 bits, as onnxruntime's model builder writes them."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnxruntime
import pytest
from benchmarks.models.llama import Llama
from graph_reference import run_graph, run_onnx
from test_onnxruntime_operators import Case, agrees, caches, floats, ints

import tilewright as tw
from tilewright.graph.onnx.importing import load
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


def grouped(batch: int, rows: int, turned: bool, window: int) -> Case:
    """So many new rows behind five."""
    q, k, v = (floats(2, 6, width, seed=n)[:batch, :rows] for n, width in enumerate((64, 32, 32)))
    past = [floats(2, 2, 5, 16, seed=seed)[:batch] for seed in (4, 5)]
    tables = [*caches(8).values()] if turned else []
    given = [q, k, v, *past, ints(*[rows + 4] * batch), ints(rows + 5), *tables]
    options = {"num_heads": 4, "kv_num_heads": 2, "do_rotary": turned, "local_window_size": window}
    return Case("GroupQueryAttention", given, options, [6, 7, 8][: 1 + len(tables)], [0, 1, 2])


@pytest.mark.parametrize("window", [-1, 4])
@pytest.mark.parametrize("turned", [True, False], ids=["turned", "plain"])
@pytest.mark.parametrize(("batch", "rows"), [(2, 1), (1, 3)])
def test_attention_to_rows_of_earlier_calls(
    batch: int, rows: int, turned: bool, window: int
) -> None:
    model, given = grouped(batch, rows, turned, window).model()
    graph = load(model, {name: array.shape for name, array in given.items()})
    agrees(run_graph(graph, given), run_onnx(model, given))
    given["i5"] = given["i5"] - 1  # seqlens_k, as if a row less were there
    with pytest.raises(RunError, match="seqlens_k is not the position of the last new element"):
        run_graph(graph, given)


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
