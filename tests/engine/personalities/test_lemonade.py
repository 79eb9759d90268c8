"""The Lemonade personality, held against its documentation: it was never captured."""

from __future__ import annotations

import asyncio

import pytest

from staticfire.clock.virtual import run
from staticfire.engine import Loading, MockEngine, Script

SCRIPT = Script(model="tiny", models=["big"], personality="lemonade", life=[Loading(seconds=352)])


def test_listed_at_once_and_answered_minutes_later(http):
    """Health says ok in every phase; its body tells that nothing is loaded; chat waits."""

    async def main():
        async with MockEngine(SCRIPT) as engine:
            chat = asyncio.create_task(
                http.talk(engine, http.request(path="/api/v1/chat/completions", body=ASK))
            )
            health = (await http.talk(engine, http.get("/api/v1/health"))).json()
            listed = (await http.talk(engine, http.get("/api/v1/models"))).json()["data"]
            heard = await chat
            return health, listed, heard, (await http.talk(engine, http.get("/v1/health"))).json()

    health, listed, heard, after = run(main())
    assert (health["status"], health["model_loaded"], health["all_models_loaded"]) == (
        "ok", None, [],
    )  # fmt: skip
    assert [card["id"] for card in listed] == ["tiny", "big"]
    assert (heard.status, heard.lasted) == (200, 352.0)
    assert (after["model_loaded"], after["all_models_loaded"][0]["model_name"]) == ("tiny", "tiny")


ASK = {"model": "tiny", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 4}


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "error"),
    [
        ("GET", "/live", None, 200, None),
        ("GET", "/v0/health", None, 200, None),
        ("GET", "/health", None, 404, {"message", "path", "type"}),
        ("GET", "/v1/live", None, 404, {"message", "path", "type"}),
        ("GET", "/v1/models/nope", None, 404, {"message", "type"}),
        ("GET", "/v1/models/tiny", None, 200, None),
        ("POST", "/v1/chat/completions", {**ASK, "model": "x"}, 404, {"message", "type", "code"}),
        ("POST", "/v1/load", {"model_name": "tiny"}, 200, None),
        ("POST", "/v1/unload", {}, 200, None),
    ],
)
def test_paths_and_errors_are_the_documentations(http, method, path, body, status, error):
    """Every path has four prefixes, `/live` none; errors are objects under `error`."""

    async def main():
        async with MockEngine(Script(model="tiny", personality="lemonade")) as engine:
            return await http.talk(engine, http.request(method, path, body))

    heard = run(main())
    assert heard.status == status
    if error:
        assert set(heard.json()["error"]) == error
