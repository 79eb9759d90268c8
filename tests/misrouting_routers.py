"""Our router with one bug of routing planted in each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from staticfire.router.loads import EngineLoad
from staticfire.router.outcome import Outcome
from staticfire.stand.routers.bundled import BundledRouter


class CountsNoLoad(BundledRouter):
    """What is under way at a worker does not count."""

    def __init__(self, workers: Sequence[str], settings: Mapping[str, Any]) -> None:
        super().__init__(workers, settings)
        self.router.registry.ledger._load = lambda _worker, _by: None  # type: ignore[method-assign]


class KeepsLoad(BundledRouter):
    """What ended counts for ever."""

    def __init__(self, workers: Sequence[str], settings: Mapping[str, Any]) -> None:
        super().__init__(workers, settings)
        ledger = self.router.registry.ledger
        honest = ledger.settled

        def settled(worker: Any, outcome: Outcome, now: int, retry_after: int = 0) -> None:
            honest(worker, outcome, now, retry_after)
            worker.in_flight += 1

        ledger.settled = settled  # type: ignore[method-assign]


class ForgetsSheds(BundledRouter):
    """An engine that sheds looks like one with nothing to do."""

    def __init__(self, workers: Sequence[str], settings: Mapping[str, Any]) -> None:
        super().__init__(workers, settings)
        ledger = self.router.registry.ledger
        honest = ledger.settled

        def settled(worker: Any, outcome: Outcome, now: int, retry_after: int = 0) -> None:
            del retry_after
            honest(worker, Outcome.success if outcome is Outcome.backpressure else outcome, now)

        ledger.settled = settled  # type: ignore[method-assign]


class TakesEveryoneForIdle(BundledRouter):
    """Engines' own accounts are read as: nothing runs, nothing waits."""

    def __init__(self, workers: Sequence[str], settings: Mapping[str, Any]) -> None:
        super().__init__(workers, settings)
        ledger = self.router.registry.ledger
        honest = ledger.account

        def account(worker: Any, said: EngineLoad | None, now: int) -> None:
            honest(worker, said and EngineLoad(0, 0), now)

        ledger.account = account  # type: ignore[method-assign]


class TakesTheFirst(BundledRouter):
    """Whoever stands first in the row gets everything."""

    def __init__(self, workers: Sequence[str], settings: Mapping[str, Any]) -> None:
        super().__init__(workers, {**settings, "policy": "round_robin"})
        registry = self.router.registry
        honest = registry._make_policy

        def first(role: str) -> Any:
            policy: Any = honest(role)
            policy.choose = lambda _asked, tried, _now: policy.lineup.after(0, tried)
            return policy

        registry._make_policy = first


class LeavesOut(BundledRouter):
    """Settings that ask for care are not heard."""

    def __init__(self, workers: Sequence[str], settings: Mapping[str, Any]) -> None:
        heard = {name: settings[name] for name in settings if name != "sticky_rebalance_idle_secs"}
        careless = {"hash_load_factor": 1000.0, "wedge_after_secs": 100_000.0}
        super().__init__(workers, heard | careless)


class LooksRarely(BundledRouter):
    """Workers that do not serve yet are looked at once a minute."""

    def __init__(self, workers: Sequence[str], settings: Mapping[str, Any]) -> None:
        super().__init__(workers, {**settings, "startup_check_interval_secs": 60.0})


class HangsUp(BundledRouter):
    """A worker that drains or is removed loses its connections at once."""

    def __init__(self, workers: Sequence[str], settings: Mapping[str, Any]) -> None:
        super().__init__(workers, settings)
        ledger = self.router.registry.ledger
        honest = ledger.drain

        def drain(worker: Any, now: int, *, draining: bool = True) -> None:
            honest(worker, now, draining=draining)
            worker.lines.hang_up()

        ledger.drain = drain  # type: ignore[method-assign]


class OnlyAdds(BundledRouter):
    """A list of workers adds, and takes nobody away; all have one priority."""

    def __init__(self, workers: Sequence[str], settings: Mapping[str, Any]) -> None:
        super().__init__(workers, settings)
        crew = self.router.crew
        honest = crew.add

        def add(spec: Any) -> Any:
            return honest(replace(spec, priority=0))

        def all_of(specs: Iterable[Any]) -> None:
            for spec in specs:
                if crew.find(spec) is None:
                    honest(spec)

        crew.add = add  # type: ignore[method-assign]
        crew.replace = all_of  # type: ignore[method-assign]


class IgnoresTheNew(BundledRouter):
    """A worker that is added at run time is never looked at."""

    def __init__(self, workers: Sequence[str], settings: Mapping[str, Any]) -> None:
        super().__init__(workers, settings)
        crew = self.router.crew
        honest = crew.add

        def add(spec: Any) -> Any:
            added = honest(spec)
            crew._watches[added].cancel()
            return added

        crew.add = add  # type: ignore[method-assign]


class Guesses(BundledRouter):
    """A request without a model goes to any, and an alias goes to the worker as it is."""

    def __init__(self, workers: Sequence[str], settings: Mapping[str, Any]) -> None:
        super().__init__(workers, settings)
        registry = self.router.registry
        honest = registry._names
        registry.sole_model = lambda: min(registry.known(), default=None)  # type: ignore[method-assign]
        registry._names = lambda models: {name: name for name in honest(models)}  # type: ignore[method-assign]


class GuessesNothing(BundledRouter):
    """A request without a model is never understood."""

    def __init__(self, workers: Sequence[str], settings: Mapping[str, Any]) -> None:
        super().__init__(workers, settings)
        self.router.registry.sole_model = lambda: None  # type: ignore[method-assign]
