"""What templates are compiled with: the packages they need, and what the compiler says."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import pytest
from problems import TILES, match, product

from tilewright.build.native import compile_template
from tilewright.ground.errors import BuildError
from tilewright.runtime import headers, nvrtc
from tilewright.runtime.nvrtc import RejectedError, first_error


@pytest.fixture(autouse=True)
def anew() -> None:
    """Packages are looked for once a process."""
    headers.folders.cache_clear()
    headers.missing.cache_clear()


def with_version(monkeypatch: pytest.MonkeyPatch, package: str, version: str | None) -> None:
    """As if a package were of that version; None: not installed."""
    real = metadata.distribution

    def distribution(name: str) -> object:
        if name != package:
            return real(name)
        if version is None:
            raise metadata.PackageNotFoundError(name)
        return SimpleNamespace(version=version, locate_file=real(name).locate_file)

    monkeypatch.setattr(metadata, "distribution", distribution)


def test_headers_are_found_in_the_installed_packages() -> None:
    found = headers.folders()
    assert (found[0] / "tw_gemm.h").is_file(), "our own stand first"
    assert any((f / "cutlass" / "gemm" / "kernel" / "default_gemm.h").is_file() for f in found)
    assert any((f / "kernel" / "default_b2b_gemm.h").is_file() for f in found)
    assert headers.missing() is None
    assert not any(f.is_relative_to(Path(headers.__file__).parent) for f in found[1:])


@pytest.mark.parametrize(
    ("package", "version", "message"),
    [
        ("nvidia-cutlass", None, "nvidia-cutlass is not installed; templates of CUTLASS need"),
        ("nvidia-cutlass", "4.3.0", r"nvidia-cutlass is 4.3.0; it must be 4.2.0.0 or later"),
        ("nvidia-cuda-cccl", "13.2.27", r"is 13.2.27; it must be 13.0 or later, and before 13.2"),
        ("nvidia-cuda-cccl", "12.9", r"is 12.9; it must be 13.0 or later"),
        ("nvidia-cuda-crt", None, "nvidia-cuda-crt is not installed"),
    ],
)
def test_packages_that_are_missing_or_others_are_named_with_the_extra(
    monkeypatch: pytest.MonkeyPatch, package: str, version: str | None, message: str
) -> None:
    with_version(monkeypatch, package, version)
    with pytest.raises(BuildError, match=message) as caught:
        headers.folders()
    assert "pip install 'tilewright[cutlass]'" in str(caught.value)
    assert headers.missing() == str(caught.value)


def test_a_package_without_its_headers_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    places = {**headers.PLACES, "nvidia-cutlass": (("cutlass_library/source", "nowhere.h"),)}
    monkeypatch.setattr(headers, "PLACES", places)
    with pytest.raises(BuildError, match=r"nvidia-cutlass 4.2.0.0 has no .*nowhere.h"):
        headers.folders()


def test_long_messages_are_cut_and_the_rest_is_kept() -> None:
    """An instance that CUTLASS rejects: a tile of a warp that no instruction fits."""
    text = match("gemm", product(64, 64, 64)).program(TILES, "k").text
    broken = text.replace("GemmShape<32, 32, 32>", "GemmShape<24, 20, 32>")
    assert broken != text
    with pytest.raises(RejectedError, match="NVRTC rejects the kernel for sm_80: ") as caught:
        compile_template(broken, "sm_80")
    message = str(caught.value)
    assert "error" in message and len(message) < 360
    assert len(caught.value.log) > 1000 > len(message)
    assert message.partition("sm_80: ")[2].removesuffix("…") in caught.value.log


def test_the_first_error_is_the_one_that_is_shown() -> None:
    log = "a.h(1): warning: unused\nb.h(2): error: first\nb.h(3): error: second\n"
    assert first_error(log) == "b.h(2): error: first"
    assert first_error(f"x.h(1): error: {'y' * 900}").endswith("…")
    assert len(first_error(f"x.h(1): error: {'y' * 900}")) == nvrtc.SHOWN_ERROR + 1
    assert first_error("") == "it says nothing"
