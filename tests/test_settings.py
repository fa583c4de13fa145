"""Settings: what each environment variable does, and what a wrong one says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tilewright.ground.errors import InputError
from tilewright.ground.settings import Settings


def test_defaults() -> None:
    settings = Settings.from_environment({"HOME": "/home/ada"})
    assert settings.show == frozenset()
    assert settings.cache == Path("/home/ada/.cache/tilewright")
    assert settings.threads is None
    assert settings.cache_limit == 2_000_000_000
    assert settings.compiler is None


def test_show_lists_layers() -> None:
    settings = Settings.from_environment({"TILEWRIGHT_SHOW": "nest, ir"})
    assert settings.shows("nest")
    assert settings.shows("ir")
    assert not settings.shows("trace")


@pytest.mark.parametrize(
    ("environ", "folder"),
    [
        ({"TILEWRIGHT_CACHE": "/var/tw", "XDG_CACHE_HOME": "/x"}, "/var/tw"),
        ({"XDG_CACHE_HOME": "/x", "HOME": "/h"}, "/x/tilewright"),
        ({"XDG_CACHE_HOME": "relative", "HOME": "/h"}, "/h/.cache/tilewright"),
    ],
)
def test_cache_folder(environ: dict[str, str], folder: str) -> None:
    assert Settings.from_environment(environ).cache == Path(folder)


def test_the_limit_of_the_cache_and_the_compiler() -> None:
    environ = {"TILEWRIGHT_CACHE_LIMIT": "1.5 GB", "CC": "ccache gcc"}
    settings = Settings.from_environment(environ)
    assert settings.cache_limit == 1_500_000_000
    assert settings.compiler == "ccache gcc"


def test_threads() -> None:
    assert Settings.from_environment({"TILEWRIGHT_THREADS": "3"}).threads == 3


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("TILEWRIGHT_SHOW", "nests", "known layers: sketch, nest, ir, trace"),
        ("TILEWRIGHT_CACHE_LIMIT", "much", "'much' is no size; for example 500 MB"),
        ("TILEWRIGHT_CACHE_LIMIT", "-1 GB", "is no size"),
        ("TILEWRIGHT_CACHE_LIMIT", "9" * 400, "is more than any disk has"),
        ("TILEWRIGHT_CACHE_LIMIT", "1" * 30 + " TB", "is more than any disk has"),
        ("TILEWRIGHT_CACHE_LIMIT", "1e9", "is no size"),
        ("TILEWRIGHT_CACHE", "~nobody_of_that_name/x", "TILEWRIGHT_CACHE: "),
        ("TILEWRIGHT_THREADS", "9" * 20, "positive integer, not '99"),
        ("TILEWRIGHT_THREADS", "9" * 5000, "positive integer, not '99"),
        ("TILEWRIGHT_THREADS", "\u0663", "positive integer"),
        ("TILEWRIGHT_THREADS", "\u00b2", "positive integer"),
        ("TILEWRIGHT_THREADS", "0", "positive integer, not '0'"),
        ("TILEWRIGHT_THREADS", "many", "positive integer, not 'many'"),
    ],
)
def test_errors(name: str, value: str, says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        Settings.from_environment({name: value})
    assert len(str(caught.value)) < 300


def test_a_user_without_a_home_keeps_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", unknown)
    assert Settings.from_environment({}).cache.is_relative_to("/dev/null")
    assert Settings.from_environment({"HOME": "/h"}).cache == Path("/h/.cache/tilewright")
