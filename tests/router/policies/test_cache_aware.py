"""A worker that has seen the beginning of the prompt."""

from __future__ import annotations

import pytest

from policy_fleet import Ask, enter, fleet, give
from policy_fleet import take as give_back
from staticfire.router.policies import CacheAware, PolicySettings
from staticfire.router.policies.prefixes import Prefixes, path_of

SYSTEM = b"You are a helpful assistant. " * 20
OTHER = b"Translate what follows into Latin. " * 20


def aware(workers, **settings):
    return enter(CacheAware(PolicySettings(**settings)), workers)


def ask(policy, prompt, tried=()):
    worker = give(policy, Ask(prompt=prompt), tried)
    give_back(policy, worker)
    return worker.id, policy.why


def test_a_conversation_stays():
    """Each turn begins with all of the turns before it, and goes where they went."""
    policy = aware(fleet(4))
    home, why = ask(policy, SYSTEM)
    assert why == "least"
    for turns in range(1, 5):
        assert ask(policy, SYSTEM + b"user: and then? " * 8 * turns) == (home, "cache")


def test_a_new_prompt_goes_by_load_whatever_is_cached():
    """A worker with a long history and nothing to do beats an empty one that is busy (B058)."""
    workers = fleet(2, 0, 30)
    policy = aware(workers)
    for number in range(50):
        policy.choose(Ask(prompt=b"%d " % number * 100), {workers[1]}, 0)
    assert ask(policy, OTHER) == ("w00", "least")


def test_a_short_common_beginning_is_not_enough():
    """Under the threshold the prompt counts as new."""
    policy = aware(fleet(2))
    assert ask(policy, SYSTEM) == ("w00", "least")
    assert ask(policy, SYSTEM[:128] + OTHER * 4) == ("w01", "least")


@pytest.mark.parametrize(("load", "expected"), [(64, "cache"), (65, "overloaded")])
def test_an_overloaded_worker_is_spared(load, expected):
    """With 64 more under way than the least loaded, and 1.5 times as many, the cache gives way."""
    workers = fleet(2)
    policy = aware(workers)
    ask(policy, SYSTEM)
    workers[0].load = load
    policy.loaded(workers[0], load)
    assert ask(policy, SYSTEM) == ("w00" if expected == "cache" else "w01", expected)


def test_who_rests_does_not_count():
    """A dead worker with no load makes the others no more unbalanced than they are (B056)."""
    workers = fleet(3)
    policy = aware(workers, balance_abs=10)
    home, _ = ask(policy, SYSTEM)
    for worker, load in zip(workers, (42, 40, 0), strict=True):
        worker.load = load
        policy.loaded(worker, load)
    policy.leave(workers[2])
    assert ask(policy, SYSTEM) == (home, "cache")


def test_the_cache_survives_a_rest_and_no_new_life():
    """Who rested is asked again for what it has; who lost its cache is not."""
    workers = fleet(2)
    policy = aware(workers)
    assert ask(policy, SYSTEM)[0] == "w00"
    policy.leave(workers[0])
    policy.enter(workers[0])
    assert ask(policy, SYSTEM) == ("w00", "cache")
    policy.leave(workers[0])
    policy.forget(workers[0])
    policy.enter(workers[0])
    assert ask(policy, SYSTEM)[1] == "least"


def test_a_retry_goes_to_another_and_leaves_its_cache_there():
    """Of those not tried; nobody when all were."""
    workers = fleet(2)
    policy = aware(workers)
    ask(policy, SYSTEM)
    assert ask(policy, SYSTEM, {workers[0]}) == ("w01", "least")
    assert policy.choose(Ask(prompt=SYSTEM), set(workers), 0) is None


def test_the_least_loaded_of_those_with_the_cache():
    """A beginning that several have goes to the one with the least under way."""
    workers = fleet(3)
    policy = aware(workers)
    ask(policy, SYSTEM)
    ask(policy, SYSTEM, {workers[0]})
    workers[0].load = 5
    policy.loaded(workers[0], 5)
    workers[1].load = 1
    policy.loaded(workers[1], 1)
    assert ask(policy, SYSTEM) == ("w01", "cache")


def test_a_request_without_a_prompt_goes_by_load():
    """Nothing to be cached, nothing to go by."""
    policy = aware(fleet(2, 3, 1))
    assert ask(policy, b"") == ("w01", "least")


def test_the_tree_forgets_what_was_used_least_recently():
    """No more text than the limit; a beginning outlives its continuations."""
    tree = Prefixes(1024)
    for number in range(20):
        tree.add(path_of(SYSTEM[:256] + b"%03d" % number * 40), 0)
        assert tree.held <= 1024
    assert [end for end, _ in tree.longest(path_of(SYSTEM))] == [256, 128]


def test_a_long_text_has_few_nodes():
    """Blocks grow with the distance from the beginning: a megabyte is some 150 look-ups."""
    path = path_of(b"x" * (1 << 20))
    assert 100 < len(path) < 200
    assert path[-1][1] == 1 << 20
