"""A CRNN (Shi et al. 2015, arXiv 1507.05717): text recognition by convolutions and an LSTM.

image float32[n, 1, 32, 128] -> scores float32[32, n, 97] of every step's character

Seven convolutions make 32 steps of 512 features, which a bidirectional LSTM of 512 reads.
"""

from __future__ import annotations

from torch import Tensor, nn

# (channels, window of the pooling behind it); the last convolution takes both rows that are left
STAGES: tuple[tuple[int, tuple[int, int] | None], ...] = (
    (64, (2, 2)), (128, (2, 2)), (256, None), (256, (2, 1)), (512, None), (512, (2, 1)),
)  # fmt: skip
HIDDEN = 512
CHARACTERS = 97


def convolutions() -> nn.Sequential:
    """float32[n, 1, 32, 128] -> float32[n, 512, 1, 32]."""
    layers: list[nn.Module] = []
    inputs = 1
    for channels, window in STAGES:
        layers += [nn.Conv2d(inputs, channels, 3, padding=1), nn.BatchNorm2d(channels), nn.ReLU()]
        if window is not None:
            layers.append(nn.MaxPool2d(window))
        inputs = channels
    last = nn.Conv2d(inputs, inputs, (2, 1))
    return nn.Sequential(*layers, last, nn.ReLU())


class Crnn(nn.Module):
    """Features of every column, read in both directions."""

    def __init__(self) -> None:
        super().__init__()
        self.features = convolutions()
        self.steps = nn.LSTM(STAGES[-1][0], HIDDEN, bidirectional=True)
        self.scores = nn.Linear(2 * HIDDEN, CHARACTERS)

    def forward(self, image: Tensor) -> Tensor:
        columns = self.features(image).squeeze(2).permute(2, 0, 1)
        read, _ = self.steps(columns)
        y: Tensor = self.scores(read)
        return y


def make() -> nn.Module:
    """The network."""
    return Crnn()
