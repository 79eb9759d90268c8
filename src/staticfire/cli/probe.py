"""`staticfire probe`: ask one engine whether a request sent now would be answered."""

from __future__ import annotations

import json

import click

from staticfire import clock, readiness
from staticfire.cli._key import key_options
from staticfire.readiness.running import leave, run_now
from staticfire.readiness.verdict import Verdict

__all__ = ["command"]

EXIT = {
    Verdict.SERVING: 0,
    Verdict.LISTING: 3,
    Verdict.BUSY: 3,
    Verdict.UNREACHABLE: 4,
    Verdict.BROKEN: 4,
    Verdict.MISCONFIGURED: 5,
}
"""A probe has no latch, so that busy is 3."""

DO = {
    Verdict.SERVING: "",
    Verdict.LISTING: "it is still coming up or stuck: ask again, or give it a longer --deadline",
    Verdict.BUSY: "ask again{later}",
    Verdict.UNREACHABLE: "start the engine, or correct the host and the port",
    Verdict.BROKEN: "look into the engine's log",
    Verdict.MISCONFIGURED: "correct the model, the key or the URL; waiting will not help",
}


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("url")
@click.option("--model", metavar="M", help="The model to ask; without it the first listed one.")
@click.option(
    "--deadline",
    type=click.FloatRange(min=0, min_open=True),
    default=8.0,
    show_default=True,
    metavar="S",
    help="Seconds for all of it: resolve, connect, write, read.",
)
@click.option(
    "--accept",
    default="proven",
    show_default=True,
    metavar="RULE",
    help="answered: any status below 500. proven: a user's request would be served. "
    "strict: a 200 from that very model.",
)
@click.option(
    "--kind",
    default="auto",
    show_default=True,
    metavar="KIND",
    help="Which route is asked: chat, completion, embeddings; auto: by what the list says.",
)
@key_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(
    url: str,
    model: str | None,
    deadline: float,
    accept: str,
    kind: str,
    api_key_env: str | None,
    api_key_file: str | None,
    as_json: bool,
) -> None:
    """Ask the engine at URL whether a request sent now would be answered.

    \b
    Exit status:
      0  serving
      3  listing or busy: it is coming up, ask again
      4  unreachable, broken or cut
      5  misconfigured: waiting will not help
      2  the command line is wrong
    """  # noqa: D301 - the backslash is click's own mark
    headers = readiness.key_headers(env=api_key_env, file=api_key_file)
    start = clock.current().now()
    evidence = run_now(
        readiness.probe(url, model, deadline=deadline, accept=accept, kind=kind, headers=headers)
    )
    took = clock.seconds(clock.current().now() - start)
    verdict, code = evidence.verdict, EXIT[evidence.verdict]
    pause = None if evidence.retry_after is None else clock.seconds(evidence.retry_after)
    do = DO[verdict].format(later="" if pause is None else f" in {pause:g} s")
    asked = evidence.model or model
    if as_json:
        page = {
            "verdict": str(verdict),
            "exit": code,
            "url": url,
            "model": asked,
            "models": list(evidence.models),
            "accept": accept,
            "status": evidence.status,
            "reason": evidence.reason,
            "paused": evidence.paused,
            "do": do,
            "retry_after": pause,
            "seconds": round(took, 3),
        }
        click.echo(json.dumps(page))
    elif verdict is Verdict.SERVING:
        click.echo(f"{verdict}: {asked} at {url}: {evidence.reason} after {took:.2f} s")
    else:
        of = f"an answer of {asked}" if asked else "an answer"
        click.echo(
            f"{verdict}: {url}: expected {of} within {deadline:g} s, found: {evidence.reason}; {do}"
        )
    leave(code)
