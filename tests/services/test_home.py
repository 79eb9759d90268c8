"""The state folder."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from staticfire.errors import WrongInput
from staticfire.services.home import (
    PLAIN,
    check_name,
    file_name,
    network_file_system,
    state_folder,
)

ODD = ["a/b", "../x", "quo'te\"d", "🚀", "späť", "a b", "-n", ".", "..", "CON:", "x" * 200, "~"]


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"STATICFIRE_HOME": "/s", "XDG_STATE_HOME": "/x", "HOME": "/h"}, "/s"),
        ({"XDG_STATE_HOME": "/x", "HOME": "/h"}, "/x/staticfire"),
        ({"XDG_STATE_HOME": "x", "HOME": "/h"}, "/h/.local/state/staticfire"),
        ({"HOME": "/h", "STATICFIRE_HOME": ""}, "/h/.local/state/staticfire"),
    ],
)
def test_where_it_is(environ, expected):
    """STATICFIRE_HOME, else XDG_STATE_HOME when it is absolute, else ~/.local/state."""
    assert state_folder(environ) == Path(expected)


def test_it_is_for_the_user_alone(home):
    """The environment of an engine lies there, and may hold keys."""
    home.make()
    for folder in (home.path, home.path / "logs", home.path / "locks"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.parametrize("name", ODD)
def test_any_name_has_a_file_of_its_own(name):
    """Slashes, quotes and emoji leave no folder and meet no plain name's file."""
    file = file_name(check_name(name))
    assert "/" not in file
    assert not file.startswith((".", "-"))
    assert len(os.fsencode(file)) < 100
    assert not PLAIN.fullmatch(file)
    assert file_name("qwen") == "qwen"


def test_names_that_look_alike_are_one():
    """An é of one or of two code points is the same name."""
    assert check_name("cafe\u0301") == check_name("caf\u00e9")


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "a\x00", "x" * 201, " a", "a\u2028b", "\ud800"])
def test_a_name_that_cannot_be_shown_is_refused(name):
    """Control characters, line ends and spaces around it make lists that lie."""
    with pytest.raises(WrongInput, match="service name: expected a name"):
        check_name(name)


MOUNTS = """\
22 1 0:20 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 0:40 / /home rw shared:2 - nfs4 server:/home rw
31 30 0:41 / /home/me/fast rw - xfs /dev/sdb rw
32 22 0:42 / /mnt/my\\040disk rw - fuse.sshfs x rw
33 22 0:43 / /homestead rw - ext4 /dev/sdc rw
broken line
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/home/you/state", "nfs4"),
        ("/home/me/fast/state", None),
        ("/homestead/x", None),
        ("/mnt/my disk/x", "fuse.sshfs"),
        ("/srv", None),
    ],
)
def test_network_file_systems_are_recognised(path, kind):
    """The innermost mount decides, also one with a space in its name."""
    assert network_file_system(Path(path), MOUNTS) == kind


def test_this_machine_can_be_asked(tmp_path):
    """Without a text the machine's own mounts are read."""
    assert network_file_system(tmp_path) in {None, network_file_system(tmp_path)}
    assert network_file_system(tmp_path, "") is None


def test_a_lock_has_one_holder(home):
    """A second one is told no, and who has it; it is free when the first lets go."""
    home.make()
    assert home.holder("x") is None
    with home.locked("x") as first, home.locked("x") as second:
        assert (first, second) == (True, False)
        assert home.holder("x") == os.getpid()
    assert home.holder("x") is None
    with home.locked("x") as again:
        assert again


def test_a_lock_ends_with_its_holder(home):
    """Kill -9 gives it back: the kernel holds it, no file says so."""
    home.make()
    code = (
        "import sys; from pathlib import Path; from staticfire.services.home import Home\n"
        "with Home(Path(sys.argv[1])).locked('x') as mine: print(mine, flush=True); sys.stdin.read()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(home.path)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "True\n"
        assert home.holder("x") == holder.pid
        with home.locked("x") as mine:
            assert not mine
        holder.kill()
        holder.wait()
        assert home.holder("x") is None
