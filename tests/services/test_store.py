"""The store, one process."""

from __future__ import annotations

import json
import resource
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from staticfire.errors import WrongInput
from staticfire.readiness import Status
from staticfire.services.decide import begun, started
from staticfire.services.home import Home
from staticfire.services.schema import MIGRATIONS, StoreBusy
from staticfire.services.store import Store, Unreadable


@pytest.fixture
def raw():
    """Opens the file of a store without the store."""
    opened: list[sqlite3.Connection] = []

    def connect(home: Home) -> sqlite3.Connection:
        opened.append(sqlite3.connect(home.store, isolation_level=None))
        return opened[-1]

    yield connect
    for connection in opened:
        connection.close()


def test_what_is_kept_is_there(store, home, planned):
    """A service with its environment comes back, in another process's eyes too."""
    service = planned(patience=None)
    assert store.add(service, {"A": "1"}) == replace(service, boot=store.boot, version=1)
    assert store.add(service, {}) is None
    other = Store(home)
    assert other.get("qwen") == store.get("qwen")
    assert other.environ("qwen") == {"A": "1"}
    assert [s.name for s in other.all()] == ["qwen"]
    other.close()


def test_odd_names_are_names(store, planned):
    """Slashes, quotes, emoji, SQL."""
    names = ["a/b", "🚀", "x'); DROP TABLE services; --", 'q"', "späť"]
    for name in names:
        store.add(planned(name), {})
    assert [s.name for s in store.all()] == sorted(names, key=lambda n: n.encode())


def test_an_unknown_name_names_the_nearest(store, planned):
    """A typo is told with what it was meant for."""
    with pytest.raises(WrongInput, match="start one with: staticfire serve"):
        store.get("qwen")
    store.add(planned(), {})
    for ask in (store.get, lambda n: store.change(n, lambda s: s)):
        with pytest.raises(WrongInput, match="'qwne'; did you mean \"qwen\""):
            ask("qwne")
    assert store.find("qwne") is None


def test_a_change_is_made_of_what_is_stored(store, home, planned):
    """Two who change other fields lose neither; what is left as it was is not written."""
    other = Store(home)
    store.add(planned(), {})
    store.change("qwen", lambda s: replace(s, restarts=s.restarts + 1))
    other.change("qwen", lambda s: replace(s, streak=5))
    assert store.change("qwen", lambda s: s).version == 3
    assert (store.get("qwen").restarts, store.get("qwen").streak) == (1, 5)
    other.close()


def test_a_change_that_raises_changes_nothing(store, planned):
    """The transaction is taken back, and the store is usable."""
    store.add(planned(), {})

    def fail(service):
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        store.change("qwen", fail, {"B": "2"})
    assert store.environ("qwen") == {}
    assert store.change("qwen", lambda s: replace(s, streak=1)).streak == 1


def test_compare_and_swap(store, planned):
    """A record that was written since it was read is not written over."""
    store.add(planned(), {})
    mine, theirs = store.get("qwen"), store.get("qwen")
    assert store.swap(replace(theirs, streak=1)).version == 2
    assert store.swap(replace(mine, streak=9)) is None
    assert store.get("qwen").streak == 1
    assert store.remove("qwen")
    assert not store.remove("qwen")
    assert store.swap(replace(mine, version=2)) is None


def test_unknown_fields_survive_a_write(store, home, planned, raw):
    """A newer program's fields stay, of the service and of its readiness."""
    store.add(planned(), {})
    doc = json.loads(raw(home).execute("SELECT doc FROM services").fetchone()[0])
    doc["colour"] = "blue"
    doc["readiness"]["mood"] = [1, 2]
    raw(home).execute("UPDATE services SET doc = ?", (json.dumps(doc),))
    store.change("qwen", lambda s: replace(s, streak=4))
    doc = json.loads(raw(home).execute("SELECT doc FROM services").fetchone()[0])
    assert (doc["colour"], doc["readiness"]["mood"], doc["streak"]) == ("blue", [1, 2], 4)


