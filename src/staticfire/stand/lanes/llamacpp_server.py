"""A llama.cpp server as a process of its own; run as `python -m`, it dies with its parent.

Prints one JSON line, `{"url": …}`, when it serves. Its standard input is the parent's hold on it:
when that closes, by a kill of the parent too, it ends.
"""

from __future__ import annotations

import json
import os
import sys


def main(model: str, alias: str, slots: int, port: int) -> None:
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
    params.endpoint_metrics = True
    server = xllamacpp.Server(params)
    print(json.dumps({"url": server.listening_address}), flush=True)
    sys.stdin.read()
    os._exit(0)  # the server's own shutdown waits for requests in flight


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
