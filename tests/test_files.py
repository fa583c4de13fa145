"""What is written appears whole or not at all, and replaces nothing that is needed."""

from __future__ import annotations

import gc
import os
import threading
from pathlib import Path

import pytest

from tilewright.ground import files
from tilewright.ground.errors import InputError
from tilewright.ground.files import database_files, own_folder, refuse_output, replacing


def write(file: Path, text: str) -> None:
    with replacing(file) as part:
        part.write_text(text)


def test_a_file_is_replaced_and_keeps_its_rights(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    write(file, "one")
    file.chmod(0o640)
    write(file, "two")
    assert file.read_text() == "two"
    assert file.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [file]


def test_what_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    write(file, "old")
    with pytest.raises(OSError, match="No space left"), replacing(file) as part:
        part.write_text("half")
        raise OSError(28, "No space left on device")
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


def test_a_link_stays_and_its_target_is_written(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    for name in ("there/old", "there/new"):
        link = tmp_path / f"link-{Path(name).name}"
        link.symlink_to(tmp_path / name)
        write(tmp_path / "there/old", "old")
        write(link, "new")
        assert link.is_symlink()
        assert (tmp_path / name).read_text() == "new"


def test_what_is_no_regular_file_is_written_into(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    found: list[str] = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_text()), daemon=True)
    reader.start()
    write(pipe, "through")
    reader.join(10)
    assert found == ["through"]
    assert pipe.is_fifo()
    write(Path(os.devnull), "gone")
    assert Path(os.devnull).is_char_device()


def test_outputs_that_are_needed_are_refused(tmp_path: Path) -> None:
    model = tmp_path / "net.so"
    model.write_text("model")
    (tmp_path / "soft.so").symlink_to(model)
    (tmp_path / "hard.so").hardlink_to(model)
    for name in ("net.so", "soft.so", "hard.so", "./net.so"):
        with pytest.raises(InputError, match="it is the model; name another file"):
            refuse_output(tmp_path / name, (".so",), {"the model": [model]})
    absent = {"an input": [tmp_path / "absent.so"]}
    with pytest.raises(InputError, match="it is an input"):
        refuse_output(tmp_path / "absent.so", (".so",), absent)
    refuse_output(tmp_path / "other.so", (".so",), {"the model": [model]})


@pytest.mark.parametrize(
    ("name", "suffixes", "message"),
    [
        ("report.pdf", (".html", ".htm", ""), r"ends in \.html or \.htm"),
        ("net", (".so",), r"ends in \.so"),
        ("net.so.txt", (".so",), r"ends in \.so"),
        ("absent/net.so", (".so",), "absent does not exist; create it"),
        ("folder.so", (".so",), "is a directory"),
        ("records", (), "is a SQLite database"),
    ],
)
def test_other_outputs_are_refused(
    tmp_path: Path, name: str, suffixes: tuple[str, ...], message: str
) -> None:
    (tmp_path / "folder.so").mkdir()
    (tmp_path / "records").write_bytes(b"SQLite format 3\0" + bytes(84))
    with pytest.raises(InputError, match=message):
        refuse_output(tmp_path / name, suffixes)


@pytest.mark.parametrize("name", ["net.so", "libnet.so.1.2", "report.html", "report", "x.jsonl.gz"])
def test_names_that_fit(tmp_path: Path, name: str) -> None:
    refuse_output(tmp_path / name, (".so", ".html", ".gz", ""))
    refuse_output(tmp_path / name, ())


def test_the_files_of_a_database() -> None:
    names = ["t.db", "t.db-wal", "t.db-shm", "t.db-journal"]
    for given in ("t.db", Path("t.db"), "sqlite:///t.db"):
        assert [str(f) for f in database_files(given)] == names
    assert database_files("postgresql://host/db") == database_files(":memory:") == []


def test_a_folder_goes_with_its_owner() -> None:
    class Owner:
        pass

    owner = Owner()
    folder = own_folder(owner)
    (folder / "file").write_text("x")
    del owner
    gc.collect()
    assert not folder.exists()


def test_a_pipe_that_nobody_reads_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "READER_WAIT_S", 0.0)
    os.mkfifo(tmp_path / "pipe")
    with (
        pytest.raises(OSError, match="nobody reads this pipe"),
        files.replacing(tmp_path / "pipe") as part,
    ):
        part.write_text("unread")
    assert [f.name for f in tmp_path.iterdir()] == ["pipe"]
