"""The suite of devices on CudaDevice; started by test_devices.py as cuda_program.py is.

python cuda_device_suite.py FOLDER        -> FOLDER/results.json
"""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import count

import pytest
from cuda_program import FOLDER, binary

from tilewright.build.compile import compile_lowered
from tilewright.contract.artifact import Artifact
from tilewright.runtime.devices import target_at_hand
from tilewright.schedule.lower import Lowered
from tilewright.target import Target
from tilewright.testing import DeviceSuite

NUMBERS = count()


class TestCuda(DeviceSuite):
    def make(self) -> Target:
        return target_at_hand("cuda")

    def build(self, lowered: Lowered) -> Artifact:
        """A library of emulated kernels, each of a name of its own: one is loaded once."""
        made, _ = compile_lowered(lowered, Target.parse("emulated"))
        made = binary(replace(made, entry=f"program_{next(NUMBERS)}"))
        return replace(made, target=str(self.make()))


if __name__ == "__main__":
    failed = pytest.main([__file__, "-q", "-p", "no:cacheprovider"])
    (FOLDER / "results.json").write_text(json.dumps({"failed": int(failed)}))
