"""The command `staticfire`: one file per command, imported only when it is called."""

from __future__ import annotations

import importlib

import click

from staticfire import __version__
from staticfire.errors import StaticFireError, did_you_mean

__all__ = ["main"]

COMMANDS = {
    "engine": "Serve one mock engine in real time.",
    "fleet": "Serve the mock engines of a fleet file in real time.",
    "router": "Route requests to a fleet of engines.",
    "gate": "Hold a launch until the workers are ready, then run the command.",
    "probe": "Ask one engine whether a request sent now would be answered.",
    "wait": "Wait until a service, or an engine at a URL, is ready.",
    "serve": "Start an engine as a service, wait for it, say honestly what it is.",
    "services": "List, show, stop and restart services; read their logs.",
    "supervise": "Keep services: restart what died, with growing pauses.",
    "lanes": "List where engines can come from; show what a lane would start.",
    "routers": "List the routers that scenarios can be run on.",
    "conform": "Hold a router to the promises, without pytest.",
    "report": "Make a page of what runs came to; join those of several machines.",
    "steps": "List the Gherkin steps with an example of each.",
    "init": "Write a first feature that runs into an empty folder.",
    "expectations": "Name the rows that the fix of a ticket should remove.",
}
"""Each command with its one line of help, so that `--help` imports none of them."""


class _Lazy(click.Group):
    """A group that imports a command when it runs, so that `probe` loads no mock engines."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in COMMANDS:
            return None
        command = importlib.import_module(f"staticfire.cli.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            ctx.fail(f"no command {args[0]!r}; {did_you_mean(args[0], COMMANDS)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except StaticFireError as error:
            raise click.UsageError(str(error)) from error


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="staticfire")
def main() -> None:
    """Prove LLM fleets before launch: mock engines, a router, a readiness library."""