def test_an_old_record_has_defaults(store, home, raw):
    """A record with the least that a service needs is read, and can be written."""
    doc = {"name": "old", "command": ["x", "{port}"], "url": "http://127.0.0.1:1"}
    raw(home).execute("INSERT INTO services VALUES ('old', 1, ?, '{}')", (json.dumps(doc),))
    assert store.get("old").restarts == 0
    assert store.change("old", lambda s: replace(s, streak=1)).streak == 1


@pytest.mark.parametrize("doc", ['{"name": "torn", "comm', "", "[]", '{"name": 5}', "null"])
def test_a_torn_record_is_shown_and_left_alone(store, home, planned, doc, raw):
    """It is listed as unreadable, beside the others; no write touches it."""
    store.add(planned(), {})
    raw(home).execute("INSERT INTO services VALUES ('torn', 1, ?, '{}')", (doc,))
    torn = [one for one in store.all() if isinstance(one, Unreadable)]
    assert [one.name for one in torn] == ["torn"]
    assert torn[0].why
    assert [s.name for s in store.all()] == ["qwen", "torn"]
    for ask in (store.get, store.find, lambda n: store.change(n, lambda s: s)):
        with pytest.raises(WrongInput, match="one that cannot be read"):
            ask("torn")
    assert store.add(planned("torn"), {}) is None
    assert raw(home).execute("SELECT doc FROM services WHERE name = 'torn'").fetchone() == (doc,)


def test_a_store_of_schema_1_is_migrated(home, planned, raw):
    """Its records are there, and it can do what the newest can."""
    home.make()
    old = raw(home)
    old.execute(MIGRATIONS[0])
    old.execute("PRAGMA user_version = 1")
    doc = {"name": "old", "command": ["x"], "url": "http://127.0.0.1:1"}
    old.execute("INSERT INTO services VALUES ('old', 7, ?)", (json.dumps(doc),))
    old.close()
    store = Store(home)
    assert store.get("old").version == 7
    assert store.environ("old") == {}
    store.add(planned(), {"A": "1"})
    assert store.environ("qwen") == {"A": "1"}
    assert raw(home).execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS),)
    store.close()


def test_a_store_of_a_newer_program_is_left_alone(home, store, planned, raw):
    """It is refused with what to do, neither set aside nor written."""
    store.add(planned(), {})
    raw(home).execute("PRAGMA user_version = 99")
    with pytest.raises(WrongInput, match="found schema 99; a newer staticfire wrote it"):
        Store(home)
    assert raw(home).execute("SELECT count(*) FROM services").fetchone() == (1,)
    assert sorted(p.name for p in home.path.glob("*damaged*")) == []


def test_a_file_that_is_no_database_is_set_aside(home):
    """It is renamed and told; a new store begins; nothing of it is lost."""
    home.make()
    home.store.write_bytes(b"not a database at all" * 1000)
    store = Store(home)
    assert store.all() == ()
    (note,) = store.notes
    assert "is damaged (file is not a database)" in note
    assert "set aside as services.db.damaged-1" in note
    aside = home.path / "services.db.damaged-1"
    assert aside.read_bytes() == b"not a database at all" * 1000
    store.close()
    home.store.write_bytes(b"again" * 1000)
    store = Store(home)
    assert "services.db.damaged-2" in store.notes[0]
    assert len(list(home.path.glob("*damaged*"))) == 2
    store.close()


