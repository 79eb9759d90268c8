"""The pytest plugin: it finds features, and loads the parts that run them.

Nothing heavy is imported without a lane; `staticfire.bdd` does the work.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from staticfire.bdd.chosen import router_of
from staticfire.bdd.keys import BINDING, NO_LANE, PACKAGED, SESSION

pytest_plugins = (
    "staticfire.bdd.options",
    "staticfire.bdd.fixtures",
    "staticfire.bdd.running",
    "staticfire.bdd.cucumber",
)


def pytest_configure(config: pytest.Config) -> None:
    config.args = [_packaged(arg) for arg in config.args]


def _packaged(arg: str) -> str:
    """`staticfire.features` as a path, so that `--pyargs` finds it in a checkout too."""
    head, colons, tail = arg.partition("::")
    package, slash, file = head.partition("/")
    if package != PACKAGED:
        return arg
    from staticfire.bdd.collect import features_dir

    return f"{features_dir()}{slash}{file}{colons}{tail}"


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if file_path.suffix != ".feature":
        return None
    from staticfire.bdd.collect import FeatureFile, packaged

    config = parent.config
    ours = packaged(file_path)
    own = config.getini("staticfire_features")
    if own or SESSION not in config.stash:
        inside = any(file_path.is_relative_to(folder) for folder in own)
        if not inside and not ours and not parent.session.isinitpath(file_path):
            return None
    if ours and not file_path.is_relative_to(config.rootpath):
        nodeid = f"{PACKAGED}/{file_path.name}"
        return FeatureFile.from_parent(parent, path=file_path, nodeid=nodeid)
    return FeatureFile.from_parent(parent, path=file_path)


@pytest.hookimpl(tryfirst=True)
def pytest_bdd_apply_tag(tag: str, function: Any) -> bool | None:
    """In features that we collect our tags are values; a project's own stay pytest markers."""
    del function
    if not BINDING.get():
        return None
    from staticfire.bdd.tags import LEVELS, PLAIN

    return True if ":" in tag or tag in LEVELS or tag in PLAIN else None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    session = metafunc.config.stash.get(SESSION, None)
    if session is None or len(session.asked.routers) < 2:
        return
    if "router_name" not in metafunc.fixturenames:
        if getattr(metafunc.function, "staticfire_tags", None) is None:
            return
        metafunc.fixturenames.append("router_name")
    metafunc.parametrize("router_name", session.asked.routers)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    from staticfire.bdd.tags import tags_of

    session = config.stash.get(SESSION, None)
    if session is not None:
        _select(config, items)
    for item in items:
        tags = tags_of(item)
        if tags is None:
            continue
        if tags.realtime:
            item.add_marker(pytest.mark.realtime)
        if session is None:
            item.add_marker(pytest.mark.skip(reason=NO_LANE))
            continue
        from staticfire.bdd.marking import mark

        mark(item, tags, session, router_of(item, session))


def _select(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the scenarios of a profile or by their ids, then those of a shard.

    Raises `UsageError` for an id that was not collected.
    """
    from staticfire.bdd.profiles import PROFILES, parse_shard, shard
    from staticfire.bdd.tags import tags_of

    profile, part = config.getoption("engine_profile"), config.getoption("engine_shard")
    ids = set(config.getoption("engine_id"))
    if profile is None and part is None and not ids:
        return
    seen = {tags.id for item in items if (tags := tags_of(item)) is not None}
    if ids - seen:
        raise pytest.UsageError(f"--engine-id: no scenario {', '.join(sorted(ids - seen))} here")
    kept = []
    for item in items:
        tags = tags_of(item)
        claimed = profile is None or (
            tags is not None
            and tags.routed
            and not tags.bundled
            and PROFILES[profile](tags, item.path.stem)
        )
        if claimed and (not ids or (tags is not None and tags.id in ids)):
            kept.append(item)
    places = shard(kept, _known_as, parse_shard(part))
    kept = [item for place, item in enumerate(kept) if place in places]
    chosen = set(kept)
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = kept


def _known_as(item: pytest.Item) -> str:
    """A scenario by its id: node ids differ with the folder from which pytest runs."""
    from staticfire.bdd.tags import tags_of

    tags = tags_of(item)
    return f"{tags.id} {item.name}" if tags is not None else item.nodeid
