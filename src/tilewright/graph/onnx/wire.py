"""Read a model piece by piece: large weights one after another, so that they are in memory once.

    with path.open("rb") as file:
        model, large = pieces(file)      its large initializers are read as they are asked for

What protobuf writes is fields: a tag (number and kind), then a value, or a length and so many
bytes. Here only two levels are told apart, the model's graph and that graph's initializers; all
else is for protobuf's own parser, and so is what is not well formed.
"""

from __future__ import annotations

from collections.abc import Iterator
from io import BufferedIOBase

import onnx

LARGE = 1 << 20
"""Bytes of a message from which it is read by itself."""
VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5  # kinds of values
WIDTHS = {FIXED64: 8, FIXED32: 4}
LONGEST_VARINT = 10  # bytes
GRAPH = onnx.ModelProto.DESCRIPTOR.fields_by_name["graph"].number
INITIALIZER = onnx.GraphProto.DESCRIPTOR.fields_by_name["initializer"].number


def pieces(file: BufferedIOBase) -> tuple[onnx.ModelProto, Iterator[onnx.TensorProto]]:
    """The model without its large initializers, and these, which are read from the file as they
    are asked for. Raises DecodeError for what is no message.
    """
    size = file.seek(0, 2)
    file.seek(0)
    small, places = bytearray(), list[tuple[int, int]]()
    try:
        while file.tell() < size:
            tag, kind, number = _tag(file)
            if (number, kind) != (GRAPH, BYTES):
                small += tag + _value(file, kind, size)
                continue
            length, _ = _varint(file)
            graph = _graph(file, file.tell() + _within(length, file, size), places)
            small += tag + _as_varint(len(graph)) + graph
    except ValueError:  # protobuf says what is wrong, or takes it after all
        file.seek(0)
        return onnx.load_model_from_string(file.read()), iter(())
    return onnx.load_model_from_string(bytes(small)), _tensors(file, places)


def _graph(file: BufferedIOBase, end: int, places: list[tuple[int, int]]) -> bytes:
    """The fields of a graph up to `end`, without its large initializers, whose `places` are noted:
    where they begin, and their lengths.
    """
    found = bytearray()
    while file.tell() < end:
        tag, kind, number = _tag(file)
        if (number, kind) != (INITIALIZER, BYTES):
            found += tag + _value(file, kind, end)
            continue
        length, written = _varint(file)
        if _within(length, file, end) < LARGE:
            found += tag + written + file.read(length)
        else:
            places.append((file.tell(), length))
            file.seek(length, 1)
    if file.tell() != end:
        raise ValueError("a field is longer than its graph")
    return bytes(found)


def _tensors(file: BufferedIOBase, places: list[tuple[int, int]]) -> Iterator[onnx.TensorProto]:
    for start, length in places:
        file.seek(start)
        yield onnx.TensorProto.FromString(file.read(length))


def _tag(file: BufferedIOBase) -> tuple[bytes, int, int]:
    """A tag as it is written, its kind and its number."""
    tag, written = _varint(file)
    return written, tag & 7, tag >> 3


def _value(file: BufferedIOBase, kind: int, end: int) -> bytes:
    """A value as it is written."""
    if kind == VARINT:
        return _varint(file)[1]
    if kind == BYTES:
        length, written = _varint(file)
        return written + file.read(_within(length, file, end))
    if kind not in WIDTHS:
        raise ValueError(f"there is no kind {kind} of values")
    return file.read(_within(WIDTHS[kind], file, end))


def _varint(file: BufferedIOBase) -> tuple[int, bytes]:
    """A number of seven bits a byte, the lowest first, and its bytes."""
    value, written = 0, b""
    while len(written) < LONGEST_VARINT:
        byte = file.read(1)
        if not byte:
            break
        value |= (byte[0] & 127) << (7 * len(written))
        written += byte
        if byte[0] < 128:
            return value, written
    raise ValueError("a number does not end")


def _as_varint(value: int) -> bytes:
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value])


def _within(length: int, file: BufferedIOBase, end: int) -> int:
    """A length, unless it goes beyond `end`."""
    if file.tell() + length > end:
        raise ValueError(f"{length} bytes go beyond the end")
    return length
