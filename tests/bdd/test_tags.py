"""Tags are closed lists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from staticfire.bdd.tags import GPUS, LEVELS, NEEDS, OSES, PLAIN, SOURCES, read_tags


def test_every_kind_of_tag_is_read():
    """A scenario's tags become one value."""
    tags, wrong = read_tags(
        {"id:a-b", "must", "needs:chat", "needs:clock", "os:linux", "gpu:none", "case:B031",
         "readiness:34", "rfc:9112-6.3", "realtime", "bundled", "slow"},
        registered=["slow"],
    )  # fmt: skip
    assert wrong == []
    assert (tags.id, tags.level, tags.realtime, tags.bundled) == ("a-b", "must", True, True)
    assert tags.needs == {"chat", "clock"}
    assert (tags.oses, tags.gpus, tags.other) == ({"linux"}, {"none"}, {"slow"})
    assert tags.sources == {"case:B031", "readiness:34", "rfc:9112-6.3"}


@pytest.mark.parametrize(
    ("tag", "advice"),
    [
        ("needs:clok", 'did you mean "clock"?'),
        ("os:linus", 'did you mean "linux"?'),
        ("mus", 'did you mean "must"?'),
        ("id:Not_This", "lower-case words"),
        ("case:31", "must match"),
        ("speed:fast", "unknown tag"),
    ],
)
def test_an_unknown_tag_is_wrong_and_the_nearest_is_named(tag, advice):
    """A mistyped tag would silently change where a scenario runs."""
    _, wrong = read_tags({tag})
    assert len(wrong) == 1
    assert advice in wrong[0]


def test_one_id_and_one_level():
    """Two ids or two levels cannot both be right."""
    _, wrong = read_tags({"id:a", "id:b", "must", "should"})
    assert wrong == ["more than one @id: a, b", "more than one level: must, should"]


def test_every_acceptance_scenario_of_readiness_has_a_promise():
    """The public list has 68; each is the source of a scenario, and there is no 69th."""
    folder = Path(__file__).parents[2] / "features"
    found = set()
    for path in sorted(folder.glob("*.feature")):
        found |= {int(n) for n in re.findall(r"@readiness:(\d+)\b", path.read_text("utf-8"))}
    assert found == set(range(1, 69))


def test_the_reference_names_every_tag():
    """docs/reference/tags.md and the closed lists are one."""
    page = (Path(__file__).parents[2] / "docs" / "reference" / "tags.md").read_text()
    plain = [*LEVELS, *PLAIN]
    valued = [f"needs:{need}" for need in NEEDS]
    valued += [f"os:{name}" for name in OSES] + [f"gpu:{name}" for name in GPUS]
    valued += [f"{source}:" for source in SOURCES] + ["id:"]
    missing = [tag for tag in (*plain, *valued) if f"`@{tag}" not in page]
    assert missing == []
