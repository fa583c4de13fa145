"""Modules that are imported when something of them is first used.

llvm = lazy("llvmlite.binding")         who only runs a GPU's programs needs no LLVM
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any


class _Lazy(ModuleType):
    """Stands for a module until one of its names is asked for."""

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module(self.__name__), name)


def lazy(name: str) -> Any:
    """The module of that name. Raises ImportError when it is used and not installed."""
    return _Lazy(name)
