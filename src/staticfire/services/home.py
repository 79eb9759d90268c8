"""The state folder of a user: where it is, what lies in it."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import struct
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from staticfire.errors import WrongInput

__all__ = ["Home", "check_name", "file_name", "network_file_system", "state_folder"]

NETWORK = frozenset(
    ("9p", "afs", "beegfs", "ceph", "cifs", "coda", "fhgfs", "gfs2", "glusterfs", "gpfs", "lustre",
     "ncpfs", "nfs", "nfs4", "ocfs2", "orangefs", "panfs", "pvfs2", "smb3", "smbfs", "wekafs")
)  # fmt: skip
"""File systems on which processes of several machines, or none, share memory: WAL needs it."""

PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
LONGEST = 200


def state_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """`STATICFIRE_HOME`, else `staticfire` in `XDG_STATE_HOME`, else in `~/.local/state`."""
    named = environ.get("STATICFIRE_HOME")
    if named:
        return Path(named).expanduser().absolute()
    base = environ.get("XDG_STATE_HOME", "")
    if not base.startswith("/"):  # the XDG rule: a relative one is to be ignored
        base = str(Path(environ.get("HOME") or "~").expanduser() / ".local" / "state")
    return Path(base) / "staticfire"


def check_name(name: str) -> str:
    """The name of a service in its one normal form. Raises WrongInput for one that cannot be shown.

    Slashes, quotes, spaces and emoji are fine; only control characters are not.
    """
    name = unicodedata.normalize("NFC", name)
    why = ""
    if not name.strip():
        why = "nothing to see"
    elif len(name) > LONGEST:
        why = f"{len(name)} characters"
    elif any(unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") for c in name):
        why = repr(name)
    elif name != name.strip():
        why = f"{name!r}, with spaces around it"
    if why:
        shape = f"a name of 1 to {LONGEST} printable characters"
        raise WrongInput("service name", expected=shape, found=why)
    return name


def file_name(name: str) -> str:
    """A file name for a service; two services never share one. Plain names stand for themselves."""
    if PLAIN.fullmatch(name):
        return name
    slug = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")[:40]
    return f"{slug or 'service'}~{hashlib.sha256(name.encode()).hexdigest()[:10]}"


def network_file_system(path: Path, mounts: str | None = None) -> str | None:
    """The kind of the network file system that `path` is on; None where it is a local one.

    `mounts` is a text as in `/proc/self/mountinfo`.
    """
    if mounts is None:
        try:
            mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="replace")
        except OSError:
            return None
    where, best, found = str(path.absolute()), -1, ""
    for line in mounts.splitlines():
        left, dash, right = line.partition(" - ")
        words = left.split()
        if not dash or len(words) < 5:
            continue
        point = re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), words[4])
        under = where == point or where.startswith(point.rstrip("/") + "/")
        if under and len(point) >= best:  # a later mount covers an earlier one
            best, found = len(point), right.split()[0]
    remote = found in NETWORK or (found.startswith("fuse.") and found != "fuse.fuse-overlayfs")
    return found if remote else None


@dataclass(frozen=True, slots=True)
class Home:
    """The folder and the places in it."""

    path: Path

    @property
    def store(self) -> Path:
        return self.path / "services.db"

    def log(self, name: str) -> Path:
        """Where the engine of a service writes."""
        return self.path / "logs" / f"{file_name(name)}.log"

    def make(self) -> None:
        """Make the folders, for the user alone. Raises OSError."""
        for folder in (self.path, self.path / "logs", self.path / "locks"):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    @contextmanager
    def locked(self, name: str) -> Iterator[bool]:
        """Hold a lock between processes by its name: yields False when another one has it.

        The kernel gives it back when its holder dies. In a folder that cannot be written there are
        no locks, and everybody gets them: an engine can still be stopped.
        """
        path = self.path / "locks" / f"{file_name(name)}.lock"
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError:
            yield True
            return
        try:
            try:
                fcntl.fcntl(file, fcntl.F_OFD_SETLK, _whole(fcntl.F_WRLCK))
            except OSError:
                yield False
                return
            with contextlib.suppress(OSError):  # a full disk
                os.ftruncate(file, 0)
                os.pwrite(file, str(os.getpid()).encode(), 0)
            yield True
        finally:
            os.close(file)

    def holder(self, name: str) -> int | None:
        """The process that holds a lock now."""
        try:
            file = os.open(self.path / "locks" / f"{file_name(name)}.lock", os.O_RDONLY)
        except OSError:
            return None
        try:
            asked = fcntl.fcntl(file, fcntl.F_OFD_GETLK, _whole(fcntl.F_WRLCK))
            if _FLOCK.unpack(asked)[0] == fcntl.F_UNLCK:
                return None
            text = os.pread(file, 32, 0).decode("ascii", "replace")
            return int(text) if text.isdigit() else 0
        finally:
            os.close(file)


_FLOCK = struct.Struct("hhqqi4x")


def _whole(kind: int) -> bytes:
    """A lock on all of a file that belongs to the open file, not to the process."""
    return _FLOCK.pack(kind, os.SEEK_SET, 0, 0, 0)
