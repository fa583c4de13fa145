"""The page in headless Chromium: wide, as narrow as a phone, dark, and on paper.

Screenshots are kept in build/report/: look at them after a change of the page.
"""

from __future__ import annotations

import re
import zlib
from pathlib import Path

import pytest
from browser import CHROMIUM, chromium, framed, opened, pixels, probed, share_of
from sample_network import TASKS, network_history

from tilewright.report.page import render

KEPT = Path(__file__).parents[2] / "build" / "report"
OVERVIEW = {"time", "trials", "rounds", "roofline", "model"}
WHITE, BLUE, DARK = "#ffffff", "#1f5fbf", "#14181f"

pytestmark = pytest.mark.skipif(not CHROMIUM, reason="chromium not found: apt-get install chromium")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    KEPT.mkdir(parents=True, exist_ok=True)
    file = tmp_path_factory.mktemp("browser") / "report.html"
    file.write_text(probed(render(network_history())), encoding="utf-8")
    return file


def check_fit(probe: dict, labels: int = 2) -> None:
    """Everything is inside the window, and the axes say where on them something lies."""
    assert probe["overflow"] <= 0
    assert probe["outside"] == [] and probe["scrolls"] == []
    for plot in probe["plots"]:
        assert plot["drawn"], plot["name"]
        assert len(plot["x"]) >= labels and len(plot["y"]) >= labels, plot
        assert all(plot["x"]) and all(plot["y"]), plot
        assert plot["outside"] == [], plot["name"]


def test_the_page_draws_offline(page: Path, tmp_path: Path) -> None:
    seen = opened(page.as_uri(), tmp_path, "1280,4200", KEPT / "report.png")
    assert seen.console == ()
    (probe,) = seen.probes
    assert {plot["name"] for plot in probe["plots"]} == OVERVIEW
    check_fit(probe, labels=3)
    (rounds,) = [plot for plot in probe["plots"] if plot["name"] == "rounds"]
    assert min(map(len, rounds["y"])) > 30, "names use the room that there is"
    shot = pixels(KEPT / "report.png")
    assert shot.shape == (4200, 1280, 3)
    assert 0.5 < share_of(shot, WHITE) < 0.99, "dark on white"
    assert share_of(shot, BLUE) > 0.002, "bars and curves are there"


def test_on_a_phone_nothing_is_cut(page: Path, tmp_path: Path) -> None:
    key = network_history().tasks[0].key
    frame = page.with_name("phone.html")
    frame.write_text(framed(["report.html", f"report.html#task-{key}"], 400, 6000))
    seen = opened(frame.as_uri(), tmp_path, "800,6000", KEPT / "phone.png")
    assert seen.console == ()
    whole, one = sorted(seen.probes, key=lambda probe: len(probe["plots"]))
    assert whole["width"] == one["width"] == 400
    check_fit(whole)
    check_fit(one)
    names = {plot["name"] for plot in one["plots"]}
    assert names == {*OVERVIEW, f"curve-{key}", f"model-{key}"}, "the link opened its task only"


def test_a_dark_scheme_is_followed(page: Path, tmp_path: Path) -> None:
    dark = "--blink-settings=preferredColorScheme=0"
    seen = opened(page.as_uri(), tmp_path, "1280,1400", KEPT / "dark.png", dark)
    assert seen.console == ()
    shot = pixels(KEPT / "dark.png")
    assert share_of(shot, DARK) > 0.5
    assert share_of(shot, WHITE) < 0.01 and share_of(shot, BLUE) < 0.001


def test_every_plot_is_printed(page: Path, tmp_path: Path) -> None:
    seen = opened(f"{page.as_uri()}?print", tmp_path / "a", "1280,1000")
    (probe,) = seen.probes
    assert len(probe["plots"]) == len(OVERVIEW) + 2 * TASKS
    assert {plot["drawn"] for plot in probe["plots"]} == {True}
    assert {plot["width"] for plot in probe["plots"]} == {660, 320}
    pdf = KEPT / "report.pdf"
    pdf.unlink(missing_ok=True)
    chromium(tmp_path / "b", f"--print-to-pdf={pdf}", "--no-pdf-header-footer", page.as_uri())
    drawn = drawing(pdf.read_bytes())
    red, green, blue = (int(BLUE[i : i + 2], 16) / 255 for i in (1, 3, 5))
    strokes = re.findall(rb"([\d.]+) ([\d.]+) ([\d.]+) RG", drawn)
    curves = [x for x in strokes if abs(float(x[0]) - red) + abs(float(x[2]) - blue) < 0.01]
    assert abs(float(curves[0][1]) - green) < 0.01
    assert len(curves) >= TASKS, "a curve of each task"


def drawing(pdf: bytes) -> bytes:
    """What a PDF's pages are drawn with."""
    found = []
    for stream in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pdf, re.DOTALL):
        try:
            found.append(zlib.decompress(stream))
        except zlib.error:  # an image or a font
            continue
    return b"\n".join(found)


def test_errors_and_loads_would_be_noticed(tmp_path: Path) -> None:
    policy = "default-src 'none'; script-src 'unsafe-inline'"
    (tmp_path / "bad.html").write_text(
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<img src="http://localhost/x.png"><script>absent()</script>'
    )
    said = " ".join(opened((tmp_path / "bad.html").as_uri(), tmp_path / "p", "800,600").console)
    assert "absent is not defined" in said
    assert "violates the following Content Security Policy" in said
