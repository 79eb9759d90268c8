"""`staticfire lanes`: where engines can come from here, and what a lane would start."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from staticfire.stand.lanes import Lane

__all__ = ["command"]


@click.command
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="For a machine.")
def command(*, name: str | None, as_json: bool) -> None:
    """List the lanes: the built-in ones and those of pyproject.toml.

    With NAME, show what that lane would start, with its environment, and start nothing.
    """
    from staticfire.bdd.session import project_tables
    from staticfire.errors import WrongInput, did_you_mean
    from staticfire.stand.lanes import lanes

    known = lanes(project_tables(Path.cwd(), "lanes"))
    if name is not None and name not in known:
        raise WrongInput(
            "lane", expected="a known lane", found=repr(name), do=did_you_mean(name, known)
        )
    rows = []
    for one, make in sorted(known.items()) if name is None else [(name, known[name])]:
        try:
            lane = make()
        except WrongInput as missing:
            if name is not None:
                raise
            rows.append({"name": one, "here": False, "missing": str(missing)})
            continue
        why = lane.missing()
        row = {"name": one, "kind": lane.kind, "here": why is None, "missing": why or ""}
        rows.append(row | (_shown(lane) if name is not None else {}))
        lane.close()
    if as_json:
        click.echo(json.dumps(rows, indent=1))
    elif name is None:
        width = max(len(str(row["name"])) for row in rows)
        for row in rows:
            told = f"here, of kind {row['kind']}" if row["here"] else f"not here: {row['missing']}"
            click.echo(f"{row['name']:<{width}}  {told}")
    else:
        _print(rows[0])


def _shown(lane: Lane) -> dict[str, Any]:
    """What a lane would do, as far as it can be said before it is done."""
    from staticfire.stand.lanes.command import CommandLane
    from staticfire.stand.lanes.url import UrlLane

    if isinstance(lane, CommandLane):
        words = [word.replace("{model}", lane.model) for word in lane.words()]
        return {
            "device": lane.device,
            "environment": lane.environ(),
            "command": words,
            "start_within": lane.start_within,
        }
    if isinstance(lane, UrlLane):
        return {"urls": list(lane.urls), "key": " ".join(lane.key.words)}
    if lane.missing() is not None:
        return {}
    return {"command": list(lane.command("qwen"))}


def _print(row: dict[str, Any]) -> None:
    click.echo(f"lane          {row['name']}, of kind {row['kind']}")
    if not row["here"]:
        click.echo(f"not here      {row['missing']}")
    if row.get("device"):
        click.echo(f"asserts       the device {row['device']!r}, before anything is started")
    for name, value in row.get("environment", {}).items():
        click.echo(f"environment   {name}={shlex.quote(value)}")
    if "command" in row:
        click.echo(f"command       {shlex.join(row['command'])}")
    if "start_within" in row:
        click.echo(f"waits         {row['start_within']:g} s at most for its first answer")
    for url in row.get("urls", ()):
        click.echo(f"engine        {url}")
    if row.get("key"):
        click.echo(f"key           {row['key']}")
