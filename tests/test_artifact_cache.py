"""The cache of compiled kernels: only what is whole is used, and the oldest go first."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cli_models import cli
from tilewright.contract.artifact import Artifact
from tilewright.contract.cache import ArtifactCache, CacheUsage

ARTIFACT = Artifact("f", "cpu", b"code" * 100, (), (), (), (), 0)
KEYS = [f"{i:02x}" + "0" * 62 for i in range(4)]


@pytest.fixture
def cache(tmp_path: Path) -> ArtifactCache:
    """Four artifacts; the first was used longest ago."""
    found = ArtifactCache(tmp_path / "cache")
    for age, key in enumerate(reversed(KEYS)):
        found.put(key, ARTIFACT.to_bytes())
        os.utime(next(found.folder.rglob(f"{key}*")), (1e9 - age, 1e9 - age))
    return found


def test_what_was_put_is_read_back(cache: ArtifactCache) -> None:
    assert cache.get(KEYS[0]) == ARTIFACT
    assert cache.get("ff" + "0" * 62) is None
    assert cache.usage().files == 4
    assert [f for f in cache.folder.rglob("*") if f.is_file() and f.suffix != ".artifact"] == []


@pytest.mark.parametrize("at", [0, 40, -1])
def test_a_damaged_artifact_is_thrown_away(cache: ArtifactCache, at: int) -> None:
    (file,) = cache.folder.rglob(f"{KEYS[1]}*")
    data = bytearray(file.read_bytes())
    data[at] ^= 1
    file.write_bytes(data)
    assert cache.get(KEYS[1]) is None
    assert not file.exists()
    assert cache.usage().files == 3


def test_a_cut_artifact_is_thrown_away(cache: ArtifactCache) -> None:
    (file,) = cache.folder.rglob(f"{KEYS[1]}*")
    file.write_bytes(file.read_bytes()[:20])
    assert cache.get(KEYS[1]) is None
    assert not file.exists()


def test_what_was_used_longest_ago_goes_first(cache: ArtifactCache) -> None:
    total = cache.usage().bytes
    assert cache.get(KEYS[0]) is not None  # used now
    assert cache.trim(total // 2) == CacheUsage(2, total // 2)
    assert [key for key in KEYS if cache.get(key) is not None] == [KEYS[0], KEYS[3]]
    assert ArtifactCache(cache.folder, limit=0).trim().files == 2


def test_other_files_stay(cache: ArtifactCache) -> None:
    mine = cache.folder / "notes.artifact"
    mine.write_text("mine")
    cache.trim(0)
    assert mine.read_text() == "mine"


def test_the_command(cache: ArtifactCache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILEWRIGHT_CACHE", str(cache.folder))
    monkeypatch.setenv("TILEWRIGHT_CACHE_LIMIT", "3 MB")
    shown = cli("cache")
    assert shown.exit_code == 0, shown.output
    assert f"{cache.folder}: 4 entries, " in shown.output
    assert " of at most 3 MB." in shown.output
    trimmed = cli("cache", "--limit", "0.7kB")
    assert "Removed 3 entries" in trimmed.output
    assert "1 entry," in trimmed.output
    assert "0 entries, 0 B" in cli("cache", "--clear").output
    assert cli("cache", "--limit", "much").exit_code == 2


def planted(kind: str, file: Path, elsewhere: Path) -> None:
    """Put something else in an artifact's place."""
    data = file.read_bytes()
    file.unlink()
    match kind:
        case "fifo":
            os.mkfifo(file)
        case "link":
            elsewhere.write_bytes(data)
            file.symlink_to(elsewhere)
        case "device":
            file.symlink_to("/dev/zero")
        case "loop":
            file.symlink_to(file.name)
        case "folder":
            file.mkdir()
        case "written by all":
            file.write_bytes(data)
            file.chmod(0o666)
        case "of another user":
            file.write_bytes(data)
            os.chown(file, 65_533, 65_533)


KINDS = ["fifo", "link", "device", "loop", "folder", "written by all", "of another user"]


@pytest.mark.parametrize("kind", KINDS)
def test_what_others_may_have_planted_is_not_read(
    cache: ArtifactCache, tmp_path: Path, kind: str
) -> None:
    if kind == "of another user" and os.geteuid():
        pytest.skip("needs the right to give files away")
    (file,) = cache.folder.rglob(f"{KEYS[1]}*")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_bytes(b"kept")
    planted(kind, file, elsewhere)
    before = elsewhere.read_bytes()
    assert cache.get(KEYS[1]) is None
    cache.put(KEYS[1], ARTIFACT.to_bytes())
    assert elsewhere.read_bytes() == before
    if kind != "folder":
        assert cache.get(KEYS[1]) == ARTIFACT
    assert cache.trim(0).files >= 3


@pytest.mark.parametrize(
    "folder", ["/dev/null", "/dev/null/x", "/proc/x", "/" + "a" * 5000, "file"]
)
def test_a_folder_that_cannot_be_costs_only_the_caching(tmp_path: Path, folder: str) -> None:
    (tmp_path / "file").write_bytes(b"")
    cache = ArtifactCache(tmp_path / folder)
    cache.put(KEYS[0], ARTIFACT.to_bytes())
    assert cache.get(KEYS[0]) is None
    assert (cache.usage(), cache.trim()) == (CacheUsage(0, 0), CacheUsage(0, 0))
