"""People who ask: prompts and session names, made up by Faker from one seed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from faker import Faker

__all__ = ["People"]


class People:
    """A crowd of one seed; the same seed gives the same names and prompts.

    It has a Faker of its own, so that nobody's global seed reaches it; Faker is imported when the
    first crowd is made, as the import costs a tenth of a second.
    """

    def __init__(self, seed: int = 0) -> None:
        from faker import Faker

        self._faker: Faker = Faker("en_US")
        self._faker.seed_instance(seed)
        self._count = 0

    def session(self) -> str:
        """A session's name, never the same twice in one crowd."""
        self._count += 1
        return f"{self._faker.user_name()}-{self._count}"

    def sessions(self, count: int) -> list[str]:
        """So many sessions' names."""
        return [self.session() for _ in range(count)]

    def prompt(self) -> str:
        """Something to ask."""
        return self._faker.sentence()

    def messages(self) -> list[dict[str, str]]:
        """A chat of one message."""
        return [{"role": "user", "content": self.prompt()}]

    def prompts(self) -> Iterator[str]:
        """Things to ask, without end."""
        while True:
            yield self.prompt()
