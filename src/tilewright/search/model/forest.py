"""Fast, exact prediction with the boosted trees of the cost model.

Input: a LightGBM model as text and float32 features `[m, f]`. Output: the same float64 predictions
`[m]` that LightGBM gives, bit for bit, several times sooner on one thread.

    forest = Forest.parse(booster.model_to_string())
    forest.predict(features)                      # == booster.predict(features)

Walking a tree is a chain of unpredictable branches and loads, one row at a time. Here nothing is
walked. Each distinct test `feature > threshold` of the whole forest (a few hundred, for trees share
bin borders) is made once per row and packed, one bit a row. Every tree is padded to a perfect tree,
and its path is found for all rows at once by multiplexing: the bit of level l picks, word by word,
which half of the next level's test bits counts. The bits of all levels are the leaf's index.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tilewright.ground.errors import InputError, RecordsError

MAX_DEPTH = 8
"""A padded tree has 2**depth leaves, and a leaf's index is one byte."""

_BLOCK = 2048  # rows at a time, and
_TREES = 32  # trees: their tables stay in a fast cache

_Ints = npt.NDArray[np.int64]
_Floats = npt.NDArray[np.float64]
_Bits = npt.NDArray[np.uint8]

_SPREAD = tuple(
    (np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1) << level).view(np.uint64)[:, 0]
    for level in range(MAX_DEPTH)
)
"""`_SPREAD[level][byte]`: eight bytes, one for each bit of `byte`, with that bit at `level`."""


