"""Rerun the numbers: `python bench/run.py [NAME …] [--json]`.

Without a name everything runs but `demo` and `test`, which take a minute each. Exits 1 when a bar
is missed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

if __name__ == "__main__":  # `bench` is a folder of the repository, not an installed package
    sys.path[0] = str(Path(__file__).parents[1])

from bench import (
    choose,
    dribble,
    engines,
    forward,
    gate,
    json_answers,
    kv_token,
    loading,
    make,
    peers,
    report,
    router_programs,
    scrape,
    services,
    sessions,
    timers,
    tokens,
)
from bench.figure import Figure

__all__ = ["MEASUREMENTS", "TINY", "main"]

MEASUREMENTS: dict[str, Callable[..., list[Figure]]] = {
    "engines": engines.measure,
    "engines_10k": engines.measure_fleet,
    "json": json_answers.measure,
    "tokens": tokens.measure,
    "kv_token": kv_token.measure,
    "loading": loading.measure,
    "sessions": sessions.measure,
    "timers": timers.measure,
    "dribble": dribble.measure,
    "forward": forward.measure,
    "choose": choose.measure,
    "scrape": scrape.measure,
    "gate": gate.measure,
    "services": services.measure,
    "peers": peers.measure,
    "report": report.measure,
    "router_programs": router_programs.measure,
}
BY_NAME_ONLY: dict[str, Callable[..., list[Figure]]] = {"demo": make.demo, "test": make.test}
TINY: dict[str, Mapping[str, object]] = {
    "engines": engines.TINY,
    "engines_10k": engines.TINY_FLEET,
    "json": json_answers.TINY,
    "tokens": tokens.TINY,
    "kv_token": kv_token.TINY,
    "loading": loading.TINY,
    "sessions": sessions.TINY,
    "timers": timers.TINY,
    "dribble": dribble.TINY,
    "forward": forward.TINY,
    "choose": choose.TINY,
    "scrape": scrape.TINY,
    "gate": gate.TINY,
    "services": services.TINY,
    "peers": peers.TINY,
    "report": report.TINY,
    "router_programs": router_programs.TINY,
}
"""Sizes with which a measurement only proves that it works."""


def main(words: list[str] | None = None) -> int:
    """Measure what is named, print it; 1 when a bar is missed."""
    known = MEASUREMENTS | BY_NAME_ONLY
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(known))
    parser.add_argument("--json", action="store_true", help="print JSON, not a table")
    parser.add_argument("--runs", type=int, help="runs of each; the default is each one's own")
    chosen = parser.parse_args(words)
    names = chosen.names or list(MEASUREMENTS)
    for name in names:
        if name not in known:
            parser.error(f"no measurement {name!r}; one of {', '.join(known)}")
    found: list[tuple[str, Figure]] = []
    for name in names:
        print(f"measuring {name} …", file=sys.stderr, flush=True)
        more = {"runs": chosen.runs} if chosen.runs and name in MEASUREMENTS else {}
        found += [(name, figure) for figure in known[name](**more)]
    if chosen.json:
        print(json.dumps([figure.json(name) for name, figure in found], indent=1))
    else:
        Console().print(_table(found))
    return int(any(figure.met is False for _, figure in found))


def _table(found: list[tuple[str, Figure]]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1), collapse_padding=True, pad_edge=False)
    table.add_column("what")
    for column in ("median", "min to max", "runs", "bar"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("met")
    last = ""
    for name, figure in found:
        if name != last:
            table.add_row(f"[bold]{name}[/]")
            last = name
        what = f"  {figure.what}" + (f" [dim]({figure.note})[/]" if figure.note else "")
        spread = f"{_short(min(figure.values))} to {_short(max(figure.values))}"
        met = {None: "", True: "[green]yes[/]", False: "[bold red]NO[/]"}[figure.met]
        bar = "" if figure.bar is None else f"≤ {figure.bar:g}"
        median = f"{_short(figure.median)} {figure.unit}"
        table.add_row(what, median, spread, str(len(figure.values)), bar, met)
    return table


def _short(value: float) -> str:
    return f"{value:.3g}" if value < 1000 else f"{value:.0f}"


if __name__ == "__main__":
    sys.exit(main())
