"""`staticfire engine`: one mock engine in real time, for curl and for routers under test."""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from staticfire.errors import WrongInput

if TYPE_CHECKING:
    from staticfire.engine import Script

__all__ = ["command"]


@click.command("engine")
@click.option(
    "--script", "file", type=click.Path(path_type=Path), help="A script file (TOML): what it does."
)
@click.option("--personality", help="Whose dialect it speaks, without a script file.  [vllm]")
@click.option(
    "--import",
    "modules",
    metavar="MODULE",
    multiple=True,
    help="Import a module of yours first: its faults and handlers get their names. Repeatable.",
)
@click.option("--model", help="The model's name; it replaces the script file's.")
@click.option("--name", default="engine", show_default=True, help="Its name in every answer.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to bind to.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    show_default=True,
    help="The port; 0 is one of the kernel's choice.",
)
@click.option(
    "--seed", type=int, default=0, show_default=True, help="What everything random comes from."
)
def command(
    file: Path | None,
    personality: str | None,
    modules: tuple[str, ...],
    model: str | None,
    name: str,
    host: str,
    port: int,
    seed: int,
) -> None:
    """Serve one mock engine until SIGTERM or Ctrl-C.

    It prints one JSON line, {"url", "port", "pid", "name", "seed"}, when it owns its port; its life
    begins then.
    """
    try:
        _import(modules)
        script = _script(file, personality, model)
        asyncio.run(_serve(script, name, host, port, seed))
    except WrongInput as exc:
        click.echo(f"staticfire engine: {exc}", err=True)
        sys.exit(2)


def _import(modules: tuple[str, ...]) -> None:
    if modules:
        sys.path.insert(0, str(Path.cwd()))
    for module in modules:
        try:
            importlib.import_module(module)
        except ImportError as error:
            raise WrongInput(
                "--import", expected="a module that can be imported", found=str(error)
            ) from error


def _script(file: Path | None, personality: str | None, model: str | None) -> Script:
    import dataclasses

    from staticfire.engine import Script
    from staticfire.engine.personalities import personality as known
    from staticfire.engine.toml import load_script

    if file is not None and personality is not None:
        raise WrongInput(
            "--personality",
            expected="a script file or a personality",
            found="both",
            do="write personality = … in the file",
        )
    if file is not None:
        script = load_script(file)
    else:
        known(personality or "vllm", "--personality")
        script = Script(personality=personality or "vllm")
    return script if model is None else dataclasses.replace(script, model=model)


async def _serve(script: Script, name: str, host: str, port: int, seed: int) -> None:
    from staticfire.engine import MockEngine

    loop = asyncio.get_running_loop()
    over = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, over.set)
    engine = MockEngine(script, name=name, seed=seed, host=host, port=port)
    await engine.start()
    try:
        facts = {
            "url": engine.url,
            "port": engine.port,
            "pid": os.getpid(),
            "name": engine.name,
            "seed": engine.seed,
        }
        print(json.dumps(facts), flush=True)
        await over.wait()
    finally:
        await engine.stop()