@dataclass(frozen=True, slots=True, eq=False)
class Forest:
    """Trees in the form that `predict` reads; `T` trees padded to depth `D`, `S` distinct tests.

    columns:    the features that are tested, ascending.
    thresholds: for each of `columns`, float32 `[k, 1]`; a test is `feature > threshold`.
    tests:      int64 `[T, 2**D - 1]`, in heap order: the test of each inner node, `S` where padded.
    leaves:     float64 `[T * 2**D]`, the value of each leaf.
    width:      how many features a row has.
    """

    columns: _Ints
    thresholds: tuple[npt.NDArray[np.float32], ...]
    tests: _Ints
    leaves: _Floats
    depth: int
    width: int

    @staticmethod
    def parse(text: str) -> Forest:
        """Read LightGBM's text format; all splits numerical, no missing values.

        Raises RecordsError if the text is no such model or a tree is deeper than `MAX_DEPTH`.
        """
        try:
            body, _ = text.split("\nend of trees\n")
            head, *trees = body.split("\nTree=")
            width = int(_fields(head)["max_feature_idx"]) + 1
            table = _NodeTable.read([_fields(tree) for tree in trees])
        except (KeyError, ValueError) as error:
            raise RecordsError(
                f"a stored cost model cannot be read ({type(error).__name__}: {error}); "
                "it is not the text of a LightGBM model: delete it, and it will be trained anew"
            ) from error
        return table.forest(width)

    def predict(self, features: npt.NDArray[np.float32]) -> _Floats:
        """The sum of all trees for each row of `features`, float32 `[m, width]` and finite.

        LightGBM takes a feature nearer to 0 than 1e-35 for 0; here it is what it is.
        Raises InputError on another dtype or shape.
        """
        if features.dtype != np.float32 or features.ndim != 2 or features.shape[1] != self.width:
            raise InputError(
                f"the cost model takes float32 features [m, {self.width}], "
                f"not {features.dtype} {list(features.shape)}"
            )
        out = np.zeros(len(features))
        if len(self.tests):
            for start in range(0, len(features), _BLOCK):
                block = slice(start, start + _BLOCK)
                out[block] = self._predict_block(features[block])
        return out

    def _predict_block(self, features: npt.NDArray[np.float32]) -> _Floats:
        bits = self._test_bits(features)
        # Tree by tree, LightGBM's order, so that not even the last bit differs; NumPy would sum a
        # single column in another order, but there are always the eight of a byte.
        values = np.zeros((_TREES + 1, 8 * bits.shape[1]))
        for start in range(0, len(self.tests), _TREES):
            index = self._leaf_indices(bits, self.tests[start : start + _TREES])
            first = np.arange(start, start + len(index))[:, None] << self.depth
            at, stop = np.add(index, first, dtype=np.intp), 1 + len(index)
            self.leaves.take(at, mode="clip", out=values[1:stop])
            values[0] = values[:stop].sum(axis=0)
        return values[0, : len(features)]

    def _test_bits(self, features: npt.NDArray[np.float32]) -> _Bits:
        """Outcome of each distinct test, `[S + 1, ceil(rows / 8)]`; the last one is false."""
        rows = features.T[self.columns]
        count = 1 + sum(len(borders) for borders in self.thresholds)
        bits = np.zeros((count, (len(features) + 7) // 8), np.uint8)
        start = 0
        for row, borders in zip(rows, self.thresholds, strict=True):
            stop = start + len(borders)
            bits[start:stop] = np.packbits(row > borders, axis=1)
            start = stop
        return bits

    def _leaf_indices(self, bits: _Bits, tests: _Ints) -> _Bits:
        """The leaf that each row reaches in each tree, uint8 `[trees, rows padded to eights]`."""
        index = np.zeros((len(tests), bits.shape[1]), np.uint64)
        path: list[_Bits] = []
        for level in range(self.depth):
            live = bits[tests[:, 2**level - 1 : 2 ** (level + 1) - 1]]
            for taken in path:
                half = live.shape[1] // 2
                left, right = live[:, :half], live[:, half:]
                right ^= left
                right &= taken[:, None]
                left ^= right
                live = left
            path.append(live[:, 0])
            index |= _SPREAD[self.depth - 1 - level][path[-1]]
        return index.view(np.uint8)


@dataclass(frozen=True, slots=True, eq=False)
class _NodeTable:
    """All trees' nodes in one table; a child or root `c >= 0` is a node, else the leaf `~c`."""

    roots: _Ints
    features: _Ints
    thresholds: _Floats
    left: _Ints
    right: _Ints
    values: _Floats

    @staticmethod
    def read(trees: list[dict[str, str]]) -> _NodeTable:
        """From the `key=value` lines of each tree."""
        nodes = leaves = 0
        roots: list[int] = []
        columns: dict[str, list[npt.NDArray[Any]]] = {key: [] for key in _TREE_KEYS}
        for number, tree in enumerate(trees):
            if tree.get("is_linear", "0") != "0" or tree["num_cat"] != "0":
                raise ValueError(f"tree {number} has linear leaves or categorical splits")
            values = _numbers(tree["leaf_value"], np.float64)
            inner = len(values) - 1
            roots.append(nodes if inner else ~leaves)
            columns["leaf_value"].append(values)
            if inner:
                _append_nodes(columns, tree, number, nodes, leaves)
            nodes, leaves = nodes + inner, leaves + len(values)
        joined = {key: np.concatenate([*parts, []]) for key, parts in columns.items()}
        ints = {key: joined[key].astype(np.int64) for key in _TREE_KEYS[:3]}
        return _NodeTable(
            np.array(roots, np.int64),
            ints["split_feature"],
            joined["threshold"],
            ints["left_child"],
            ints["right_child"],
            joined["leaf_value"],
        )

    def forest(self, width: int) -> Forest:
        """Pad every tree to the depth of the deepest: a leaf above it is both its children."""
        levels: list[_Ints] = []
        live = self.roots[:, None]
        while (live >= 0).any():
            if len(levels) == MAX_DEPTH:
                raise RecordsError(f"a cost model has trees deeper than {MAX_DEPTH} levels")
            levels.append(live)
            node = np.maximum(live, 0)
            children = np.stack([self.left[node], self.right[node]], axis=-1)
            children = np.where(live[..., None] >= 0, children, live[..., None])
            live = children.reshape(len(live), -1)
        columns, thresholds, test = self._distinct_tests()
        heap = np.concatenate([*levels, np.empty((len(live), 0), np.int64)], axis=1)
        padding = 1 + int(test.max(initial=-1))
        tests = np.where(heap >= 0, np.append(test, padding)[np.maximum(heap, 0)], padding)
        return Forest(
            columns, thresholds, tests, self.values[~live].reshape(-1), len(levels), width
        )

    def _distinct_tests(self) -> tuple[_Ints, tuple[npt.NDArray[np.float32], ...], _Ints]:
        """-> tested features, their sorted thresholds, and the number of each node's test."""
        borders = _round_down(self.thresholds)
        order = np.lexsort((borders, self.features))
        features, borders = self.features[order], borders[order]
        new = np.ones(len(order), np.bool_)
        new[1:] = (np.diff(features) != 0) | (np.diff(borders) != 0)
        test = np.empty(len(order), np.int64)
        test[order] = np.cumsum(new) - 1
        columns, starts = np.unique(features[new], return_index=True)
        thresholds = tuple(part[:, None] for part in np.split(borders[new], starts[1:]))
        return columns, thresholds[: len(columns)], test


_TREE_KEYS = ("split_feature", "left_child", "right_child", "threshold", "leaf_value")

_MISSING_OR_CATEGORICAL = ~2  # every bit of a decision type but "default left", which never counts


def _append_nodes(
    columns: Mapping[str, list[npt.NDArray[Any]]],
    tree: Mapping[str, str],
    number: int,
    nodes: int,
    leaves: int,
) -> None:
    """Append one tree's inner nodes, its node and leaf numbers shifted to the table's."""
    if (_numbers(tree["decision_type"], np.int64) & _MISSING_OR_CATEGORICAL).any():
        raise ValueError(f"tree {number} treats missing values or categories")
    columns["split_feature"].append(_numbers(tree["split_feature"], np.int64))
    columns["threshold"].append(_numbers(tree["threshold"], np.float64))
    for key in ("left_child", "right_child"):
        child = _numbers(tree[key], np.int64)
        columns[key].append(np.where(child >= 0, child + nodes, child - leaves))


def _fields(section: str) -> dict[str, str]:
    """The `key=value` lines of one section of a model's text."""
    pairs = (line.split("=", 1) for line in section.splitlines())
    return {pair[0]: pair[1] for pair in pairs if len(pair) == 2}


def _numbers(text: str, dtype: type[Any]) -> npt.NDArray[Any]:
    return np.array(text.split(), dtype)


def _round_down(values: _Floats) -> npt.NDArray[np.float32]:
    """The largest float32 at most each value: float32 `x > value` holds just when `x > result`."""
    rounded = values.astype(np.float32)
    below = np.nextafter(rounded, np.float32(-np.inf))
    return np.where(rounded.astype(np.float64) > values, below, rounded)
