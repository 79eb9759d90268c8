"""Tests of groups: names, times of binding, ports."""

from __future__ import annotations

import pytest

from staticfire.clock.virtual import run
from staticfire.engine import Fleet, Group, Loading, Refuses, Script, Serving
from staticfire.engine.groups import members
from staticfire.errors import WrongInput


def test_engines_are_named_after_their_group():
    """A group of one is called by its name alone; numbers have two digits at least."""
    assert Group("sole").names == ("sole",)
    assert Group("late", 3).names == ("late-00", "late-01", "late-02")
    assert Group("many", 101).names[-1] == "many-100"


@pytest.mark.parametrize(
    ("binds", "count", "times"),
    [
        (0, 2, (0, 0)),
        (12, 2, (12, 12)),
        ((12, 172), 5, (12, 52, 92, 132, 172)),
        ((12, 172), 1, (12,)),
        ([0, 1], 4, (0, 0.333333333, 0.666666667, 1)),
    ],
)
def test_a_group_binds_at_even_distances(binds, count, times):
    """The first and the last engine bind at the times that were given."""
    assert Group("g", count, binds=binds).bind_times(7) == times


def test_random_times_come_from_the_seed():
    """One seed gives one spread within the bounds; another gives another."""
    group = Group("g", 50, binds=(10, 20), spread="random")
    times = group.bind_times(7)
    assert times == group.bind_times(7) != group.bind_times(8)
    assert 10 <= min(times) < 11
    assert 19 < max(times) <= 20
    assert list(times) != sorted(times)


def test_a_life_begins_when_its_engine_binds():
    """Until then it refuses; who binds at once has its script as it stands."""
    script = Script(life=[Loading(seconds=30)])
    now, later = members([Group("g", 2, script, binds=(0, 5))], seed=0)
    assert now.script == script
    assert later.script.life == (Refuses(seconds=5), Loading(seconds=30))


def test_a_group_without_a_script_does_as_the_fleet_does():
    """What holds for all is said once; a group that binds late and has no life serves then."""
    (late,) = members([Group("g", binds=5)], seed=0, default=Script(model="qwen"))
    assert late.script == Script(model="qwen", life=[Refuses(seconds=5), Serving()])


def test_ports_follow_the_first():
    """A launch script can know them; without one the kernel chooses."""
    group = Group("g", 3, port=8001)
    assert [member.port for member in members([group], seed=0)] == [8001, 8002, 8003]
    assert [member.port for member in members([Group("g", 2)], seed=0)] == [0, 0]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"name": ""}, "group: name: expected a name, found ''"),
        ({"count": 0}, 'group "g": count: expected 1 to 65535 engines, found 0'),
        ({"count": 100_000}, 'group "g": count: expected 1 to 65535 engines, found 100000'),
        ({"binds": -1}, 'group "g": binds: expected a time, or the first and a later last one'),
        ({"binds": (5, 2)}, r'group "g": binds: .* found \(5, 2\)'),
        ({"binds": (1, 2, 3)}, 'group "g": binds: expected one time, or the first and the last'),
        ({"spread": "randm"}, 'group "g": spread: .*did you mean "random"'),
        ({"port": 65530, "count": 10}, 'group "g": port: expected 0, or a port with room'),
    ],
)
def test_a_wrong_group_is_one_clear_error(fields, message):
    """Where, what was expected, what was found."""
    with pytest.raises(WrongInput, match=f"^{message}"):
        Group(**{"name": "g", **fields})


def test_two_groups_may_not_share_an_engines_name():
    """Journals and answers go by names."""
    with pytest.raises(WrongInput, match=r'"a-01", which is an engine of the group "a"'):
        members([Group("a", 2), Group("a-01")], seed=0)


def test_a_fleet_of_groups_serves_under_their_names(http):
    """Each engine binds at its time and says its name."""

    async def main():
        groups = [Group("early"), Group("late", 2, binds=(12, 20))]
        async with Fleet.of_groups(groups, seed=3) as fleet:
            assert [engine.name for engine in fleet] == ["early", "late-00", "late-01"]
            assert [engine.phase().name for engine in fleet] == ["serving", "refuses", "refuses"]
            heard = await http.talk(fleet["early"], http.chat(max_tokens=1))
            assert heard.json()["choices"][0]["message"]["content"] == " early"

    run(main())
