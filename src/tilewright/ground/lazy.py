"""Modules that are imported when something of them is first used.

from tilewright.lazy import llvm         who only runs a GPU's programs needs no LLVM

if TYPE_CHECKING:                        what a loaded network needs nothing of
    from tilewright.graph import onnx_import
else:
    onnx_import = Lazy("tilewright.graph.onnx.importing")
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import TYPE_CHECKING, Any


class Lazy(ModuleType):
    """Stands for a module until one of its names is asked for, which raises ImportError where it is
    not installed.
    """

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module(self.__name__), name)


if TYPE_CHECKING:
    from llvmlite import binding as llvm
else:
    llvm = Lazy("llvmlite.binding")

__all__ = ["Lazy", "llvm"]
