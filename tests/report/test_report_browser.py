"""The page in headless Chromium: it draws without a network and without an error.

Screenshots are kept in build/report/: look at them after a change of the page.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from page_reader import read_page
from sample_tuning import fill, tasks

from tilewright.inspection import write_report
from tilewright.records import Database

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or ""
KEPT = Path(__file__).parents[2] / "build" / "report"
TIMEOUT_S = 300
PNG = b"\x89PNG\r\n\x1a\n"

pytestmark = pytest.mark.skipif(not CHROMIUM, reason="chromium not found: apt-get install chromium")


@dataclass(frozen=True, slots=True)
class Opened:
    """A page as the browser had it after its scripts ran, and what its console said."""

    dom: str
    console: tuple[str, ...]


def opened(url: str, profile: Path, size: str, screenshot: Path | None = None) -> Opened:
    """Open a page with every host name unknown."""
    command = [
        CHROMIUM,
        "--headless",
        "--disable-gpu",
        "--hide-scrollbars",
        "--no-first-run",
        "--disable-background-networking",
        "--host-resolver-rules=MAP * ~NOTFOUND",
        "--virtual-time-budget=10000",
        "--enable-logging=stderr",
        f"--user-data-dir={profile}",
        f"--window-size={size}",
        "--dump-dom",
        *([f"--screenshot={screenshot}"] if screenshot else []),
        *(["--no-sandbox"] if os.geteuid() == 0 else []),
        url,
    ]
    done = subprocess.run(command, capture_output=True, timeout=TIMEOUT_S, check=True)
    said = done.stderr.decode(errors="replace").splitlines()
    console = tuple(x.split("CONSOLE", 1)[1] for x in said if ":CONSOLE" in x)
    return Opened(done.stdout.decode(), console)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("browser")
    with Database.open(folder / "tuning.db") as database:
        fill(database)
    write_report(folder / "tuning.db", folder / "report.html")
    return folder / "report.html"


def pixels(image: Path) -> np.ndarray:
    """A screenshot as numbers [height, width, colours] from 0 to 1."""
    assert image.read_bytes().startswith(PNG)
    read = pytest.importorskip("matplotlib.image").imread
    return np.asarray(read(image))[:, :, :3]


def share_of(image: np.ndarray, colour: str) -> float:
    """Which part of an image has a colour (#rrggbb), nearly."""
    wanted = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return float((np.abs(image - wanted).max(axis=2) < 0.02).mean())


def test_the_page_draws_offline(page: Path, tmp_path: Path) -> None:
    KEPT.mkdir(parents=True, exist_ok=True)
    image = KEPT / "report.png"
    image.unlink(missing_ok=True)
    seen = opened(page.as_uri(), tmp_path, "1280,3000", image)
    assert seen.console == ()
    drawn = re.findall(r'data-plot="([\w-]+)"[^>]*data-drawn="yes"', seen.dom)
    assert set(drawn) == {"time", "trials", "given", "rounds", "roofline", "model"}
    assert len(re.findall(r'class="main-svg"', seen.dom)) >= len(drawn)
    shot = pixels(image)
    assert shot.shape == (3000, 1280, 3)
    assert 0.5 < share_of(shot, "#ffffff") < 0.99, "dark on white"
    assert share_of(shot, "#1f5fbf") > 0.002, "bars and curves are there"


def test_a_link_opens_its_task_on_a_phone(page: Path, tmp_path: Path) -> None:
    key = tasks()[0].hash[:12]
    seen = opened(f"{page.as_uri()}#task-{key}", tmp_path, "500,1500")
    assert seen.console == ()
    (attributes,) = [a for _, a in read_page(seen.dom).elements if a.get("id") == f"task-{key}"]
    assert "open" in attributes
    assert re.search(rf'data-plot="curve-{key}"[^>]*data-drawn="yes"', seen.dom)
    other = tasks()[1].hash[:12]
    assert not re.search(rf'data-plot="curve-{other}"[^>]*data-drawn', seen.dom), "still closed"
    # A frame is as narrow as a phone; a window of Chromium is not.
    frame = page.with_name("phone.html")
    frame.write_text(
        "<body style='margin:0'>"
        f"<iframe src='report.html' width=390 height=2400 frameborder=0></iframe>"
        f"<iframe src='report.html#task-{key}' width=390 height=2400 frameborder=0></iframe>"
    )
    image = KEPT / "phone.png"
    image.unlink(missing_ok=True)
    assert opened(frame.as_uri(), tmp_path, "800,2400", image).console == ()
    for half in np.split(pixels(image)[:, :780], 2, axis=1):
        assert share_of(half, "#1f5fbf") > 0.0003
        assert share_of(half[:, -4:], "#ffffff") == 1.0, "nothing reaches beyond the margin"


def test_errors_and_loads_would_be_noticed(tmp_path: Path) -> None:
    policy = "default-src 'none'; script-src 'unsafe-inline'"
    (tmp_path / "bad.html").write_text(
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<img src="http://localhost/x.png"><script>absent()</script>'
    )
    said = " ".join(opened((tmp_path / "bad.html").as_uri(), tmp_path / "p", "800,600").console)
    assert "absent is not defined" in said
    assert "violates the following Content Security Policy" in said
