"""Holds a server program as its parent's: run as `python -m`, it ends the program with its parent.

`PORT COMMAND…`: the program listens on PORT. Prints one JSON line, `{"url": …}`, when `/health` says
200. When standard input closes, by a kill of the parent too, the
program gets SIGTERM, SIGTERM again (llama.cpp drains for ever on the first), then SIGKILL.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import subprocess
import sys
import threading
import time

GRACE = 0.5
"""Seconds between two signals."""


def main(port: int, command: list[str]) -> int:
    """Run `command` until standard input closes; the exit status of the program."""
    program = subprocess.Popen(  # noqa: S603 - the command that the lane was told to use
        command, stdin=subprocess.DEVNULL, stdout=sys.stderr
    )
    threading.Thread(target=_end_with_parent, args=(program,), daemon=True).start()
    while program.poll() is None and not _healthy(port):
        time.sleep(0.01)
    if program.poll() is None:
        print(json.dumps({"url": f"http://127.0.0.1:{port}"}), flush=True)
    return program.wait()


def _healthy(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
    try:
        connection.request("GET", "/health")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _end_with_parent(program: subprocess.Popen[bytes]) -> None:
    sys.stdin.read()
    for end in (program.terminate, program.terminate, program.kill):
        end()
        with contextlib.suppress(subprocess.TimeoutExpired):
            program.wait(GRACE)
            return


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
