"""What a launch needs, read from command lines."""

from __future__ import annotations

import pytest

from staticfire.errors import WrongInput
from staticfire.readiness.launch import Named, Need, none_found, pids_of, workers_of

A, B, C = (f"http://{name}:1" for name in "abc")


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("router --worker-urls http://a:1 http://b:2 --policy x", ["worker a:1", "worker b:2"]),
        ("router --worker-urls=http://a:1 --worker-urls http://b:2", ["worker a:1", "worker b:2"]),
        ("router --worker-urls http://a:1 http://a:1/", ["worker a:1"]),
        ("router --worker-urls http://a:1,http://b:2", ["worker a:1", "worker b:2"]),
        ("router --worker-urls=http://a:1/x,y", ["worker a:1/x,y"]),
        ("router --static-backends http://a:1,http://b:2", ["worker a:1", "worker b:2"]),
        ("router --prefill http://a:1 8998 --decode http://b:2", ["prefill a:1", "decode b:2"]),
        ("router --prefill http://a:1 none http://b:2 --port 3", ["prefill a:1", "prefill b:2"]),
        ("router --prefill=http://a:1 --decode=http://b:2", ["prefill a:1", "decode b:2"]),
        ("router --prefill http://a:1 --worker-urls http://a:1", ["prefill a:1"]),
        (
            "r --prefill http://a:1 --prefill http://b:2 --decode http://c:3 --prefill-policy x",
            ["prefill a:1", "prefill b:2", "decode c:3"],
        ),
        ("router --worker-urls --port 80", []),
        ("router --policy http://a:1", []),
        ("router http://a:1", []),
    ],
)
def test_the_workers_of_a_command_line(command, expected):
    """The flags of other people's routers, in each of their spellings."""
    found = workers_of(command.split())
    assert [f"{w.role} {w.url.removeprefix('http://')}" for w in found] == expected


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (["--decode", "8080"], "--decode: expected a URL"),
        (["--worker-urls", A, "htp://b:2", C], "--worker-urls, 2 of 3: expected a URL"),
        (["--worker-urls", A, "b:2"], "write http://b:2"),
        (["--worker-urls", A + B], "--worker-urls: expected a URL"),
        (["--worker-urls", f"{A} {B}"], "without spaces"),
        (["--worker-urls", "grpc://a:1"], "name the worker's HTTP address with --worker"),
    ],
)
def test_a_wrong_worker_is_named(command, told):
    """One error: the flag, which of its values, and the value."""
    with pytest.raises(WrongInput) as caught:
        workers_of(command)
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (["true"], "found none; give --worker URL, or a command with --worker-urls, --prefill"),
        (["r", "--worker-url", A], "did you mean --worker-urls where it says --worker-url?"),
        (["r", "--prefil", A], "did you mean --prefill where it says --prefil?"),
        (["r", "--worker-urls", "--port", "1"], "found --worker-urls without a URL"),
        (["r", "--worker-urls="], "found --worker-urls without a URL"),
        (["r", "--service-discovery"], "with --service-discovery it learns them while it runs"),
        (["sh", "-c", f"r --worker-urls {A}"], "they stand inside one argument"),
    ],
)
def test_a_command_without_workers_says_what_was_looked_for(command, told):
    """The flags that were looked for, and what the command may have meant."""
    assert workers_of(command) == ()
    assert told in str(none_found(command))


def test_flags_of_their_own_are_no_slips():
    """`--prefill-policy` and `--policy` are not taken for misspelt workers."""
    told = str(none_found(["r", "--prefill-policy", "x", "--decode-policy", "x", "--policy", "x"]))
    assert "did you mean" not in told


def test_all_are_needed_unless_fewer_are_enough():
    """Without a number all; with one that many."""
    workers = [Named(A), Named(B)]
    assert not Need.of(workers).met({A})
    assert Need.of(workers).met({A, B})
    assert Need.of(workers, 1).met({B})


def test_a_leg_of_each_role_is_needed():
    """Two prefill legs serve nobody, whatever the number."""
    need = Need.of([Named(A, "prefill"), Named(B, "prefill"), Named(C, "decode")], 2)
    assert not need.met({A, B})
    assert need.met({B, C})


@pytest.mark.parametrize("count", [0, 1, 4])
def test_a_number_that_cannot_be_is_refused(count):
    """Fewer than one of each role, or more than there are."""
    workers = [Named(A, "prefill"), Named(B, "decode"), Named(C, "decode")]
    with pytest.raises(WrongInput, match="--at-least: expected a number from 2 to 3"):
        Need.of(workers, count)


def test_it_is_hopeless_when_too_many_are_gone():
    """By number, and when nobody of a role is left."""
    need = Need.of([Named(A, "prefill"), Named(B, "decode"), Named(C, "decode")], 2)
    assert not need.hopeless({B})
    assert need.hopeless({A})
    assert need.hopeless({B, C})


def test_a_process_is_told_by_its_workers_url():
    """`URL=PID`, in any spelling of the URL."""
    assert pids_of([f"{A}/=12", f"{B}=13"], [A, B]) == {A: 12, B: 13}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (A, "expected URL=PID"),
        (f"{A}=", "expected URL=PID"),
        (f"{A}=0", "expected URL=PID"),
        (f"{A}=-5", "expected URL=PID"),
        ("a=5", "expected a URL"),
        ("http://a:2=5", f'did you mean "{A}"?'),
    ],
)
def test_a_wrong_process_is_named(text, told):
    """What is no URL=PID, or speaks of a worker that nobody waits for."""
    with pytest.raises(WrongInput, match=r"^--pid: ") as caught:
        pids_of([text], [A, B])
    assert told in str(caught.value)


def test_a_worker_has_one_process():
    """Two pids for one URL contradict each other."""
    with pytest.raises(WrongInput, match="found a second, 13"):
        pids_of([f"{A}=12", f"{A}=13"], [A])
