"""Who serves what."""

from __future__ import annotations

import pytest

from policy_fleet import Ask
from staticfire import readiness
from staticfire.errors import WrongInput
from staticfire.readiness import Evidence, Verdict
from staticfire.router import Settings
from staticfire.router.aliases import read
from staticfire.router.breaker import BreakerSettings
from staticfire.router.crew import configured
from staticfire.router.policies import CacheAware
from staticfire.router.registry import Registry
from staticfire.router.worker import Worker, WorkerSpec

S = 1_000_000_000


class Watch(readiness.Watch):
    """A watch that is told what its engine is like."""

    def says(self, *models, routable=True, generation=1):
        self._keeper._record = readiness.Record(
            models=models, routable=routable, generation=generation,
            evidence=Evidence(Verdict.SERVING, 0, generation, named=True, models=models),
        )  # fmt: skip


def worker(place, *models, role="worker"):
    url = f"http://127.0.0.1:{place + 1}"
    made = Worker(
        f"w{place:02}", Watch(url), BreakerSettings(), place=place, spec=WorkerSpec(url, role=role)
    )
    if models:
        made.watch.says(*models)
    return made


def registry(*workers, **more):
    made = Registry(lambda _role: CacheAware(), **more)
    for one in workers:
        made.add(one)
        made.update(one)
    return made


def test_an_alias_is_a_pool_with_each_workers_own_name():
    """Workers of either model serve the alias, each under what it listed."""
    a, b, other = worker(0, "a"), worker(1, "b"), worker(2, "c")
    found = registry(a, b, other, aliases=read(("m=a", "m=b", "unused=z")))
    assert found.pool("m").names == {a: "a", b: "b"}
    assert found.served_models() == ("a", "b", "c", "m")
    assert found.knows("m")
    assert not found.knows("unused")


def test_an_alias_hides_no_model():
    """A worker that lists the alias's name itself is asked by it."""
    found = registry(worker(0, "a", "m"), aliases=read(("m=a",)))
    assert set(found.pool("m").names.values()) == {"m"}


def test_an_alias_makes_no_second_model():
    """A request without a model still has only one to go to."""
    assert registry(worker(0, "a"), aliases=read(("m=a",))).sole_model() == "a"
    assert registry(worker(0, "a", "b")).sole_model() is None


def test_roles_have_pools_of_their_own():
    """A prefill leg never answers for a decode leg; a model is served when both do."""
    prefill, decode = worker(0, "a", role="prefill"), worker(1, role="decode")
    found = registry(prefill, decode)
    assert found.pool("a") is None
    assert found.pool("a", "prefill").workers == (prefill,)
    assert (found.served_models(), found.missing()) == ((), ("decode",))
    decode.watch.says("a")
    found.update(decode)
    assert (found.served_models(), found.missing()) == (("a",), ())


@pytest.mark.parametrize(("generation", "why"), [(1, "cache"), (2, "least")])
def test_a_new_life_has_nothing_cached(generation, why):
    """Who left and came back keeps its cache; who was restarted does not."""
    one = worker(0, "a")
    found = registry(one)
    ask = Ask(prompt=b"You are a helpful assistant. " * 9)
    found.pool("a").choose(ask, (), 0)
    one.watch.says("a", routable=False)
    found.update(one)
    assert found.pool("a").choose(ask, (), 0) is None
    one.watch.says("a", generation=generation)
    found.update(one)
    assert found.pool("a").choose(ask, (), 0) is one
    assert found.pool("a").why == why


def test_who_is_removed_is_gone():
    """Its models are known no more, and a late record of it files nothing."""
    one, two = worker(0, "a"), worker(1, "b")
    found = registry(one, two)
    found.remove(one, S)
    one.watch.says("a", "c")
    found.update(one)
    assert (found.workers, found.worker("w00")) == ((two,), None)
    assert not found.knows("a")
    assert found.pool("a").workers == ()


@pytest.mark.parametrize("row", ["a", "=b", "a=", "a=a", ""])
def test_a_wrong_alias(row):
    """It names what it is to look like."""
    with pytest.raises(WrongInput, match="ALIAS=MODEL"):
        Settings(model_alias=(row,))


def test_a_worker_in_words(tmp_path):
    """A URL, then what is special about it; a key is never in the words."""
    (tmp_path / "key").write_text("from-file\n")
    environ = {"A_KEY": "from-env"}
    assert WorkerSpec.read("http://a:1") == WorkerSpec("http://a:1")
    found = WorkerSpec.read("http://a:1/ priority=2 key-env=A_KEY", environ)
    assert found == WorkerSpec("http://a:1", "from-env", 2)
    assert WorkerSpec.read(f"http://a:1 key-file={tmp_path}/key").key == "from-file"
    assert "from-env" not in repr(found)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "a URL like"),
        ("ftp://a", "a URL like"),
        ("http://a:1 prio=1", 'did you mean "priority"'),
        ("http://a:1 priority=high", "priority=N"),
        ("http://a:1 key-env=NO_SUCH_VARIABLE", "a variable that is set"),
    ],
)
def test_a_wrong_worker(text, words):
    """The flag, what was expected, what came."""
    with pytest.raises(WrongInput, match=words) as wrong:
        Settings(worker=(text,))
    assert "--" in str(wrong.value)


def test_the_default_key_is_for_configured_workers_without_their_own():
    """Each is asked with its own key, else with the one for all."""
    settings = Settings(
        worker_urls=("http://a:1", "http://a:1/"), worker=(WorkerSpec("http://b:1", "own", 1),),
        worker_api_key="all",
    )  # fmt: skip
    assert [(spec.url, spec.key) for spec in configured(settings)] == [
        ("http://a:1", "all"), ("http://a:1", "all"), ("http://b:1", "own"),
    ]  # fmt: skip


def test_a_listing_counts_before_its_worker_is_filed():
    """Between a worker's listing and its proof the model is known, and others may still come."""
    one = worker(0)
    found = registry(one)
    assert not found.knows("a")
    one.watch.says("a", routable=False)
    assert (found.knows("a"), found.all_listed()) == (True, False)
    found.update(one)
    assert (found.knows("a"), found.all_listed()) == (True, True)
