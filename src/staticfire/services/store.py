"""The records of all services in one file, safe between processes.

Every write is a transaction that begins as a writer (BEGIN IMMEDIATE), so that what a change was
made from is what it replaces: `change` applies a pure function, `swap` compares the version.
What cannot be written is remembered in memory; what cannot be read is set aside. Both are told.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from staticfire.clock import current
from staticfire.errors import WrongInput, did_you_mean
from staticfire.services import damage
from staticfire.services.codec import freeze, thaw
from staticfire.services.decide import rebooted
from staticfire.services.home import Home, network_file_system
from staticfire.services.processes import boot_id
from staticfire.services.schema import (
    PATIENCE,
    StoreBusy,
    identity,
    set_up,
    told,
    transaction,
    unwritable,
)
from staticfire.services.service import Service

__all__ = ["Store", "StoreBusy", "Unreadable"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A record that this program cannot read. It is shown, and never written over."""

    name: str
    why: str


class Store:
    """The store of one state folder. `notes` is what its user should be told."""

    def __init__(self, home: Home, *, boot: str | None = None, mounts: str | None = None) -> None:
        self.home = home
        self.notes: list[str] = []
        self.boot = boot_id() if boot is None else boot
        self.durable = True
        self._mounts = mounts
        self._file: tuple[int, int] | None = None
        self._connection = self._open()

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    # -- reading

    def get(self, name: str) -> Service:
        """The service of that name. Raises WrongInput when there is none, or it is unreadable."""
        row = self._connection.execute(
            "SELECT version, doc FROM services WHERE name = ?", (name,)
        ).fetchone()
        if row is None:
            raise self._unknown(name)
        return self._thaw(name, *row)

    def find(self, name: str) -> Service | None:
        """The same, None when there is none."""
        row = self._connection.execute(
            "SELECT version, doc FROM services WHERE name = ?", (name,)
        ).fetchone()
        return None if row is None else self._thaw(name, *row)

    def all(self) -> tuple[Service | Unreadable, ...]:
        """Every service, by name."""
        rows = self._connection.execute("SELECT name, version, doc FROM services ORDER BY name")
        found: list[Service | Unreadable] = []
        for name, version, doc in rows.fetchall():
            try:
                found.append(self._thaw(name, version, doc))
            except Torn as error:
                found.append(Unreadable(name, error.why))
        return tuple(found)

    def environ(self, name: str) -> dict[str, str]:
        """The environment that a service is started in."""
        row = self._connection.execute(
            "SELECT environ FROM services WHERE name = ?", (name,)
        ).fetchone()
        return {} if row is None else dict(json.loads(row[0]))

    # -- writing

    def add(self, service: Service, environ: Mapping[str, str]) -> Service | None:
        """Keep a new service; None when there is one of that name."""
        service = replace(service, boot=self.boot)

        def write() -> Service | None:
            done = self._connection.execute(
                "INSERT OR IGNORE INTO services (name, version, doc, environ) VALUES (?, 1, ?, ?)",
                (service.name, _dump(service, {}), json.dumps(dict(environ))),
            )
            return replace(service, version=1) if done.rowcount else None

        return self._write(write)

    def change(
        self,
        name: str,
        how: Callable[[Service], Service],
        environ: Mapping[str, str] | None = None,
    ) -> Service:
        """Replace a record by what `how` makes of it, in one transaction.

        What `how` leaves as it was is not written. Raises WrongInput as `get`.
        """

        def write() -> Service:
            row = self._connection.execute(
                "SELECT version, doc FROM services WHERE name = ?", (name,)
            ).fetchone()
            if row is None:
                raise self._unknown(name)
            version, doc = row
            before = self._thaw(name, version, doc)
            after = how(before)
            if environ is not None:
                self._connection.execute(
                    "UPDATE services SET environ = ? WHERE name = ?",
                    (json.dumps(dict(environ)), name),
                )
            if after == before:
                return before
            return self._put(after, version, doc)

        return self._write(write)

    def swap(self, service: Service) -> Service | None:
        """Write a record only if it is still of the version it was read as; None otherwise."""

        def write() -> Service | None:
            row = self._connection.execute(
                "SELECT version, doc FROM services WHERE name = ?", (service.name,)
            ).fetchone()
            if row is None or row[0] != service.version:
                return None
            return self._put(service, *row)

        return self._write(write)

    def remove(self, name: str) -> bool:
        """Forget a service; False when there was none."""

        def write() -> bool:
            done = self._connection.execute("DELETE FROM services WHERE name = ?", (name,))
            return done.rowcount > 0

        return self._write(write)

    # -- inside

    def _put(self, service: Service, version: int, doc: str) -> Service:
        self._connection.execute(
            "UPDATE services SET version = ?, doc = ? WHERE name = ?",
            (version + 1, _dump(service, json.loads(doc)), service.name),
        )
        return replace(service, version=version + 1)

    def _thaw(self, name: str, version: int, doc: str) -> Service:
        try:
            page = json.loads(doc)
            service = thaw(Service, page)
        except (ValueError, TypeError, RecursionError) as error:
            raise Torn(name, error) from error
        service = replace(service, name=name, version=version)
        return rebooted(service, self.boot, current().boot())

    def _unknown(self, name: str) -> WrongInput:
        names = [row[0] for row in self._connection.execute("SELECT name FROM services")]
        do = did_you_mean(name, names) if names else "start one with: staticfire serve NAME"
        return WrongInput("service", expected="a known name", found=repr(name), do=do)

    def _write(self, what: Callable[[], T]) -> T:
        """Do something as the only writer; in memory from the first write that fails on."""
        self._reopen()
        try:
            with transaction(self._connection):
                return what()
        except sqlite3.OperationalError as error:
            if not self.durable or not unwritable(error):
                raise told(error) from error
            self._to_memory(str(error))
        with transaction(self._connection):
            return what()

    def _reopen(self) -> None:
        """Follow the file when another process has set it aside and begun a new one."""
        if not self.durable or self._file is None or identity(self.home.store) == self._file:
            return
        self._connection.close()
        self._connection = self._open()

    def _open(self) -> sqlite3.Connection:
        path = self.home.store
        try:
            self.home.make()
            try:
                return self._connect(path)
            except sqlite3.DatabaseError as error:
                if not damage.is_damage(error):
                    raise
                self.notes += damage.set_aside(self.home, lambda: self._probe(path))
                return self._connect(path)
        except sqlite3.OperationalError as error:
            if not unwritable(error):
                raise told(error) from error
            return self._in_memory(str(error))
        except OSError as error:
            return self._in_memory(error.strerror or str(error))

    def _probe(self, path: Path) -> None:
        self._connect(path).close()

    def _connect(self, path: Path) -> sqlite3.Connection:
        path.touch(mode=0o600)
        connection = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)
        try:
            remote = network_file_system(path, self._mounts)
            set_up(connection, remote=remote is not None)
            self._file = identity(path)
        except BaseException:
            connection.close()
            raise
        if remote is not None:
            self.notes.append(
                f"{path.parent} is on a network file system ({remote}): a rollback journal is "
                "used there; STATICFIRE_HOME names a local folder"
            )
        return connection

    def _in_memory(self, why: str) -> sqlite3.Connection:
        self.durable = False
        self.notes.append(
            f"{self.home.path} cannot be written ({why}): what is found out is remembered by "
            "this process only; make room, or let STATICFIRE_HOME name another folder"
        )
        connection = sqlite3.connect(":memory:", isolation_level=None)
        set_up(connection, remote=True)
        damage.copy_rows(damage.salvage(self.home.store)[0], connection)
        return connection

    def _to_memory(self, why: str) -> None:
        old = self._connection
        self._connection = self._in_memory(why)
        old.close()


class Torn(WrongInput):
    """A record that is no record."""

    def __init__(self, name: str, error: Exception) -> None:
        self.why = str(error)
        super().__init__(
            f"service {name!r}",
            expected="a record",
            found=f"one that cannot be read ({error})",
            do="it is left as it is; `staticfire services forget` removes it",
        )


def _dump(service: Service, under: object) -> str:
    doc = freeze(service, under)
    del doc["version"]
    return json.dumps(doc, ensure_ascii=False)
