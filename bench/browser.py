"""Opens a page in Chromium, where there is one, and gives back what became of it."""

from __future__ import annotations

import functools
import shutil
import subprocess
import tempfile
from html.parser import HTMLParser
from pathlib import Path

__all__ = ["CHROMIUM", "Seen", "look", "missing"]

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CHROMIUM = next((found for name in NAMES if (found := shutil.which(name))), None)
"""The browser's path; None where there is none."""


class Seen(HTMLParser):
    """A page as its scripts left it: the attributes of `html`, and how often each class stands."""

    def __init__(self, dom: str) -> None:
        super().__init__()
        self.root: dict[str, str | None] = {}
        self.classes: dict[str, int] = {}
        self.hidden: dict[str, int] = {}
        self.text = ""
        self.feed(dom)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if tag == "html":
            self.root = found
        for name in (found.get("class") or "").split():
            counts = self.hidden if "hidden" in found else self.classes
            counts[f"{tag}.{name}"] = counts.get(f"{tag}.{name}", 0) + 1

    def handle_data(self, data: str) -> None:
        self.text += data


def look(page: Path, fragment: str = "", *, timeout: float = 120.0) -> Seen:
    """The page after its scripts ran; `fragment` is what stands behind the `#`."""
    assert CHROMIUM is not None, "there is no Chromium here"
    with tempfile.TemporaryDirectory(prefix="staticfire-chromium-") as profile:
        found = subprocess.run(
            [
                CHROMIUM,
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--disable-background-networking",
                "--no-first-run",
                f"--user-data-dir={profile}",
                "--window-size=1280,1000",
                "--dump-dom",
                f"{page.resolve().as_uri()}#{fragment}",
            ],
            capture_output=True,
            text=True,
            timeout=timeout,
            check=True,
        )
    return Seen(found.stdout)


@functools.cache
def missing() -> str | None:
    """Why no page can be opened here; None when one can."""
    if CHROMIUM is None:
        return "no Chromium on PATH"
    with tempfile.TemporaryDirectory(prefix="staticfire-page-") as folder:
        page = Path(folder) / "page.html"
        page.write_text("<script>document.documentElement.dataset.works = 1</script>")
        try:
            works = look(page).root.get("data-works") == "1"
        except (OSError, subprocess.SubprocessError) as error:
            return f"{CHROMIUM} does not run here: {error}"
    return None if works else f"{CHROMIUM} runs no scripts here"
