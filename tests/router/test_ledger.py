"""Load and standing, kept from choice to end."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_fleet import ASKED
from staticfire import readiness
from staticfire.router.breaker import BreakerSettings
from staticfire.router.ledger import Ledger
from staticfire.router.loads import EngineLoad
from staticfire.router.outcome import Outcome
from staticfire.router.policies import POLICIES, LeastLoad, PolicySettings, RoundRobin
from staticfire.router.pool import Pool
from staticfire.router.standing import Standing
from staticfire.router.wedged import Sign
from staticfire.router.worker import Worker, WorkerSpec

S = 1_000_000_000


class Stand:
    """A pool of workers that serve, with its ledger."""

    def __init__(self, count=2, policy=LeastLoad, cap=None, priorities=()):
        self.ledger = Ledger(60 * S, 10 * S)
        self.pool = Pool("qwen", lambda: policy(PolicySettings(seed=1)))
        self.workers = []
        for place in range(count):
            url = f"http://127.0.0.1:{place + 1}"
            priority = priorities[place] if priorities else 0
            worker = Worker(
                f"w{place:02}", readiness.Watch(url), BreakerSettings(2, 30 * S), place=place,
                spec=WorkerSpec(url, priority=priority),
            )  # fmt: skip
            worker.cap = cap
            worker.pools = (self.pool,)
            self.pool.join(worker, "qwen")
            self.ledger.track(worker)
            self.workers.append(worker)

    def ask(self, now=0, tried=()):
        """One request given: the worker and how to end it."""
        self.ledger.wake(now)
        worker = self.pool.choose(ASKED, tried, now)
        if worker is None:
            return None
        permit = worker.breaker.admit(now)
        assert permit is not None
        self.ledger.took(worker, now)

        def end(outcome, at=now, rest=0):
            worker.breaker.record(permit, outcome, at)
            self.ledger.settled(worker, outcome, at, rest)

        return SimpleNamespace(worker=worker, end=end)

    def play(self, outcome, now=0, **more):
        """One request that came to something at once: its worker's id."""
        attempt = self.ask(now)
        attempt.end(outcome, **more)
        return attempt.worker.id


def test_load_counts_from_the_choice():
    """Sixteen requests in one instant over four workers are four each (B059)."""
    stand = Stand(4)
    for _ in range(16):
        stand.ask()
    assert [worker.in_flight for worker in stand.workers] == [4] * 4


def test_fast_failure_is_no_advantage():
    """Of 100 requests, ten at a time, who sheds at once gets under a tenth (B014)."""
    stand = Stand(2)
    busy, asked = [], 0
    for number in range(100):
        now = number * S // 50
        attempt = stand.ask(now)
        if attempt.worker is stand.workers[1]:
            asked += 1
            attempt.end(Outcome.backpressure, now)
            attempt = stand.ask(now, {attempt.worker})
        busy.append(attempt)
        if len(busy) == 10:
            busy.pop(0).end(Outcome.success, now)
    assert 1 <= asked < 10


def test_a_resting_worker_is_out_until_its_time():
    """An open breaker takes its worker out of the row; after the cool-down it is back for one."""
    stand = Stand(2, RoundRobin)
    bad = stand.workers[0]
    for _ in range(2):
        permit = bad.breaker.admit(0)
        stand.ledger.took(bad, 0)
        bad.breaker.record(permit, Outcome.error, 0)
        stand.ledger.settled(bad, Outcome.error, 0)
    assert bad.standing is Standing.out
    assert {stand.play(Outcome.success, 29 * S) for _ in range(4)} == {"w01"}
    asked = [stand.ask(30 * S) for _ in range(2)]
    probe = next(one for one in asked if one.worker is bad)
    assert {stand.play(Outcome.success, 31 * S) for _ in range(4)} == {"w01"}
    probe.end(Outcome.success, 32 * S)
    assert {stand.play(Outcome.success, 32 * S) for _ in range(4)} == {"w00", "w01"}


def test_a_full_worker_is_out():
    """With a cap of one, two workers take two requests, and a third when one has ended."""
    stand = Stand(2, cap=1)
    first, second = stand.ask(), stand.ask()
    assert {first.worker.id, second.worker.id} == {"w00", "w01"}
    assert stand.ask() is None
    first.end(Outcome.success)
    assert stand.ask().worker is first.worker


def test_retry_after_spares_a_worker_while_another_can_be_asked():
    """It is asked again when the time is over, or when there is nobody else (B017)."""
    stand = Stand(2)
    first = stand.ask()
    first.end(Outcome.backpressure, rest=20 * S)
    other = "w01" if first.worker.id == "w00" else "w00"
    assert {stand.play(Outcome.success, 19 * S) for _ in range(4)} == {other}
    alone = stand.ask(19 * S, {stand.workers[int(other[1:])]})
    assert alone.worker is first.worker
    alone.end(Outcome.backpressure, 19 * S)
    assert {stand.play(Outcome.success, 30 * S) for _ in range(4)} == {"w00", "w01"}


