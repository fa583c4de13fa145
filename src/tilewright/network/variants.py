"""One network compiled for several input shapes.

    nets = NetworkSet([for_one_image, for_eight], "resnet50")
    (y,) = nets(x)                  runs the network whose inputs have the shapes of these
    nets.save("resnet50.so")        one library for all of them

The networks are compiled side by side, each for its shapes alone; packed constants that are equal
are stored once when the networks are made with one `ConstantPool`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tilewright.ground.lazy import Lazy
from tilewright.network.executor import Network
from tilewright.runtime.constants import ConstantPool
from tilewright.runtime.shapes import FunctionSet

if TYPE_CHECKING:
    from tilewright.build import library
    from tilewright.build.library import LibraryNetwork
else:
    library = Lazy("tilewright.build.library")


class NetworkSet(FunctionSet[Network]):
    """Networks with the same inputs in different shapes, called as one."""

    def __reduce__(self) -> tuple[Any, ...]:
        return NetworkSet._again, (self.networks, self.name)

    @staticmethod
    def _again(networks: Sequence[Network], name: str) -> NetworkSet:
        """Unpickled, with equal constants once again."""
        pool = ConstantPool()
        for network in networks:
            network.constants = network.constants.pooled(pool)
        return NetworkSet(networks, name)

    def save(
        self, path: str | Path, compiler: str | None = None, fallbacks: Sequence[NetworkSet] = ()
    ) -> Path:
        """Write one shared library for all shapes, and its C header; see `Network.save`.

        Raises BuildError also when the networks were not compiled together, or when their outputs
        differ in more than shapes.
        """
        others = [f.programs for f in fallbacks]
        return library.save(Path(path), self.name, self.programs, compiler, others)

    @property
    def programs(self) -> tuple[LibraryNetwork, ...]:
        """What a library is saved from."""
        return tuple(p for n in self.networks for p in n.programs)
