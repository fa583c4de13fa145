"""The program of one builder process: requests in, artifacts out.

    python -m tilewright.measure.builder tilewright.build:build_request

The argument names a callable by module and attribute; it takes a request's bytes and returns an
artifact's. Whatever it raises becomes an error frame with class and message.
"""

from __future__ import annotations

import argparse
import importlib
import resource
import time
from collections.abc import Callable

from tilewright.ground.errors import BuildError
from tilewright.ground.process_limits import lower_limit
from tilewright.measure.protocol import Header, Payloads
from tilewright.measure.server import Answer, serve

Build = Callable[[bytes], bytes]


def find_build(path: str) -> Build:
    """The callable named by "module:attribute". Raises BuildError when there is none."""
    module, _, attribute = path.partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise BuildError(f"no build function {path!r}: {error}") from error
    build: Build = found
    return build


def main() -> None:
    """Serve `build` requests until the client closes the pipe."""
    parser = argparse.ArgumentParser(prog="tilewright-builder", description=__doc__)
    parser.add_argument("build", help="the build callable, as module:attribute")
    parser.add_argument("--memory-bytes", type=int, default=0, help="limit of address space")
    arguments = parser.parse_args()
    if arguments.memory_bytes:
        lower_limit(resource.RLIMIT_AS, arguments.memory_bytes)
    loaded: list[Build] = []

    def build(_: Header, payloads: Payloads) -> Answer:
        if not loaded:
            loaded.append(find_build(arguments.build))
        started = time.perf_counter()
        artifact = loaded[0](payloads[0])
        return {"type": "built", "build_s": time.perf_counter() - started}, [artifact]

    serve({"build": build}, {"builds": arguments.build})


if __name__ == "__main__":
    main()
