"""A llama.cpp server as a process of its own; run as `python -m`, it dies with its parent.

Prints one JSON line, `{"url": …}`, when it serves. Its standard input is the parent's hold on it:
when that closes, by a kill of the parent too, it ends. With the word `for ever` at the end nobody has
a hold on it, and SIGTERM ends it.
"""

from __future__ import annotations

import json
import os
import signal
import sys

CONNECTIONS = 64
"""Each connection holds a thread of the server, an idle one for 5 s: with fewer threads than a router
has connections, requests wait for idle ones to be closed."""


def main(model: str, alias: str, slots: int, port: int, *, held: bool) -> None:
    """Serve `model` under the name `alias` until standard input closes; port 0 is any free one."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = model
    params.model_alias = {alias} if isinstance(params.model_alias, set) else alias
    params.hostnames = ["127.0.0.1"]
    params.port = port
    params.n_parallel = slots
    params.n_ctx = 2048
    # One thread: llama.cpp's threads spin while they wait for each other, and on a busy machine
    # twenty tiny requests then took 12 s instead of 0.3 s.
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.n_threads_http = CONNECTIONS
    params.endpoint_metrics = True
    server = xllamacpp.Server(params)
    print(json.dumps({"url": server.listening_address}), flush=True)
    if held:
        sys.stdin.read()
    else:
        signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
        signal.pause()
    os._exit(0)  # the server's own shutdown waits for requests in flight


if __name__ == "__main__":
    _, path, alias, slots, port, *rest = sys.argv
    main(path, alias, int(slots), int(port), held=not rest)
