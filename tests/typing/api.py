"""The public interface as a user's type checker sees it: checked by mypy, never run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass

from staticfire import readiness
from staticfire.bdd.step import given, then, when
from staticfire.bdd.world import World
from staticfire.engine import (
    Loading,
    MockEngine,
    NeverAnswers,
    Refuses,
    Rule,
    Script,
    Serving,
    fault,
)
from staticfire.engine.actions import Action
from staticfire.engine.ask import Ask
from staticfire.judge import Answer, End, Judge
from staticfire.router import Router, Settings
from staticfire.stand.routers import RouterUnderTest


def a_script() -> Script:
    return Script(
        model="qwen",
        personality="vllm",
        life=[Refuses(seconds=12), Loading(seconds=352, chat=NeverAnswers()), Serving()],
        rules=[Rule("chat", "never answers", times=3)],
    )


@fault("typed example")
@dataclass(frozen=True, slots=True)
class Example:
    """A fault of a user's own."""

    times: int = 1

    def play(self, honest: Iterator[Action], ask: Ask) -> Iterator[Action]:
        del ask
        yield from honest


async def a_plain_test(
    mock_engine: Callable[..., Awaitable[MockEngine]],
    fleet: Callable[..., Awaitable[list[MockEngine]]],
    router: Callable[..., Awaitable[RouterUnderTest]],
    client: Callable[..., Judge],
    world: World,
) -> None:
    engine: MockEngine = await mock_engine("late", a_script())
    engines: list[MockEngine] = await fleet(16)
    url: str = (await router(policy="sticky")).url
    answer: Answer = await client(url).chat("qwen", stream=True)
    ended: End = answer.end
    at: float = world.seconds
    sessions: list[str | None] = [request.session for request in engine.journal.requests()]
    del engines, ended, at, sessions


@given('a thing "{name}"', example='a thing "a"')
async def _(world: World, name: str) -> None:
    await world.lane_engine(name)


@when("{count:d} things happen", example="3 things happen")
def _(count: int) -> None:
    del count


@then("all is well", example="all is well")
def _() -> None:
    pass


async def in_production() -> None:
    router = Router(Settings(worker_urls=("http://127.0.0.1:8000",), port=0, policy="sticky"))
    await router.start()
    evidence: readiness.Evidence = await readiness.probe(router.url, "qwen", accept="proven")
    verdict: readiness.Verdict = evidence.verdict
    waited: readiness.Waited = await readiness.wait_for([router.url], timeout=60.0)
    del verdict, waited
    await router.stop()
