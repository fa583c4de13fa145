"""Opens pages in headless Chromium, and has them looked at from inside.

    seen = opened(file.as_uri(), profile, "1280,3000", screenshot)
    seen.dom, seen.console, seen.probes

A page of `probed(text)` says what is drawn and what does not fit; a frame is as narrow as a phone,
which a window of Chromium is not.
"""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or ""
TIMEOUT_S = 300
PNG = b"\x89PNG\r\n\x1a\n"

PROBE = """
<script>
function beyond(inner, outer) {
  const a = inner.getBoundingClientRect(), b = outer.getBoundingClientRect();
  return a.width > 0 && (a.left < b.left - 2 || a.right > b.right + 2);
}
function probe() {
  const words = (place, rule) => [...place.querySelectorAll(rule)].map((x) => x.textContent);
  const seen = (x) => !x.closest("details:not([open]) > :not(summary)");
  return {
    width: innerWidth,
    overflow: document.documentElement.scrollWidth - innerWidth,
    plots: [...document.querySelectorAll(".plot")].filter(seen).map((place) => ({
      name: place.dataset.plot,
      drawn: place.querySelectorAll(".main-svg").length > 0,
      width: place.querySelector(".main-svg")?.clientWidth,
      x: words(place, ".xtick text"),
      y: words(place, ".ytick text"),
      outside: [...place.querySelectorAll("svg text")]
        .filter((x) => beyond(x, place)).map((x) => x.textContent),
    })),
    scrolls: [...document.querySelectorAll("body *")]
      .filter((x) => !x.closest("pre, .plot, .track") && x.scrollWidth > x.clientWidth + 1
        && getComputedStyle(x).display !== "inline" && getComputedStyle(x).overflowX !== "visible")
      .map((x) => x.className || x.tagName),
    outside: [...document.querySelectorAll("td, th, .cell, .label, .card, nav a, summary > *")]
      .filter((x) => beyond(x, document.documentElement)).map((x) => x.textContent),
  };
}
addEventListener("load", () => setTimeout(() => {
  if (location.search === "?print") dispatchEvent(new Event("beforeprint"));
  const said = JSON.stringify(probe());
  if (parent !== window) return parent.postMessage(said, "*");
  const place = document.createElement("pre");
  place.className = "probe";
  place.hidden = true;
  place.textContent = said;
  document.body.append(place);
}, 200));
</script>
"""
COLLECT = """
<script>addEventListener("message", (event) => {
  const place = document.createElement("pre");
  place.className = "probe";
  place.textContent = event.data;
  document.body.append(place);
});</script>
"""


@dataclass(frozen=True, slots=True)
class Opened:
    """A page as the browser had it after its scripts ran, and what its console said."""

    dom: str
    console: tuple[str, ...]

    @property
    def probes(self) -> list[dict[str, Any]]:
        """What pages said of themselves."""
        found = re.findall(r'<pre class="probe"[^>]*>(.*?)</pre>', self.dom, re.DOTALL)
        return [json.loads(html.unescape(text)) for text in found]


def opened(
    url: str, profile: Path, size: str, screenshot: Path | None = None, *more: str
) -> Opened:
    """Open a page with every host name unknown."""
    if screenshot is not None:
        screenshot.unlink(missing_ok=True)
        more = (*more, f"--screenshot={screenshot}")
    done = chromium(profile, f"--window-size={size}", "--dump-dom", *more, url)
    said = done.stderr.decode(errors="replace").splitlines()
    console = tuple(x.split("CONSOLE", 1)[1] for x in said if ":CONSOLE" in x)
    return Opened(done.stdout.decode(), console)


def chromium(profile: Path, *options: str) -> subprocess.CompletedProcess[bytes]:
    """Run the browser to its end."""
    command = [
        CHROMIUM,
        "--headless",
        "--disable-gpu",
        "--hide-scrollbars",
        "--no-first-run",
        "--disable-background-networking",
        "--host-resolver-rules=MAP * ~NOTFOUND",
        "--virtual-time-budget=1500",
        "--enable-logging=stderr",
        f"--user-data-dir={profile}",
        *(["--no-sandbox"] if os.geteuid() == 0 else []),
        *options,
    ]
    return subprocess.run(command, capture_output=True, timeout=TIMEOUT_S, check=True)


def probed(text: str) -> str:
    """A page that says what is drawn and what does not fit."""
    return text.replace("</body>", f"{PROBE}</body>")


def framed(urls: list[str], width: int, height: int) -> str:
    """A page that shows others side by side, each as wide as a phone."""
    frames = "".join(
        f"<iframe src='{url}' width={width} height={height} frameborder=0></iframe>" for url in urls
    )
    return f"<body style='margin:0;white-space:nowrap'>{COLLECT}{frames}"


def pixels(image: Path) -> np.ndarray:
    """A screenshot as numbers [height, width, colours] from 0 to 1."""
    import matplotlib.image

    assert image.read_bytes().startswith(PNG)
    return np.asarray(matplotlib.image.imread(image))[:, :, :3]


def share_of(image: np.ndarray, colour: str) -> float:
    """Which part of an image has a colour (#rrggbb), nearly."""
    wanted = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return float((np.abs(image - wanted).max(axis=2) < 0.02).mean())
