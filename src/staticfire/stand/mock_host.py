"""A machine whose processes are mock engines: services live and die on it in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from staticfire.engine import Dead, MockEngine
from staticfire.readiness.evidence import Identity
from staticfire.services.decide import Facts
from staticfire.services.host import CannotStart
from staticfire.services.service import Service

__all__ = ["MockHost", "Program"]


@dataclass
class Program:
    """What the command of a service starts: a new life of one engine, from its beginning."""

    engine: MockEngine
    log: Callable[[int], int] = lambda _: 0
    """The size of its log at an instant of its clock."""
    startable: bool = True
    owner: Identity | None = None
    """Who listens on its port, where that is not the program."""
    pids: list[int] = field(default_factory=list)
    """One for each start."""
    ends: int = 0
    """How often it was ended."""

    @property
    def runs(self) -> bool:
        """Whether its process lives."""
        return bool(self.pids) and not isinstance(self.engine.phase(), Dead)


class MockHost:
    """See `staticfire.services.host.Host`. A program is known by its service's name."""

    def __init__(self) -> None:
        self.programs: dict[str, Program] = {}
        self._pid = 100

    def add(self, name: str, engine: MockEngine) -> Program:
        """Let the command of a service start this engine."""
        program = self.programs[name] = Program(engine)
        engine.kill()
        return program

    def refresh(self) -> None:
        """Nothing is kept from one look to the next."""

    def look(self, service: Service) -> Facts:
        """A life whose engine is in its phase `dead` has exited with 1."""
        program, life = self.programs[service.name], service.life
        log = program.log(program.engine.clock.now())
        if life.pid is None or life.pid != (program.pids or [0])[-1]:
            return Facts(alive=False, death=life.death or "its process is gone", log=log)
        if not program.runs:
            return Facts(alive=False, death="exited with 1", exit=1, log=log)
        return Facts(alive=True, log=log)

    def owner(self, service: Service) -> Identity | None:
        """Its own, unless a scenario says otherwise."""
        return self.programs[service.name].owner or service.life.identity

    async def watch(self, service: Service, seconds: float) -> None:
        """Time passes, and every death in it is seen at its end."""
        del service
        await asyncio.sleep(seconds)

    async def start(self, service: Service, environ: Mapping[str, str]) -> tuple[int, int]:
        """A new life of its engine."""
        del environ
        program = self.programs[service.name]
        if not program.startable:
            raise CannotStart(f"cannot start: there is no command {service.command[0]!r}")
        program.engine.restart()
        self._pid += 1
        program.pids.append(self._pid)
        return self._pid, self._pid

    async def end(self, service: Service) -> None:
        """Its engine is gone at once."""
        program = self.programs[service.name]
        program.ends += program.runs
        program.engine.kill()
