"""Every test with PyTorch starts from the same seed, with nothing captured."""

from __future__ import annotations

import pytest
import torch


@pytest.fixture(autouse=True)
def fresh() -> None:
    torch.manual_seed(0)  # modules draw their weights from the global generator
    torch.compiler.reset()
