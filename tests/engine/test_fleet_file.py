"""Tests of fleet files."""

from __future__ import annotations

import pytest

from staticfire.engine import Group, NeverAnswers, Rule, Script, Serving
from staticfire.engine.fleet_file import FleetFile, load_fleet, parse_fleet
from staticfire.engine.phases import Loading
from staticfire.errors import WrongInput

WHOLE = """\
seed = 7
model = "qwen"

[group.early]
count = 2

[group.late]
count = 3
binds = ["12s", "2 min 52 s"]
spread = "random"
model = "llama"
life = [
  { phase = "loading", for = "30s" },
  { phase = "serving" },
]

[[group.late.rule]]
on = "chat"
times = 1
do = "never answers"

[group.fixed]
binds = 5
port = 8001
"""


def test_a_file_is_groups_and_a_seed():
    """What stands at the top holds for every group that does not say otherwise."""
    late = Script(
        "llama",
        life=[Loading(seconds=30), Serving()],
        rules=[Rule("chat", NeverAnswers(), times=1)],
    )
    assert parse_fleet(WHOLE) == FleetFile(
        (
            Group("early", 2, Script("qwen")),
            Group("late", 3, late, binds=(12, 172), spread="random"),
            Group("fixed", 1, Script("qwen"), binds=5, port=8001),
        ),
        seed=7,
    )


def test_defaults_hold_where_the_file_says_nothing():
    """The fixture's model is not the command's."""
    (group,) = parse_fleet("[group.a]\ncount = 1\n", defaults={"model": "qwen"}).groups
    assert group.script == Script("qwen")


def test_a_group_may_have_a_script_file_beside_the_fleets(tmp_path):
    """Its own keys replace the file's."""
    (tmp_path / "busy.toml").write_text('model = "qwen"\ntokens = 20\n')
    (tmp_path / "fleet.toml").write_text(
        'model = "x"\n[group.a]\nscript = "busy.toml"\ntokens = 5\n'
    )
    (group,) = load_fleet(tmp_path / "fleet.toml").groups
    assert group.script == Script("qwen", tokens=5)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("seed = 7", "sed = 7", 'x:1: sed: .*did you mean "seed"'),
        ("seed = 7", 'seed = "7"', "x:1: seed: expected a whole number, found '7'"),
        ('model = "qwen"', "model = 3", "x:2: model: expected text, found 3"),
        ("count = 2", "cuont = 2", 'x:5: group.early.cuont: .*did you mean "count"'),
        ("count = 2", "count = 0", "x:5: group.early.count: expected 1 to 65535 engines, found 0"),
        ('["12s", "2 min 52 s"]', '["12s"]', "x:9: group.late.binds: expected one time, or the f"),
        ('["12s", "2 min 52 s"]', '"12 parsecs"', "x:9: group.late.binds: expected a duration"),
        ('["12s", "2 min 52 s"]', '["12s", "3s"]', "x:9: group.late.binds: expected a time, or"),
        ('"random"', '"randm"', 'x:10: group.late.spread: .*did you mean "random"'),
        ('"loading"', '"laoding"', r'x:13: group.late.life\[0\].phase: .*mean "loading"'),
        ('on = "chat"', 'on = "chatt"', r'x:18: group.late.rule\[0\].on: .*did you mean "chat"'),
        ('"never answers"', '"never"', r'x:20: group.late.rule\[0\].do: .*"never answers"'),
        ("port = 8001", "port = 80000", "x:24: group.fixed.port: expected 0, or a port with room"),
        ("[group.fixed]", "[grup.fixed]", 'x:22: grup: .*did you mean "group"'),
        ("[group.fixed]", "[group.early-00]", ".*, found .*early-00"),
        ("port = 8001", "port = ", "x:24: expected TOML, found Invalid value"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_with_line_key_and_nearest(old, new, message):
    """Every wrong value is one error: file:line: key: expected, found, what to do."""
    assert old in WHOLE
    with pytest.raises(WrongInput, match=f"^{message}"):
        parse_fleet(WHOLE.replace(old, new, 1), "x")


def test_a_file_without_a_group_says_what_to_add():
    """A fleet of nobody would look like a fleet that came up."""
    with pytest.raises(WrongInput, match=r"at least one group, found none; add a table"):
        parse_fleet('model = "qwen"\n', "x")


def test_a_missing_script_file_is_named(tmp_path):
    """The path that was looked for, beside the fleet's file."""
    (tmp_path / "fleet.toml").write_text('[group.a]\nscript = "nowhere.toml"\n')
    with pytest.raises(WrongInput, match=r"nowhere.toml: expected a readable TOML file"):
        load_fleet(tmp_path / "fleet.toml")
