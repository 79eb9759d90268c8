"""Tests of the fault that is none."""

from __future__ import annotations

from staticfire.clock.virtual import run
from staticfire.engine import Honest, Loading, MockEngine, Rule, Script


def test_an_honest_rule_lifts_what_the_phase_does(http):
    """While loading, a rule for the honest answer lets one chat through."""

    async def main():
        script = Script(life=[Loading()], rules=[Rule("chat", Honest(), times=1)])
        async with MockEngine(script) as engine:
            return [(await http.talk(engine, http.chat())).status for _ in range(2)]

    assert run(main()) == [200, 503]
