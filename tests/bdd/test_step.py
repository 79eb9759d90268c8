"""Steps may be coroutines, and none goes unawaited."""

from __future__ import annotations

FEATURE = """
    Feature: f
      @id:one
      Scenario: a
        Given the step
"""


def test_an_async_step_runs_on_the_scenarios_clock(project):
    """An `async def` step is awaited; an hour costs nothing."""
    project.write(
        "conftest.py",
        """
        import asyncio
        from staticfire.bdd.step import given

        @given("the step")
        async def _(world):
            await asyncio.sleep(3600)
            assert world.seconds == 3601
        """,
    )
    project.write("f.feature", FEATURE)
    result = project.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*assert 3600*== 3601*"])


def test_an_async_generator_step_is_torn_down(project):
    """What follows `yield` runs after the scenario, on the same clock."""
    project.write(
        "conftest.py",
        """
        import asyncio
        from staticfire.bdd.step import given

        @given("the step")
        async def _(world):
            yield
            await asyncio.sleep(60)
            print("torn down at", world.seconds)
        """,
    )
    project.write("f.feature", FEATURE)
    result = project.run("-s")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*torn down at 60.0*"])


def test_a_raw_async_step_is_an_error(project):
    """pytest-bdd's own decorator would never await it, so that it passed whatever it asserts."""
    project.write(
        "conftest.py",
        """
        from pytest_bdd import given

        @given("the step")
        async def _():
            assert False
        """,
    )
    project.write("f.feature", FEATURE)
    result = project.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*f.feature:5: pytest-bdd's own @given never awaits an async*"])


def test_a_task_left_over_fails_the_scenario_by_name(project):
    """A scenario ends when its tasks do."""
    project.write(
        "conftest.py",
        """
        import asyncio
        from staticfire.bdd.step import given

        @given("the step")
        async def _(world):
            world.facts["task"] = asyncio.create_task(asyncio.sleep(1e6), name="orphan")
        """,
    )
    project.write("f.feature", FEATURE)
    result = project.run()
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*the scenario left tasks running: orphan*"])


def test_a_step_that_cannot_go_on_fails_at_once(project):
    """Nothing to wait for: the scenario fails, naming the step."""
    project.write(
        "conftest.py",
        """
        import asyncio
        from staticfire.bdd.step import given

        @given("the step")
        async def _():
            await asyncio.get_running_loop().create_future()
        """,
    )
    project.write("f.feature", FEATURE)
    result = project.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*Stuck: nothing can happen any more*the step at *"])


def test_every_step_of_the_library_has_an_example_that_matches(project):
    """`staticfire steps` shows nothing that would not run."""
    import importlib

    from staticfire.bdd.step import LIBRARY
    from staticfire.bdd.steps import MODULES

    for module in MODULES:
        importlib.import_module(module)
    lines = []
    library = [step for step in LIBRARY if step.module in MODULES]
    for number, step in enumerate(library):
        assert step.doc, step
        assert "{" not in step.example, step
        lines += [
            f"  @id:s{number}",
            f"  Scenario: number {number}",
            f"    {step.kind} {step.example}",
        ]
    project.write("f.feature", "Feature: f\n" + "\n".join(lines) + "\n")
    result = project.run("--collect-only", "-q")
    result.stdout.fnmatch_lines([f"*{len(library)} tests collected*"])
