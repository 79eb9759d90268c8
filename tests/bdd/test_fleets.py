"""Fleets in plain tests and in features: groups, files, what must hold of all engines."""

from __future__ import annotations

import pytest


def test_the_fixture_takes_a_number_groups_or_a_file(project):
    """Engines come in order; fields of a script are for whoever has none."""
    project.write(
        "fleets/night.toml",
        """
        [group.early]
        count = 2
        [group.late]
        binds = "12s"
        model = "llama"
        """,
    )
    project.write(
        "test_plain.py",
        """
        from staticfire.engine import Group, Script

        async def test_number(fleet):
            engines = await fleet(3, tokens=5)
            assert [engine.name for engine in engines] == ["e00", "e01", "e02"]
            assert engines[0].script == Script("qwen", tokens=5)

        async def test_groups(fleet, world):
            own = Script("llama")
            engines = await fleet([Group("a", 2), Group("b", 1, own, binds=12)], tokens=5)
            assert [engine.name for engine in engines] == ["a-00", "a-01", "b"]
            assert [engine.script.tokens for engine in engines] == [5, 5, 13]
            assert [engine.phase().name for engine in engines] == ["serving", "serving", "refuses"]
            assert list(world.engines.values()) == engines

        async def test_a_file(fleet):
            engines = await fleet("fleets/night.toml")
            assert [engine.script.model for engine in engines] == ["qwen", "qwen", "llama"]
        """,
    )
    project.run().assert_outcomes(passed=3)


def test_invariants_are_plain_asserts(project):
    """`client().sent` has the ids of all that was asked in a test."""
    project.write(
        "test_plain.py",
        """
        from staticfire.engine import invariants as holds, verdicts

        async def test_it(fleet, router, client):
            engines = await fleet(4)
            started = await router(policy="round_robin")
            client_of_router = client()
            import asyncio
            await asyncio.sleep(1)
            for _ in range(8):
                assert (await client().chat("qwen")).ok
            holds.none_lost(engines, client().sent)
            holds.none_twice(engines)
            holds.none_before_ready(engines)
            holds.spread_is_even(engines)
            assert len(client().sent) == 8
            assert not verdicts.on_client(engines[0])
        """,
    )
    project.run().assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ("Then no request was lost", "*expected requests to be sent; there were none*"),
        (
            """When engine "a-00" answers chat with 503
                And a JSON request is sent to engine "a-00"
                Then no request was lost""",
            "*1 were lost:\n*judge-1: 503 whole at a-00",
        ),
        (
            """When 3 JSON requests are sent one after another
                Then the requests are spread within 1 of even""",
            "*name the engine, or start a router*",
        ),
        (
            """When a JSON request is sent to engine "a-00"
                And a JSON request is sent to engine "a-00"
                Then the requests are spread within 1 of even""",
            "*differ by 2:*",
        ),
        (
            """When a client that never waits asks engine "a-00\"""",
            "*no client 'never waits'; did you mean*",
        ),
        (
            """When a client that behaves asks engine "a-00"
                Then engine "a-00" finds that its client retried a 4xx""",
            "*to find that its client retried a 4xx; it finds:*no fault*",
        ),
        (
            """When engine "a-00" answers chat with 400
                And a client that retries a 4xx asks engine "a-00"
                Then engine "a-00" finds no fault with its client""",
            "*it finds:*retried a 4xx (#1, #2): the same request again after 400*",
        ),
    ],
)
def test_a_broken_promise_of_a_fleet_says_what_came(project, steps, message):
    """Each step can fail, and says what was expected and what came."""
    project.write(
        "f.feature",
        f"""
        Feature: f
          @id:one
          Scenario: one
            Given a fleet of
              | group | count |
              | a     | 2     |
            {steps}
        """,
    )
    result = project.run()
    result.assert_outcomes(failed=1)
    lines = (
        message.split("\n") if "\n" in message else [part for part in message.split(":*") if part]
    )
    result.stdout.fnmatch_lines([f"*{line.strip('*')}*" for line in lines])


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("| group | cuont |\n| a | 2 |", "*expected the columns group, *'cuont'; did you mean*count*"),
        ("| group | count |\n| a | two |", "*expected a whole number as count, found 'two'*"),
        ("| group | binds |\n| a | soon |", "*group 'a': expected a duration*"),
        ("| group | life |\n| a | servs |", "*expected a phase*did you mean*serves*"),
        ("| count |\n| 2 |", "*expected a name*"),
    ],
)  # fmt: skip
def test_a_wrong_table_is_one_clear_error(project, table, message):
    """What was expected, what was found, the nearest."""
    rows = "\n".join(f"              {row}" for row in table.split("\n"))
    project.write(
        "f.feature",
        "Feature: f\n  @id:one\n  Scenario: one\n    Given a fleet of\n" + rows + "\n",
    )
    result = project.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([message])
