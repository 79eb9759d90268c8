"""What an engine can do is asked of it: it has it, has it not, or the probe is broken."""

from __future__ import annotations

import pytest

from staticfire.clock.virtual import run
from staticfire.engine import (
    Answers,
    Honest,
    MockEngine,
    NeverAnswers,
    Resets,
    Rule,
    Script,
    SendsErrorEvent,
    Truncates,
)
from staticfire.errors import WrongInput
from staticfire.readiness import key_headers
from staticfire.stand.lanes.asking import BrokenProbe, able

PLAIN = {"listing", "chat", "stream"}
KEY = key_headers(env="KEY", environ={"KEY": "s3cret-key"})


CHAT = "POST /v1/chat/completions"


def ask(script: Script, model: str = "", *rules: Rule, headers=(), patience: float = 5.0):
    """What comes of asking a mock engine, and what it was asked."""

    async def main():
        async with MockEngine(script) as engine:
            for rule in rules:
                engine.add_rule(rule)
            found = await able(engine.url, model, headers=headers, patience=patience)
            return found, engine.journal.requests()

    return run(main())


@pytest.mark.parametrize(
    ("personality", "more"),
    [
        ("vllm", {"metrics", "refusals"}),
        ("llamacpp", {"metrics", "refusals"}),
        ("transformers", set()),
        ("lemonade", {"refusals"}),
    ],
)
def test_what_it_can_do_is_what_it_does(personality, more):
    """Each personality has what its engines have: transformers calls no mistake one."""
    found, _ = ask(Script(model="qwen", personality=personality))
    assert found.capabilities == PLAIN | more


def test_the_model_is_the_first_that_is_listed():
    """Unless one is named; a listed one goes by its own name."""
    assert ask(Script(model="mine"))[0].model == "mine"
    assert ask(Script(model="mine", models=("other",)), "other")[0].model == "other"


def test_routes_of_sleep_are_found():
    """VLLM in development mode tells whether it sleeps; it is not put to sleep to find out."""
    found, requests = ask(Script(model="qwen", dev_mode=True))
    assert "sleep" in found.capabilities
    assert {f"{r.method} {r.path}" for r in requests} == {
        "GET /v1/models", "POST /v1/chat/completions", "GET /metrics", "GET /is_sleeping",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("on", "status", "lacks"),
    [
        ("GET /v1/models", 404, "listing"),
        ("GET /metrics", 403, "metrics"),
        ("GET /metrics", 501, "metrics"),
    ],
)
def test_what_it_refuses_in_order_it_has_not(on, status, lacks):
    """A word that there is no such route is an answer; the rest is asked all the same."""
    found, _ = ask(Script(model="qwen"), "qwen", Rule(on, do=Answers(status)))
    assert found.capabilities == (PLAIN | {"metrics", "refusals"}) - {lacks}


@pytest.mark.parametrize(
    ("on", "do", "told"),
    [
        ("GET /v1/models", Answers(404), "/v1/models: expected a list of models, found"),
        ("GET /v1/models", Answers(500), "/v1/models: expected a list of models, found"),
        ("GET /v1/models", NeverAnswers(), "/v1/models: expected a list of models, found"),
        (CHAT, Answers(500), "/v1/chat/completions: expected an answer of the model, found"),
        (CHAT, Answers(503), "/v1/chat/completions: expected an answer of the model, found"),
        (CHAT, NeverAnswers(), "/v1/chat/completions: expected an answer of the model, found"),
        (CHAT, Truncates(events=1), r"\(streaming\): expected a whole stream, found"),
        ("GET /metrics", Answers(500), "/metrics: expected a page, .* found status 500"),
        ("GET /metrics", NeverAnswers(), "/metrics: expected a page, .* found no whole answer"),
        ("GET /is_sleeping", Resets(), "/is_sleeping: expected a page, .* found connection lost"),
    ],
)
def test_a_broken_probe_is_told_with_its_route(on, do, told):
    """What hangs, breaks off or fails is neither a yes nor a no."""
    with pytest.raises(BrokenProbe, match=rf"http://127.0.0.1:\d+: .*{told}"):
        ask(Script(model="qwen"), "", Rule(on, do=do))


def test_a_stream_that_only_says_an_error_is_a_broken_probe():
    """Status 200, and no word of the model in it."""
    with pytest.raises(BrokenProbe, match="expected events with choices, found a stream without"):
        broken = Rule(CHAT, do=SendsErrorEvent())
        ask(Script(model="qwen"), "", broken, Rule(CHAT, do=Honest(), times=1))


def test_the_key_goes_with_every_question_and_into_no_message():
    """An engine that refuses a key echoes it."""
    _, requests = ask(Script(model="qwen"), headers=KEY)
    assert {r.headers.get("authorization") for r in requests} == {"Bearer s3cret-key"}
    echo = Answers(401, body='{"error": {"message": "no key s3cret-key"}}')
    with pytest.raises(BrokenProbe, match="the key is refused") as caught:
        ask(Script(model="qwen"), "", Rule(CHAT, do=echo), headers=KEY)
    assert "s3cret" not in str(caught.value)


def test_an_engine_that_is_not_there_is_told():
    """Its address, and that nobody listens."""

    async def main():
        async with MockEngine(Script(model="qwen")) as engine:
            url = engine.url
        await able(url)

    with pytest.raises(BrokenProbe, match=r"http://127.0.0.1:\d+: /v1/models: .*refused"):
        run(main())


def test_a_url_that_is_none_is_refused():
    """Before anything is asked."""

    async def main():
        await able("127.0.0.1:8000")

    with pytest.raises(WrongInput, match="engine: expected a URL"):
        run(main())
