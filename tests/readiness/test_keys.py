"""A key is sent, and shown nowhere."""

from __future__ import annotations

import pytest

from staticfire.clock.virtual import run
from staticfire.errors import WrongInput
from staticfire.readiness import Verdict, key_headers, probe
from staticfire.readiness.keys import redacted, secrets_of
from staticfire.readiness.questions import Engine
from staticfire.wire import parse_url


def test_a_key_comes_from_a_variable_or_a_file(tmp_path):
    """One line, its line end left out; without either there is no header."""
    file = tmp_path / "key"
    file.write_text("s3cret\n")
    expected = ((b"authorization", b"Bearer s3cret"),)
    assert key_headers(env="KEY", environ={"KEY": "s3cret"}) == expected
    assert key_headers(file=file) == expected
    assert key_headers() == ()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"env": "KEY", "environ": {}}, "--api-key-env KEY: expected a variable that is set"),
        ({"env": "KEY", "environ": {"KEY": "  "}}, "expected a key, found nothing"),
        ({"env": "KEY", "environ": {"KEY": "s3\ncret"}}, "expected one line of printable ASCII"),
        ({"env": "KEY", "environ": {"KEY": "s3crét"}}, "expected one line of printable ASCII"),
        ({"env": "KEY", "file": "x", "environ": {}}, "leave one out"),
        ({"file": "/nowhere/key"}, "no such file"),
        ({"file": "/"}, "is a directory"),
    ],
)
def test_a_key_that_cannot_be_used_is_told_without_it(given, told):
    """Where it was looked for, what was expected; nothing of the key."""
    with pytest.raises(WrongInput) as caught:
        key_headers(**given)
    assert told in str(caught.value)
    assert "s3" not in str(caught.value)


def test_a_key_that_an_engine_echoes_is_left_out_of_the_reason(raw):
    """Engines say `Incorrect API key provided: …` with the key in it."""
    refusal = {"error": {"message": "Incorrect API key provided: s3cret-key."}}
    for fake in (raw.Fake(raw.reply(401, refusal)), raw.Fake(models=raw.reply(401, refusal))):

        async def main(fake=fake):
            async with fake:
                return await probe(fake.url, "qwen", headers=((b"X-API-Key", b"s3cret-key"),))

        evidence = run(main())
        assert evidence.verdict is Verdict.MISCONFIGURED
        assert "s3cret" not in repr(evidence)


def test_an_engine_does_not_show_its_headers():
    """Neither does a header that cannot be sent."""
    engine = Engine(parse_url("http://127.0.0.1:1"), ((b"authorization", b"Bearer s3cret"),))
    assert "s3cret" not in repr(engine)
    with pytest.raises(WrongInput) as caught:
        Engine(parse_url("http://127.0.0.1:1"), ((b"authorization", b"Bearer s3\ncret"),))
    assert "s3" not in str(caught.value)


def test_what_counts_as_a_secret():
    """The value and the key in it, of headers that carry keys; a very short one is not hidden."""
    headers = ((b"Authorization", b"Bearer s3cret"), (b"accept", b"everything"), (b"api-key", b"a"))
    assert secrets_of(headers) == ("Bearer s3cret", "s3cret")
    assert redacted("no Bearer s3cret, no s3cret", secrets_of(headers)) == "no [key], no [key]"
