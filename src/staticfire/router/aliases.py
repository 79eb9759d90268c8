"""Other names for models."""

from __future__ import annotations

from staticfire.errors import WrongInput

__all__ = ["read"]


def read(rows: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """What `ALIAS=MODEL` rows say; an alias of several models is served by the workers of each.

    Raises WrongInput for a row that is none.
    """
    found: dict[str, tuple[str, ...]] = {}
    for row in rows:
        alias, equals, model = (part.strip() for part in row.partition("="))
        if not alias or not equals or not model or alias == model:
            raise WrongInput("--model-alias", expected="ALIAS=MODEL", found=repr(row))
        found[alias] = (*found.get(alias, ()), model)
    return found