@pytest.fixture
def wedged():
    """Two workers, one of which has shed everything for 60 s and says that nothing runs."""
    stand = Stand(2)
    bad = stand.workers[0]
    for second in range(61):
        permit = bad.breaker.admit(second * S)
        stand.ledger.took(bad, second * S)
        bad.breaker.record(permit, Outcome.backpressure, second * S)
        stand.ledger.settled(bad, Outcome.backpressure, second * S)
        stand.ledger.account(bad, EngineLoad(0, 0), second * S)
    assert bad.sign is Sign.wedged
    return stand


def test_a_wedged_worker_gets_one_request_an_interval(wedged):
    """In 40 s with a request a second it gets four, the other one all the rest."""
    asked = [wedged.ask(second * S) for second in range(61, 101)]
    times = [61 + n for n, one in enumerate(asked) if one.worker is wedged.workers[0]]
    assert times == [70, 80, 90, 100]


def test_its_first_answer_heals_it(wedged):
    """A success on the one request brings it back for all."""
    trial = wedged.ask(70 * S)
    assert trial.worker is wedged.workers[0]
    trial.end(Outcome.client_error, 71 * S)
    assert trial.worker.sign is Sign.well
    assert {wedged.play(Outcome.success, 73 * S) for _ in range(4)} == {"w00", "w01"}


def test_the_last_worker_is_never_taken_out(wedged):
    """When the other cannot be asked, the wedged one is: every request."""
    wedged.ledger.drain(wedged.workers[1], 61 * S)
    assert {wedged.play(Outcome.backpressure, second * S) for second in range(61, 66)} == {"w00"}


def test_what_others_run_there_counts():
    """An engine that says that more runs than we sent is that much busier."""
    stand = Stand(2)
    stand.ledger.account(stand.workers[0], EngineLoad(3, 1), 0)
    assert [stand.ask().worker.id for _ in range(5)] == ["w01"] * 4 + ["w00"]


def test_no_account_is_no_load():
    """Metrics that stop say nothing, and nothing is held against the worker (B124)."""
    stand = Stand(2)
    stand.ledger.account(stand.workers[0], EngineLoad(50, 9), 0)
    stand.ledger.account(stand.workers[0], None, S)
    assert stand.workers[0].load == 0
    assert {stand.play(Outcome.success, S) for _ in range(4)} == {"w00", "w01"}


def test_a_lower_priority_number_is_asked_first():
    """The second row gets what the first cannot take (B026)."""
    stand = Stand(3, cap=1, priorities=(1, 0, 0))
    assert {stand.ask().worker.id for _ in range(2)} == {"w01", "w02"}
    assert stand.ask().worker.id == "w00"


def test_a_retry_reaches_the_second_row():
    """Who was tried does not count: the standby answers (B026)."""
    stand = Stand(2, priorities=(0, 1))
    first = stand.ask()
    first.end(Outcome.backpressure)
    assert stand.ask(0, {first.worker}).worker is stand.workers[1]


OUTCOMES = st.sampled_from(list(Outcome))
STEPS = st.lists(
    st.tuples(st.sampled_from(["ask", "end", "account"]), st.integers(0, 9), OUTCOMES), max_size=80
)


@given(st.sampled_from(sorted(POLICIES)), st.sampled_from([None, 1, 3]), STEPS)
def test_whatever_happens_every_load_returns_to_zero(name, cap, steps):
    """Loads are what is under way, whoever is chosen is admitted, and the end leaves nothing."""
    stand = Stand(3, POLICIES[name], cap)
    held, now = [], 0
    for what, number, outcome in steps:
        now += number * S
        if what == "ask":
            attempt = stand.ask(now)
            if attempt is not None:
                held.append(attempt)
        elif what == "end" and held:
            rest = number * S if outcome is Outcome.backpressure else 0
            held.pop(number % len(held)).end(outcome, now, rest)
        elif what == "account":
            said = EngineLoad(number, 0) if number < 8 else None
            stand.ledger.account(stand.workers[number % 3], said, now)
        for worker in stand.workers:
            mine = [one for one in held if one.worker is worker]
            assert worker.in_flight == len(mine)
            assert worker.load == worker.in_flight + worker.foreign + worker.penalty
            assert cap is None or worker.in_flight <= cap
    for attempt in held:
        attempt.end(Outcome.success, now)
    for worker in stand.workers:
        stand.ledger.account(worker, None, now)
    stand.ledger.wake(now + 3600 * S)
    assert [worker.load for worker in stand.workers] == [0, 0, 0]


def test_a_new_life_owes_nothing():
    """A worker that serves in a new life is asked at once, its breaker closed, its sheds forgotten."""
    stand = Stand(2, RoundRobin)
    bad = stand.workers[0]
    for _ in range(2):
        permit = bad.breaker.admit(0)
        stand.ledger.took(bad, 0)
        bad.breaker.record(permit, Outcome.error, 0)
        stand.ledger.settled(bad, Outcome.error, 0)
    assert bad.standing is Standing.out
    stand.ledger.reborn(bad, S)
    assert {stand.play(Outcome.success, S) for _ in range(4)} == {"w00", "w01"}
    assert bad.breaker.streak == 0
