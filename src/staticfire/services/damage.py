"""A store that is damaged: set aside and told, what can be read of it kept."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from staticfire.services.home import Home
from staticfire.services.processes import Table

__all__ = ["Damaged", "copy_rows", "is_damage", "quick_check", "salvage", "set_aside"]

Row = tuple[str, int, str, str]

DAMAGE = frozenset((sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB))
SUFFIXES = ("", "-wal", "-shm", "-journal")


class Damaged(sqlite3.DatabaseError):
    """A store whose own check found it malformed."""

    sqlite_errorcode = sqlite3.SQLITE_CORRUPT


def is_damage(error: sqlite3.Error) -> bool:
    """True when the file is no sound database, as against one that cannot be used now."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in DAMAGE


def quick_check(connection: sqlite3.Connection) -> str:
    """What the database says of itself: "ok", or what is wrong with it."""
    found: str = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    return found


def set_aside(home: Home, sound: Callable[[], None]) -> list[str]:
    """Rename a damaged store, keep the rows that can be read, and say so.

    `sound` raises when the store is still damaged: another process may have mended it meanwhile.
    """
    while True:
        with home.locked("the store") as mine:
            if mine:
                with suppress(sqlite3.Error):
                    sound()
                    return []
                return _set_aside(home)
        time.sleep(0.01)


def _set_aside(home: Home) -> list[str]:
    rows, why = salvage(home.store)
    number = 1
    while (aside := home.store.with_name(f"{home.store.name}.damaged-{number}")).exists():
        number += 1
    for suffix in reversed(SUFFIXES):
        with suppress(FileNotFoundError):
            Path(f"{home.store}{suffix}").replace(f"{aside}{suffix}")
    told = f"{home.store} is damaged ({why}); it is set aside as {aside.name}"
    told += f"; services that could be read and are kept: {len(rows)}"
    if rows:
        _begin(home.store, rows)
    lost = [f"pid {pid} ({name})" for pid, name in _orphans(home, rows)]
    if lost:
        told += f"; engines that run without a record now: {', '.join(lost)}"
    return [told]


def _orphans(home: Home, rows: Iterable[Row]) -> list[tuple[int, str]]:
    return Table().orphans({row[0] for row in rows}, str(home.path))


def salvage(path: Path) -> tuple[list[Row], str]:
    """The rows of a store that can still be read, and what is wrong with the rest.

    Nothing beside the file is written: a reader of a write-ahead log would, so it reads a copy,
    or without the log where no copy can be made.
    """
    if not path.exists():
        return [], "there is none"
    try:
        with tempfile.TemporaryDirectory(prefix="staticfire-") as folder:
            copy = Path(folder) / path.name
            for suffix in SUFFIXES[:2]:
                with suppress(FileNotFoundError):
                    shutil.copyfile(f"{path}{suffix}", f"{copy}{suffix}")
            return _rows_of(copy.as_uri())
    except OSError:
        return _rows_of(f"{path.absolute().as_uri()}?immutable=1")


def _rows_of(uri: str) -> tuple[list[Row], str]:
    rows: list[Row] = []
    try:
        connection = sqlite3.connect(uri, uri=True, isolation_level=None)
    except sqlite3.Error as error:
        return rows, str(error)
    try:
        ask = "SELECT name, version, doc, environ FROM services ORDER BY rowid"
        for name, version, doc, environ in connection.execute(ask):
            rows.append((str(name), int(version), str(doc), str(environ)))
        return rows, quick_check(connection)
    except (sqlite3.Error, ValueError) as error:
        return rows, str(error)
    finally:
        connection.close()


def copy_rows(rows: Iterable[Row], connection: sqlite3.Connection) -> None:
    """Put rows into a store that has our schema."""
    connection.executemany("INSERT OR REPLACE INTO services VALUES (?, ?, ?, ?)", list(rows))


def _begin(path: Path, rows: Iterable[Row]) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.execute(
            "CREATE TABLE services (name TEXT PRIMARY KEY, version INTEGER NOT NULL, "
            "doc TEXT NOT NULL, environ TEXT NOT NULL DEFAULT '{}')"
        )
        connection.execute("PRAGMA user_version = 2")
        copy_rows(rows, connection)
    finally:
        connection.close()
