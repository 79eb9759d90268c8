"""The lane of any engine that a command line starts.

    [tool.staticfire.lanes.mine]
    kind = "command"
    command = "my-engine --port {port} --served-model-name {model}"
    start_within = 120

Its engines are services: started by the code behind `staticfire serve`, called ready when they have
answered, ended with their whole group.
"""

from __future__ import annotations

import asyncio
import os
import re
import shlex
from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path

from staticfire.errors import StaticFireError, WrongInput, did_you_mean
from staticfire.services.service import Service
from staticfire.stand.lanes.asking import able
from staticfire.stand.lanes.base import Key, LaneFailed
from staticfire.stand.lanes.device import assert_device
from staticfire.stand.lanes.served import Served

__all__ = ["CommandLane", "StartedEngine"]

HOW = 'write command = "… --port {port}" in [tool.staticfire.lanes.NAME]'
PLACEHOLDERS = ("port", "model")
_FIELD = re.compile(r"\{(\w+)\}")


class StartedEngine:
    """An engine process, lent to a scenario under the scenario's name."""

    def __init__(
        self, name: str, service: Service, lane: CommandLane, *, again: bool = True
    ) -> None:
        self.name, self.url = name, service.url
        self._service, self._lane, self._again = service, lane, again

    async def stop(self) -> None:
        """Give it back: one that served is as good as a new one, if it may `again`."""
        if self._again:
            self._lane.give_back(self._service)
        else:
            await self._lane.end(self._service)

    def timeline(self) -> list[str]:
        """The end of its log."""
        return self._lane.log(self._service)


class CommandLane:
    """Starts engines, asks the first one what they can do, keeps them for the run.

    `command` is a line or a list of words with `{port}`, and `{model}` where it takes the model's
    name. `env` is added to the environment. It has to answer within `start_within` seconds, and has
    `grace` seconds to end. With `device`, a GPU of that name has to be here.
    """

    kind = "command"
    virtual = False

    def __init__(
        self,
        command: str | Sequence[str] = "",
        model: str = "qwen",
        env: Mapping[str, str] | None = None,
        folder: str = "",
        start_within: float = 300.0,
        grace: float = 5.0,
        key_env: str = "",
        key_file: str = "",
        personality: str = "unknown",
        device: str = "",
    ) -> None:
        self._template = self._words_of(command)
        for name, value in (("start_within", start_within), ("grace", grace)):
            if type(value) not in (int, float):
                raise WrongInput(name, expected="a number of seconds", found=repr(value))
            if not isfinite(value) or value <= 0:
                raise WrongInput(name, expected="above zero", found=repr(value))
        for name, text in (("model", model), ("folder", folder), ("device", device)):
            if type(text) is not str or (name == "model" and not text):
                raise WrongInput(name, expected="a text", found=repr(text))
        if folder and not Path(folder).is_dir():
            raise WrongInput("folder", expected="a folder that is there", found=repr(folder))
        if env is not None and not isinstance(env, Mapping):
            raise WrongInput("env", expected="a table of names and values", found=repr(env))
        self.model, self.personality = model, personality
        self.env = {str(name): str(value) for name, value in (env or {}).items()}
        self.key = Key(key_env or None, key_file or None)
        self.capabilities: frozenset[str] = frozenset()
        self._in, self.device = folder, device
        self.start_within = float(start_within)
        self._served = Served(start_within=self.start_within, grace=float(grace), key=self.key)
        self._idle: list[Service] = []

    def missing(self) -> str | None:
        return None

    def prepare(self) -> None:
        """Assert the device, start one engine and ask it what it can do."""
        if self.device:
            assert_device(self.kind, self.device, self._torch())
        try:
            asyncio.run(self.look())
        except WrongInput:
            self.close()
            raise
        except StaticFireError as broken:
            self.close()
            raise LaneFailed(self.kind, str(broken)) from broken
        except BaseException:
            self.close()
            raise

    async def look(self) -> None:
        """Start one engine and ask it what it can do."""
        headers = self.key.headers
        service = await self._new()
        found = await able(service.url, self.model, headers=headers, patience=self.start_within)
        self.capabilities = found.capabilities | {"command"}
        self._idle.append(service)

    async def start(self, name: str, model: str, seed: int) -> StartedEngine:
        """An engine that serves the lane's model; raises `StaticFireError`."""
        del model, seed
        while self._idle:
            service = self._idle.pop()
            if self._served.alive(service):
                return StartedEngine(name, service, self)
        return StartedEngine(name, await self._new(), self)

    def give_back(self, service: Service) -> None:
        """Keep an engine for the next scenario."""
        self._idle.append(service)

    async def end(self, service: Service) -> None:
        """End an engine that no other scenario could use."""
        await self._served.stop(service)

    def log(self, service: Service) -> list[str]:
        """The end of what an engine printed."""
        return self._served.log(service)

    def too_small(self) -> str | None:
        return None

    async def start_loading(self, name: str, model: str, seed: int) -> StartedEngine:
        """Nothing of that kind is known of a command."""
        del model, seed
        raise StaticFireError(f"engine {name!r}: this lane has no engine that loads slowly")

    async def start_unloaded(self, name: str, model: str, seed: int) -> StartedEngine:
        """Nothing of that kind is known of a command."""
        del model, seed
        raise StaticFireError(f"engine {name!r}: this lane lists no model before it is loaded")

    def command(self, model: str) -> tuple[str, ...]:
        """What starts an engine by itself, with its part of the environment in front."""
        own = [f"{name}={value}" for name, value in self.environ().items()]
        before = ["env", *own] if own else []
        return (*before, *(word.replace("{model}", model) for word in self.words()))

    def words(self) -> list[str]:
        """The command, with `{port}` and `{model}` in it."""
        return list(self._template)

    def environ(self) -> dict[str, str]:
        """What the lane adds to the environment."""
        return dict(self.env)

    def close(self) -> None:
        """End every engine, each with its group."""
        self._idle = []
        self._served.close()

    def _torch(self) -> str:
        """The Python whose torch has to see the device; "" where only the driver is asked."""
        return ""

    async def _new(self) -> Service:
        words = [word.replace("{model}", self.model) for word in self.words()]
        environ = {**os.environ, **self.environ()}
        return await self._served.start(words, self.model, environ, self._in)

    def _words_of(self, command: str | Sequence[str]) -> tuple[str, ...]:
        if isinstance(command, str):
            try:
                words = tuple(shlex.split(command))
            except ValueError as error:
                expected = "a command line"
                raise WrongInput("command", expected=expected, found=str(error)) from None
        elif all(type(word) is str for word in command):
            words = tuple(command)
        else:
            raise WrongInput("command", expected="a line or a list of words", found=repr(command))
        if not words:
            expected = "what starts an engine"
            raise WrongInput("command", expected=expected, found="nothing", do=HOW)
        used = {name for word in words for name in _FIELD.findall(word)}
        for one in sorted(used - set(PLACEHOLDERS)):
            do = did_you_mean(one, PLACEHOLDERS)
            raise WrongInput("command", expected="{port} and {model}", found=f"{{{one}}}", do=do)
        if "port" not in used:
            raise WrongInput(
                "command", expected="an engine that is told its {port}", found=shlex.join(words)
            )
        return words