def test_what_can_be_read_of_a_damaged_store_is_kept(home, planned):
    """A page in the middle is garbage: the services on other pages live on."""
    store = Store(home)
    for number in range(40):
        store.add(planned(f"s{number:02}"), {"PAD": "x" * 2000})
    store.close()
    data = bytearray(home.store.read_bytes())
    middle = (len(data) // 2) // 4096 * 4096
    data[middle : middle + 4096] = b"\xa5" * 4096
    home.store.write_bytes(data)
    store = Store(home)
    kept = [s.name for s in store.all()]
    assert 5 <= len(kept) < 40
    assert f"services that could be read and are kept: {len(kept)}" in store.notes[0]
    assert store.environ(kept[0]) == {"PAD": "x" * 2000}
    store.close()


def test_a_store_that_was_set_aside_by_another_is_followed(home, planned):
    """A supervisor that runs for weeks does not go on writing into the renamed file."""
    old = Store(home)
    old.add(planned(), {})
    home.store.rename(home.path / "elsewhere")
    for suffix in ("-wal", "-shm"):
        Path(f"{home.store}{suffix}").unlink(missing_ok=True)
    new = Store(home)
    new.add(planned("new"), {})
    old.change("new", lambda s: replace(s, streak=3))
    assert new.get("new").streak == 3
    old.close()
    new.close()


def test_a_folder_that_cannot_be_made_is_told_once(planned):
    """Everything works in memory, with one warning that says what to do."""
    store = Store(Home(Path("/proc/none/state")))
    assert not store.durable
    store.add(planned(), {})
    store.change("qwen", lambda s: replace(s, streak=3))
    assert store.get("qwen").streak == 3
    (note,) = store.notes
    assert "/proc/none/state cannot be written" in note
    assert "STATICFIRE_HOME" in note
    store.close()


def test_a_full_disk_goes_on_in_memory(home, planned):
    """What was kept is known, what is found out is remembered, one warning tells."""
    store = Store(home)
    store.add(planned(), {})
    pages = store._connection.execute("PRAGMA page_count").fetchone()[0]
    store._connection.execute(f"PRAGMA max_page_count = {pages}")
    for number in range(30):
        store.add(planned(f"s{number:02}"), {"PAD": "x" * 4000})
    assert not store.durable
    (note,) = store.notes
    assert "database or disk is full" in note
    assert len(store.all()) == 31
    store.close()


def test_a_file_size_limit_goes_on_in_memory(home, planned):
    """The same where the system refuses to write (EFBIG)."""
    Store(home).close()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    store = Store(home)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))
    try:
        store.add(planned(), {})
        assert store.get("qwen").name == "qwen"
        assert not store.durable
        assert len(store.notes) == 1
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        store.close()


def test_a_journal_for_every_file_system(home):
    """WAL on a local one; a rollback journal on a network, which is told."""
    store = Store(home)
    assert store._connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    store.close()
    store = Store(home, mounts=f"1 0 0:1 / {home.path.parent} rw - nfs4 server:/x rw")
    assert store._connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    assert "is on a network file system (nfs4)" in store.notes[0]
    store.close()


def test_a_new_store_is_waited_for_until_the_others_let_go(home, raw, monkeypatch):
    """Several open a new store at once: who comes second waits, though SQLite would not."""
    home.make()
    other = raw(home)
    other.execute("BEGIN IMMEDIATE")
    pauses = []

    def pause(seconds):
        pauses.append(seconds)
        if len(pauses) == 3:
            other.execute("ROLLBACK")

    monkeypatch.setattr("staticfire.services.schema.sleep", pause)
    store = Store(home)
    assert len(pauses) == 3
    assert store._connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert store._connection.execute("PRAGMA busy_timeout").fetchone() == (5000,)
    store.close()


def test_the_file_is_for_the_user_alone(store, home, planned):
    """It holds the environment of engines."""
    store.add(planned(), {"TOKEN": "secret"})
    for path in home.path.glob("services.db*"):
        assert path.stat().st_mode & 0o077 == 0, path


def test_another_boot_is_another_life(home, planned):
    """After a reboot nothing is ready on old evidence, and counts are kept."""
    store = Store(home, boot="one")
    store.add(planned(), {})
    store.change("qwen", lambda s: replace(started(begun(s, "n", 5), 7, 70, 5), restarts=4))
    store.close()
    store = Store(home, boot="two")
    service = store.get("qwen")
    assert service.status is Status.FAILED
    assert service.restarts == 4
    store.close()


def test_a_store_that_is_held_says_so(home, planned, monkeypatch, raw):
    """A stuck writer is named as such, after a bound."""
    monkeypatch.setattr("staticfire.services.store.PATIENCE", 0.05)
    store = Store(home)
    other = raw(home)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreBusy, match="held by another process"):
        store.add(planned(), {})
    other.execute("ROLLBACK")
    assert store.add(planned(), {}) is not None
    store.close()
