"""Where a worker lives, taken from its URL."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from staticfire.errors import WrongInput

__all__ = ["Address", "parse_url"]

_NAME = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_.])?")
_PATH = re.compile(r"[A-Za-z0-9/_.~!$&'()*+,;=:@%-]*")


@dataclass(frozen=True, slots=True)
class Address:
    """Host, port, base path: what `connect` needs.

    `base` has no trailing slash (`""` for the root) and goes before every target asked for.
    """

    host: str
    port: int
    base: str = ""
    tls: bool = False

    @property
    def authority(self) -> str:
        """The value of a Host header, which is also the name of the host in log lines."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    @property
    def url(self) -> str:
        """The URL in its one normal form; two spellings of one address give the same."""
        return f"{'https' if self.tls else 'http'}://{self.authority}{self.base}"


def parse_url(text: str, *, where: str = "URL") -> Address:
    """The address named by an http or https URL.

    Raises WrongInput for anything else: no scheme, no host, a port outside 1..65535, a user,
    a query or a fragment.
    """

    def wrong(expected: str, do: str = "") -> WrongInput:
        return WrongInput(where, expected=expected, found=repr(text), do=do)

    shape = "a URL like http://127.0.0.1:8000"
    if text != text.strip() or any(ord(c) <= 32 or ord(c) == 127 for c in text):
        raise wrong(shape + " without spaces")
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise wrong(f"{shape} ({error})") from None
    if parts.scheme not in ("http", "https"):
        raise wrong(shape, f"write http://{text}" if "://" not in text and text else "")
    if not host or "@" in parts.netloc:
        raise wrong(f"{shape} with a host" if not host else f"{shape} without a user")
    if ":" not in host and not _NAME.fullmatch(host):
        raise wrong(f"{shape} with a host name of letters, digits, dots or dashes")
    if port == 0:
        raise wrong("a port from 1 to 65535")
    if parts.query or parts.fragment or "?" in text or "#" in text:
        raise wrong(f"{shape} without a query or a fragment")
    if not _PATH.fullmatch(parts.path):
        raise wrong(f"{shape} with a path of plain characters")
    tls = parts.scheme == "https"
    return Address(host, port or (443 if tls else 80), parts.path.rstrip("/"), tls)
