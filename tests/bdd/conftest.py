"""A project of a user, in a folder of its own, run by pytest in this process."""

from __future__ import annotations

import textwrap

import pytest


class Project:
    """Writes files of a project and runs pytest there."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self._pytester = pytester
        self.path = pytester.path

    def write(self, name: str, text: str) -> None:
        """A file by its path in the project."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")

    def run(self, *args: str, lane: str | None = "mock") -> pytest.RunResult:
        """Run pytest with a lane, quietly and without what other plugins add."""
        chosen = ["--engine-lane", lane] if lane else []
        return self._pytester.runpytest_inprocess(
            "-p", "no:randomly", "-p", "no:cacheprovider", "-p", "no:hypothesispytest", "--engine-seed", "7",
            "-o", "asyncio_default_fixture_loop_scope=function", *chosen, *args
        )  # fmt: skip


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    return Project(pytester)
