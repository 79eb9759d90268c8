"""Which rule acts on a request: a pure step over the rules that are left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from staticfire.clock import ns
from staticfire.engine.script import Rule

__all__ = ["Live", "Rules"]


@dataclass(frozen=True, slots=True)
class Live:
    """A rule in force: until when (ns) and how often it may still act."""

    rule: Rule
    until: int | None
    left: int | None


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules in force, the first match first."""

    live: tuple[Live, ...] = ()

    @classmethod
    def of(cls, rules: Sequence[Rule], now: int) -> Rules:
        """A script's rules, all counting from `now`."""
        return cls(tuple(_live(rule, now) for rule in rules))

    def add(self, rule: Rule, now: int) -> Rules:
        """With one more rule, before the older ones."""
        return Rules((_live(rule, now), *self.live))

    def first(self, method: str, path: str, now: int) -> Rule | None:
        """The rule that would act on a request at `now`."""
        return self.take(method, path, now)[0]

    def take(self, method: str, path: str, now: int) -> tuple[Rule | None, Rules]:
        """The rule that acts on a request at `now`, and the rules left after it."""
        for index, live in enumerate(self.live):
            if live.until is not None and now >= live.until:
                continue
            if not live.rule.matches(method, path):
                continue
            if live.left is None:
                return live.rule, self
            rest = () if live.left == 1 else (replace(live, left=live.left - 1),)
            return live.rule, Rules((*self.live[:index], *rest, *self.live[index + 1 :]))
        return None, self


def _live(rule: Rule, now: int) -> Live:
    until = None if rule.seconds is None else now + ns(rule.seconds)
    return Live(rule, until, rule.times)
