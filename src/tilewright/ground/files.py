"""Files that are written: nothing that is needed is lost, and nothing is left half written.

    refuse_output(Path("net.so"), (".so",), {"the model": [Path("net.onnx")]})   before the work
    with replacing(Path("report.html")) as part:
        part.write_text(page)                   # becomes report.html, whole or not at all

Everything of this package that writes a file that a user names goes through `replacing`.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import re
import shutil
import stat
import tempfile
import time
import weakref
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tilewright.ground.errors import InputError

PREFIX = ".tilewright-"  # of a folder of unfinished files, beside what they become
READER_WAIT_S = 5.0
VERSION = re.compile(r"(?<=\.so)(\.\d+)+$")  # of a library: net.so.1
DATABASE = b"SQLite format 3\0"
DATABASE_PARTS = ("", "-wal", "-shm", "-journal")  # a database and the files that SQLite keeps


def refuse_output(
    file: Path, suffixes: Sequence[str], needed: Mapping[str, Sequence[Path]] | None = None
) -> None:
    """Raise InputError when `file` must not be written.

    That is when its name has none of `suffixes` ("" stands for a name without; empty: any will
    do), when it is a folder or lies in none, and when it is one of the files `needed`, by what they
    are ("the model"), under whatever name, or any SQLite database.
    """
    if suffixes and Path(VERSION.sub("", file.name)).suffix not in suffixes:
        known = " or ".join(s for s in suffixes if s)
        raise InputError(f"cannot write {file}: name a file that ends in {known}")
    if file.is_dir():
        raise InputError(f"cannot write {file}: it is a directory; name a file in it")
    if not file.parent.is_dir():
        raise InputError(
            f"cannot write {file}: the directory {file.parent} does not exist; create it, or name "
            "another file"
        )
    for what, files in (needed or {}).items():
        if any(_are_same(file, other) for other in files):
            raise InputError(f"cannot write {file}: it is {what}; name another file")
    if _is_database(file):
        raise InputError(f"cannot write {file}: it is a SQLite database; name another file")


def database_files(database: str | Path) -> list[Path]:
    """The files of a records database; none of a URL's, or of one in memory."""
    name = str(database).removeprefix("sqlite:///")
    if name == ":memory:" or (isinstance(database, str) and "://" in name):
        return []
    return [Path(f"{name}{part}") for part in DATABASE_PARTS]


@contextlib.contextmanager
def replacing(file: Path) -> Iterator[Path]:
    """A path for what becomes `file` when the block ends well; nothing is left when it raises.

    A link stays one, and its target is replaced. Into what exists and is no regular file (a
    device, a pipe) the result is copied. Other files may be made beside the path that is given;
    they go. Raises OSError.
    """
    stays = file.exists() and not file.is_file()
    target = file if stays else Path(os.path.realpath(file))
    with tempfile.TemporaryDirectory(
        dir=None if stays else target.parent, prefix=PREFIX, ignore_cleanup_errors=True
    ) as folder:
        part = Path(folder) / file.name
        yield part
        if stays:
            with part.open("rb") as made, os.fdopen(_open_irregular(target), "wb") as out:
                shutil.copyfileobj(made, out)
            return
        if target.exists():
            shutil.copymode(target, part)
        part.replace(target)


def _open_irregular(target: Path) -> int:
    """A descriptor that writes into a device or a pipe. Raises OSError for a pipe that nobody comes
    to read.
    """
    deadline = time.monotonic() + READER_WAIT_S
    while True:
        try:
            descriptor = os.open(target, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            if time.monotonic() > deadline:
                raise OSError(errno.ENXIO, "nobody reads this pipe", str(target)) from None
            time.sleep(0.02)
        else:
            os.set_blocking(descriptor, True)
            return descriptor


@contextlib.contextmanager
def own_file(file: Path) -> Iterator[io.FileIO]:
    """A regular file that only this user, or root, can have written, for reading. Raises OSError
    for any other: a folder that others may write can have anything.
    """
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
    with os.fdopen(os.open(file, flags), "rb", 0) as opened:
        status = os.fstat(opened.fileno())
        is_own = status.st_uid in (0, os.geteuid()) and not status.st_mode & stat.S_IWOTH
        if not stat.S_ISREG(status.st_mode) or not is_own:
            raise PermissionError(errno.EPERM, "another user may have written it", str(file))
        yield opened


def own_bytes(file: Path) -> bytes:
    """What such a file holds. Raises OSError."""
    with own_file(file) as opened:
        return opened.readall()


def own_folder(owner: object) -> Path:
    """A new folder that goes with `owner`, at the latest when the process ends."""
    folder = tempfile.mkdtemp(prefix=PREFIX[1:])
    weakref.finalize(owner, shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def _are_same(one: Path, other: Path) -> bool:
    """Whether two names are of one file, which need not exist."""
    with contextlib.suppress(OSError):
        return one.samefile(other)
    return os.path.realpath(one) == os.path.realpath(other)


def _is_database(file: Path) -> bool:
    if not file.is_file():
        return False
    try:
        with file.open("rb") as opened:
            return opened.read(len(DATABASE)) == DATABASE
    except OSError:
        return False  # whoever writes it says why it cannot be
