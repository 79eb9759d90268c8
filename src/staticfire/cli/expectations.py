"""`staticfire expectations`: the rows that the fix of a ticket should remove."""

from __future__ import annotations

import json

import click

from staticfire.expectations import Row, read

__all__ = ["command"]


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("tickets", metavar="TICKET...", nargs=-1, required=True)
@click.option(
    "--expectations",
    "file",
    type=click.Path(dir_okay=False),
    default="expectations.toml",
    show_default=True,
    metavar="FILE",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(tickets: tuple[str, ...], file: str, as_json: bool) -> None:
    """Name the rows that a fix of TICKET... should remove."""
    rows = read(file).of_tickets(tickets)
    if as_json:
        click.echo(json.dumps({"tickets": list(tickets), "rows": [_page(row) for row in rows]}))
        return
    if not rows:
        click.echo(f"{file}: no row names {', '.join(tickets)}")
        return
    click.echo(f"A fix should remove {len(rows)} {'row' if len(rows) == 1 else 'rows'}:")
    for row in rows:
        when = ", ".join(f"{key} {value}" for key, value in row.when.items()) or "always"
        click.echo(f"  {row.where}: {row.scenario} ({when}): {row.bug}: {row.reason}")


def _page(row: Row) -> dict[str, object]:
    return {
        "scenario": row.scenario,
        "when": dict(row.when),
        "bug": row.bug,
        "reason": row.reason,
        "kind": row.kind,
        "flaky": row.flaky,
        "until": None if row.until is None else row.until.isoformat(),
        "where": row.where,
    }
