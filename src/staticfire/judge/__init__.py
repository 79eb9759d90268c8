"""The honest client: it says what really arrived and how it ended.

Built on h11, which neither the mock engines (aiohttp) nor the router (httptools) use, so that no
bug hides itself. It repairs nothing, retries nothing and follows no redirect.
"""

from __future__ import annotations

from staticfire.judge.answer import Answer, End
from staticfire.judge.connection import Connection
from staticfire.judge.judge import PROMPT, Judge, chat_body

__all__ = ["PROMPT", "Answer", "Connection", "End", "Judge", "chat_body"]
