"""`staticfire init`: a first feature that runs, in an empty folder."""

from __future__ import annotations

from pathlib import Path

import click

from staticfire.cli.first_files import FILES
from staticfire.errors import WrongInput

__all__ = ["command"]


@click.command("init")
@click.argument(
    "folder", metavar="[DIR]", type=click.Path(path_type=Path, file_okay=False), default="."
)
def command(folder: Path) -> None:
    """Write a first feature, a step of its own, settings and known bugs into DIR, or here.

    Nothing is overwritten: when one of the files is there already, none is written.
    """
    for name in FILES:
        if (folder / name).exists():
            raise WrongInput(
                str(folder / name),
                expected="no such file yet",
                found="one that is yours",
                do="choose an empty folder: staticfire init DIR",
            )
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        click.echo(f"wrote {path}")
    into = "" if folder == Path() else f"cd {folder} && "
    click.echo(f"Now run: {into}pytest --mock-engines")
