"""Builds kernels: the only package that sees schedules, code generation and artifacts at once."""

from tilewright.build.compile import artifact, build, build_request, make_request
from tilewright.space.default import default_of, default_trace

__all__ = ["artifact", "build", "build_request", "default_of", "default_trace", "make_request"]
