"""Starting, restarting and stopping a service: one process at a time has its hands on it."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace

from staticfire import wire
from staticfire.clock import NS, current, ns
from staticfire.errors import StaticFireError, WrongInput
from staticfire.services.decide import (
    Decision,
    Do,
    begun,
    cannot_start,
    decide,
    gave_up,
    rested,
    started,
    stopped,
)
from staticfire.services.host import CannotStart, Host
from staticfire.services.processes import STATE, free_port
from staticfire.services.service import Life, Patience, Service
from staticfire.services.store import Store, Unreadable

__all__ = ["Busy", "Launcher", "plan", "silent"]

HANDS = 30.0
"""Seconds to wait for another process that starts or stops the same service."""


class Busy(StaticFireError):
    """Another process starts or stops this service, and does not come to an end."""


def plan(
    name: str,
    command: tuple[str, ...],
    *,
    model: str | None = None,
    port: int | None = None,
    url: str | None = None,
    folder: str = "",
    key_env: str | None = None,
    key_file: str | None = None,
    patience: Patience | None = None,
    taken: frozenset[int] = frozenset(),
) -> Service:
    """The record of a service that is to be started.

    How its port is known: `{port}` in `command` becomes a free one, or `port` or `url` is given.
    Raises WrongInput when none of these is.
    """
    if not command:
        raise WrongInput("serve", expected="a command after --", found="none")
    if url is not None and port is not None:
        raise WrongInput("--url", expected="--port or --url", found="both")
    asks = any("{port}" in word for word in command)
    if url is not None:
        url = wire.parse_url(url, where="--url").url
        if asks:
            raise WrongInput("--url", expected="a command without {port}", found="one with it")
    else:
        if port is None and not asks:
            raise WrongInput(
                "serve",
                expected="to know the engine's port",
                found="a command without {port}",
                do="write {port} where the command takes its port, or give --port or --url",
            )
        if port is None:
            port = free_port()
            while port in taken:
                port = free_port()
        url = f"http://127.0.0.1:{port}"
    return Service(
        name=name,
        command=command,
        url=url,
        port=port,
        model=model,
        folder=folder,
        key_env=key_env,
        key_file=key_file,
        patience=patience or Patience(),
        made=current().wall(),
    )


def silent(name: str, text: str) -> None:
    """Tell nobody."""
    del name, text


class Launcher:
    """Puts its hands on the services of a store."""

    def __init__(
        self, store: Store, host: Host, say: Callable[[str, str], None] | None = None
    ) -> None:
        self.store = store
        self.host = host
        self._say = say or silent

    # -- what users ask for

    async def serve(self, service: Service, environ: Mapping[str, str]) -> tuple[Service, bool]:
        """Start a new service; one that lives already stays. Whether it was started now.

        Raises WrongInput when another command lives under the name, CannotStart.
        """
        name = service.name
        async with self._hands(name):
            old = self.store.find(name)
            if old is not None and self.host.look(old).alive:
                _same_or_wrong(old, service)
                return old, False
            service = replace(service, log=str(self.store.home.log(name)))
            if old is None:
                if self.store.add(service, environ) is None:
                    raise Busy(f"service {name!r} was made by another process just now")
            else:
                await self.host.end(old)
                self.store.change(name, lambda s: _renewed(s, service), environ)
            if not self.store.durable:
                raise WrongInput(
                    "serve", expected="a state folder that can be written",
                    found=str(self.store.home.path),
                    do="an engine without a record could be neither found nor stopped",
                )  # fmt: skip
            return await self._start(name, "started"), True

    async def restart(self, name: str) -> Service:
        """End its processes, then start it again. Raises WrongInput, Undying, CannotStart."""
        async with self._hands(name):
            service = self.store.get(name)
            await self.host.end(service)
            self.store.change(name, lambda s: replace(s, streak=0))
            return await self._start(name, "restarted")

    async def stop(self, name: str) -> Service:
        """End its processes. The record says so first. Raises WrongInput, Undying."""
        async with self._hands(name):
            now = current().boot()
            self.store.change(name, lambda s: self._told(stopped(s, now), "stopped"))
            service = self.store.get(name)
            await self.host.end(service)
            facts = self.host.look(service)
            return self.store.change(
                name, lambda s: replace(s, life=_over(s, facts.exit, current().boot()))
            )

    async def forget(self, name: str) -> None:
        """Remove the record of a service whose processes are gone. Raises WrongInput."""
        async with self._hands(name):
            torn = any(s.name == name for s in self.store.all() if isinstance(s, Unreadable))
            service = None if torn else self.store.get(name)
            if service is not None and self.host.look(service).alive:
                raise WrongInput(
                    f"service {name!r}", expected="one that is stopped", found="one that runs",
                    do="stop it first",
                )  # fmt: skip
            self.store.remove(name)

    # -- what a supervisor does

    async def keep(self, name: str) -> Decision:
        """Do what is to be done about a service that died. Nobody else does it meanwhile."""
        with self.store.home.locked(f"hands on {name}") as mine:
            if not mine:
                return Decision(Do.NOTHING, "another process starts or stops it")
            now = current().boot()
            service = self.store.get(name)
            decision = decide(service, now)
            if decision.do is Do.REST:
                pause = ((decision.at or now) - now) / NS
                what = f"it is started again in {pause:g} s"
                self._change(name, lambda s: rested(s, decision, now), what)
                await self.host.end(service)
            elif decision.do is Do.GIVE_UP:
                self._change(name, lambda s: gave_up(s, decision, now), decision.why)
                await self.host.end(service)
            elif decision.do is Do.START:
                await self.host.end(service)
                self.store.change(
                    name, lambda s: replace(s, restarts=s.restarts + 1, streak=s.streak + 1)
                )
                try:
                    await self._start(name, f"restart {service.restarts + 1}")
                except CannotStart as error:
                    self._say(name, str(error))
            return decision

    # -- inside

    async def _start(self, name: str, what: str) -> Service:
        nonce, now = secrets.token_hex(8), current().boot()
        service = self.store.change(name, lambda s: begun(s, nonce, now))
        try:
            state = {STATE: str(self.store.home.path)}
            pid, start = await self.host.start(service, self.store.environ(name) | state)
        except CannotStart as error:
            why = str(error)
            self._change(name, lambda s: cannot_start(s, why, current().boot()), why)
            raise
        now = current().boot()
        return self._change(name, lambda s: started(s, pid, start, now), f"{what}: pid {pid}")

    def _change(self, name: str, how: Callable[[Service], Service], what: str) -> Service:
        self._say(name, what)
        return self.store.change(name, lambda s: self._told(how(s), what))

    def _told(self, service: Service, what: str) -> Service:
        return service.noted(current().wall(), what)

    @asynccontextmanager
    async def _hands(self, name: str) -> AsyncIterator[None]:
        end = current().now() + ns(HANDS)
        while True:
            with self.store.home.locked(f"hands on {name}") as mine:
                if mine:
                    yield
                    return
            if current().now() >= end:
                raise Busy(
                    f"service {name!r}: expected to have it to myself within {HANDS:g} s, "
                    "found another process that starts or stops it"
                )
            await asyncio.sleep(0.05)  # a lock between processes has no event to wait for


def _same_or_wrong(old: Service, new: Service) -> None:
    """Raises WrongInput when what lives under the name is not what is asked for."""
    asked = {"command": new.command, "model": new.model, "folder": new.folder}
    lives = {"command": old.command, "model": old.model, "folder": old.folder}
    if not any("{port}" in word for word in new.command) or new.port == old.port:
        asked["url"], lives["url"] = new.url, old.url
    for what, value in asked.items():
        if lives[what] != value:
            raise WrongInput(
                f"service {new.name!r}", expected=f"the {what} that it runs with, {lives[what]!r}",
                found=repr(value), do="stop it first, or take another name",
            )  # fmt: skip


def _renewed(old: Service, new: Service) -> Service:
    """A dead service that is asked for again, as asked now. Generations go on counting."""
    return replace(
        new, life=old.life, readiness=old.readiness, history=old.history, boot=old.boot,
        made=old.made, version=old.version,
    )  # fmt: skip


def _over(service: Service, exit_: int | None, now: int) -> Life:
    life = service.life
    if life.pid is None or life.died is not None:
        return life
    return replace(life, died=now, death="stopped", exit=exit_)
