"""`staticfire routers`: the routers that scenarios can be run on, and how to get the rest."""

from __future__ import annotations

import json
from pathlib import Path

import click

__all__ = ["command"]


@click.command
@click.option("--router-bin", multiple=True, metavar="DIR", help="Where routers lie, besides PATH.")
@click.option("--mutants", is_flag=True, help="List the naive router and its flaws too.")
@click.option("--json", "as_json", is_flag=True, help="For a machine.")
def command(*, router_bin: tuple[str, ...], mutants: bool, as_json: bool) -> None:
    """List the routers under test: the built-in ones and those of pyproject.toml.

    With version and capabilities where they are here, else with how to install them.
    """
    from staticfire.bdd.session import project_tables
    from staticfire.errors import WrongInput
    from staticfire.stand.routers import CAPABILITIES, routers
    from staticfire.stand.routers.process import ProcessFactory

    rows = []
    known = routers(project_tables(Path.cwd(), "routers"), router_bin)
    for name, router in sorted(known.items()):
        if name.startswith("naive") and not mutants:
            continue
        program = isinstance(router, ProcessFactory)
        row = {
            "name": name,
            "here": True,
            "version": "",
            "runs": "as a program, in real time" if program else "in the test process",
            "lacks": sorted(set(CAPABILITIES) - router.capabilities),
            "install": router.entry.install if isinstance(router, ProcessFactory) else "",
        }
        try:
            router.load()
            row["version"] = router.version()
        except WrongInput as missing:
            row |= {"here": False, "install": row["install"] or str(missing)}
        rows.append(row)
    if as_json:
        click.echo(json.dumps(rows, indent=1))
        return
    width = max(len(str(row["name"])) for row in rows)
    for row in rows:
        told = f"{row['version']}, {row['runs']}"
        if row["here"] and row["lacks"]:
            told += f"; has no {', '.join(row['lacks'])}"  # type: ignore[arg-type]  # a list of names
        click.echo(
            f"{row['name']:<{width}}  {told if row['here'] else 'not here: ' + str(row['install'])}"
        )
