"""`staticfire steps`: the step library, with an example of each step."""

from __future__ import annotations

import importlib
import json

import click

__all__ = ["command"]


@click.command("steps")
@click.argument("words", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="One JSON array, for a machine.")
@click.option(
    "--markdown", is_flag=True, help="A page with every phase, fault, personality and step."
)
def command(words: tuple[str, ...], as_json: bool, markdown: bool) -> None:
    """List the Gherkin steps with an example of each; WORDS keep those that contain them all."""
    if markdown:
        from staticfire.bdd.vocabulary import page

        if words or as_json:
            raise click.UsageError(
                "--markdown prints the whole page: no WORDS, no --json beside it"
            )
        click.echo(page(), nl=False)
        return
    from staticfire.bdd.step import LIBRARY
    from staticfire.bdd.steps import MODULES

    for module in MODULES:
        importlib.import_module(module)
    found = [
        step
        for step in LIBRARY
        if all(word.lower() in f"{step.kind} {step.pattern} {step.doc}".lower() for word in words)
    ]
    if as_json:
        shown = [
            {"kind": s.kind, "pattern": s.pattern, "example": s.example, "doc": s.doc}
            for s in found
        ]
        click.echo(json.dumps(shown, indent=2))
        return
    if not found:
        raise click.UsageError(f"no step contains {' '.join(words)!r}")
    subject = ""
    for step in found:
        name = step.module.rpartition(".")[2]
        if name != subject:
            subject = name
            click.secho(f"\n{subject}", bold=True)
        click.echo(f"  {step.kind} {step.example}")
        click.echo(f"      {step.doc}")
