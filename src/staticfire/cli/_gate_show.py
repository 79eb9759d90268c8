"""How a gate tells what it waits for: lines, JSON lines, or a bar."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any, Protocol

from staticfire.clock import NS, seconds
from staticfire.readiness.gate import Gated
from staticfire.readiness.launch import Need
from staticfire.readiness.waiting import Change, Target

__all__ = ["Show", "chosen", "say"]

DONE = {"health": "healthy", "listed": "listed", "serving": "serving"}
"""What a worker is when it is there."""


def say(line: str) -> None:
    """Everything goes to stderr: stdout is the command's."""
    print(line, file=sys.stderr, flush=True)


class Show(Protocol):
    """Tells the beginning, each change and the end; `close` gives the terminal back before that."""

    def begin(self, targets: Sequence[Target], need: Need, timeout: float) -> None: ...

    def change(self, change: Change) -> None: ...

    def close(self) -> None: ...

    def end(self, gated: Gated, need: Need) -> None: ...

    def signal(self, number: int) -> None: ...


def chosen(*, as_json: bool, total: int) -> Show:
    """JSON when asked for, a bar on a terminal, else lines."""
    if as_json:
        return _Json()
    return _bar(total) if sys.stderr.isatty() else _Lines()


class _Lines:
    """A line per change."""

    def begin(self, targets: Sequence[Target], need: Need, timeout: float) -> None:
        say(f"waiting for {need.count} of {len(targets)} workers, at most {timeout:g}s")

    def change(self, change: Change) -> None:
        word = DONE[change.target.until] if change.there else change.reason
        at = change.at // NS
        say(f"[{change.count}/{change.total}] {change.target.url}: {word} after {at}s")

    def close(self) -> None:
        pass

    def end(self, gated: Gated, need: Need) -> None:
        count, total = len(gated.there), len(need.workers)
        after = gated.after // NS
        if gated.ok:
            head = f"All {total}" if count == total else f"{count} of {total}"
            say(f"{head} workers healthy after {after}s")
            return
        why = f"{need.count} needed"
        if gated.dead:
            why += f", {len(gated.dead)} dead"
        say(
            f"{len(gated.missing)} of {total} workers missing after {after}s ({why}); "
            "the command was not started:"
        )
        for target, reason in gated.missing:
            say(f"  {target.url}: expected {DONE[target.until]}, found: {reason}")

    def signal(self, number: int) -> None:
        del number
        self.close()


class _Json:
    """A JSON object per line; the last one has `event` open, timeout, dead or signal."""

    def begin(self, targets: Sequence[Target], need: Need, timeout: float) -> None:
        roles = {worker.url: worker.role for worker in need.workers}
        _line(
            event="waiting",
            needed=need.count,
            total=len(targets),
            timeout=timeout,
            workers=[{"url": t.url, "role": roles[t.url], "until": t.until} for t in targets],
        )

    def change(self, change: Change) -> None:
        _line(
            event="change",
            url=change.target.url,
            there=change.there,
            reason=change.reason,
            count=change.count,
            total=change.total,
            seconds=round(seconds(change.at), 3),
        )

    def close(self) -> None:
        pass

    def end(self, gated: Gated, need: Need) -> None:
        _line(
            event=gated.why,
            ok=gated.ok,
            needed=need.count,
            total=len(need.workers),
            seconds=round(seconds(gated.after), 3),
            there=[target.url for target in gated.there],
            missing=[
                {
                    "url": t.url,
                    "expected": DONE[t.until],
                    "found": reason,
                    "dead": t.url in gated.dead,
                }
                for t, reason in gated.missing
            ],
        )

    def signal(self, number: int) -> None:
        _line(event="signal", ok=False, signal=number)


def _line(**page: Any) -> None:
    say(json.dumps(page))


def _bar(total: int) -> Show:
    """A bar with the newest word of a worker that is missing."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    class Bar(_Lines):
        def __init__(self) -> None:
            self.progress = Progress(
                TextColumn("workers"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                TextColumn("{task.description}", markup=False),
                console=Console(stderr=True),
            )
            self.task = self.progress.add_task("", total=total)

        def begin(self, targets: Sequence[Target], need: Need, timeout: float) -> None:
            del targets, need, timeout
            self.progress.start()

        def change(self, change: Change) -> None:
            word = "" if change.there else f"{change.target.url}: {change.reason}"
            self.progress.update(self.task, completed=change.count, description=word)

        def close(self) -> None:
            self.progress.stop()

    return Bar()
