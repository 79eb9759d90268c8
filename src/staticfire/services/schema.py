"""The file of the store: its schema and how it grew, its journal, what makes it unusable."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import sleep

from staticfire.errors import StaticFireError, WrongInput
from staticfire.services.damage import Damaged, quick_check

__all__ = ["PATIENCE", "StoreBusy", "identity", "set_up", "told", "transaction", "unwritable"]

MIGRATIONS = (
    "CREATE TABLE services (name TEXT PRIMARY KEY, version INTEGER NOT NULL, doc TEXT NOT NULL)",
    "ALTER TABLE services ADD COLUMN environ TEXT NOT NULL DEFAULT '{}'",
)
"""From each schema to the next; a store that has had all of them is of version `len`."""

PATIENCE = 5.0
"""Seconds for another process to end its transaction, which takes microseconds."""

UNWRITABLE = frozenset(
    (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN,
     sqlite3.SQLITE_PERM, sqlite3.SQLITE_NOLFS)
)  # fmt: skip


class StoreBusy(StaticFireError):
    """Another process holds the store, and does not let go."""


def identity(path: Path) -> tuple[int, int] | None:
    """Which file lies under a path now."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def unwritable(error: sqlite3.OperationalError) -> bool:
    """True when nothing can be written there: full, read-only, not to be opened."""
    return error.sqlite_errorcode & 0xFF in UNWRITABLE


def told(error: sqlite3.OperationalError) -> Exception:
    """What a user is told of an error."""
    if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreBusy(f"the store is held by another process for over {PATIENCE:g} s")
    return error


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """A transaction that begins as a writer: what it reads stays true until it has written."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


PAUSE = 0.01
"""Seconds between two tries of what SQLite does not wait for by itself."""


def _change_journal(connection: sqlite3.Connection, mode: str) -> None:
    """To a journal of that mode. Several may open a new store at once, and SQLite, where it sees
    that one of them has to give way, does not wait as it does elsewhere: so the pauses are ours.
    """
    usual = connection.execute("PRAGMA busy_timeout").fetchone()[0]
    connection.execute("PRAGMA busy_timeout = 0")
    for tries in range(int(PATIENCE / PAUSE), -1, -1):
        try:
            if connection.execute("PRAGMA journal_mode").fetchone()[0].upper() != mode:
                connection.execute(f"PRAGMA journal_mode = {mode}")
            break
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or not tries:
                raise
            sleep(PAUSE)
    connection.execute(f"PRAGMA busy_timeout = {usual}")


def set_up(connection: sqlite3.Connection, *, remote: bool) -> None:
    """Bring a store to our schema. Raises WrongInput for one of a newer program."""
    if quick_check(connection) != "ok":
        raise Damaged
    mode = "DELETE" if remote else "WAL"
    _change_journal(connection, mode)
    if not remote:
        connection.execute("PRAGMA synchronous = NORMAL")
    found = connection.execute("PRAGMA user_version").fetchone()[0]
    if found < len(MIGRATIONS):
        with transaction(connection):
            found = connection.execute("PRAGMA user_version").fetchone()[0]
            for step in MIGRATIONS[found:]:
                connection.execute(step)
            connection.execute(f"PRAGMA user_version = {max(found, len(MIGRATIONS))}")
    if found > len(MIGRATIONS):
        raise WrongInput(
            "state folder",
            expected=f"a store of schema {len(MIGRATIONS)} or older",
            found=f"schema {found}",
            do="a newer staticfire wrote it: use that one, or another STATICFIRE_HOME",
        )
