"""A seed for every test with PyTorch, whose modules draw their weights from a global generator."""

from __future__ import annotations

import pytest
import torch


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(0)
