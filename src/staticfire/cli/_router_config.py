"""Settings of `staticfire router` from a file and from the environment, named as its flags.

A flag beats the environment, the environment beats the file, the file beats the default. A name that
is none is an error wherever it stands: a setting that is silently ignored is worse than a router
that does not start.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from staticfire.cli._latch import FOREVER, Latch
from staticfire.cli._router_flags import BORROWED, REFUSED
from staticfire.cli._router_options import SECRET
from staticfire.errors import WrongInput, did_you_mean

__all__ = ["PREFIX", "effective", "from_environment", "from_file", "in_the_environment", "placed"]

PREFIX = "STATICFIRE_ROUTER"
_ONLY_FLAGS = frozenset(("check", "config", "help"))


def from_file(ctx: click.Context, file: str) -> tuple[dict[str, Any], list[str]]:
    """The values of a TOML file for `default_map`, and warnings. Raises WrongInput."""
    try:
        text = Path(file).read_text(encoding="utf-8")
        found = tomllib.loads(text)
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "no text"
        raise WrongInput(file, expected="a TOML file", found=str(why).lower()) from None
    except tomllib.TOMLDecodeError as error:
        raise WrongInput(file, expected="TOML", found=str(error)) from None
    known = _known(ctx)
    values: dict[str, Any] = {}
    warnings: list[str] = []
    for key, value in found.items():
        name = key.replace("-", "_")
        if not _borrowed(f"{file}: {key}", name, known, warnings):
            values[name] = _fits(ctx, known[name], value, f"{file}: {key}")
    return values, warnings


def from_environment(ctx: click.Context, environ: Mapping[str, str] = os.environ) -> list[str]:
    """Warnings about variables with our prefix; click reads their values. Raises WrongInput."""
    known = _known(ctx)
    warnings: list[str] = []
    for variable in environ:
        if variable.startswith(PREFIX + "_"):
            name = variable.removeprefix(PREFIX + "_").lower()
            if name != "config":
                _borrowed(variable, name, known, warnings)
    return warnings


def placed(ctx: click.Context, wrong: WrongInput) -> WrongInput:
    """The same error, naming the place where the value stands if that is no flag."""
    for param in ctx.command.params:
        if isinstance(param, click.Option) and wrong.where in param.opts and param.name:
            source = ctx.get_parameter_source(param.name)
            where = _place(ctx, param.name, source)
            if source in (ParameterSource.DEFAULT_MAP, ParameterSource.ENVIRONMENT):
                return WrongInput(where, expected=wrong.expected, found=wrong.found, do=wrong.do)
    return wrong


def in_the_environment(ctx: click.Context, error: click.BadParameter) -> click.UsageError:
    """The same error, naming the variable where the value came from one."""
    name = error.param.name if error.param is not None else None
    if name is None or ctx.get_parameter_source(name) is not ParameterSource.ENVIRONMENT:
        return error
    return click.UsageError(f"{_place(ctx, name, ParameterSource.ENVIRONMENT)}: {error.message}")


def effective(ctx: click.Context, *, as_json: bool) -> str:
    """Every setting with where it comes from: TOML that `--config` reads, or JSON."""
    rows = []
    for param in ctx.command.params:
        name = param.name or ""
        if not isinstance(param, click.Option) or name in (*_ONLY_FLAGS, "as_json"):
            continue
        value = ctx.params[name]
        if value == FOREVER:
            value = "forever"
        if name in SECRET and value not in (None, ()):
            value = "(set)"
        rows.append((name, value, _place(ctx, name, ctx.get_parameter_source(name))))
    if as_json:
        shown = {name: {"value": value, "from": place} for name, value, place in rows}
        return json.dumps(shown)
    return "\n".join(
        f"{'' if written else '# '}{name} = {written or 'unset'}  # {place}"
        for name, value, place in rows
        for written in (_toml(value),)
    )


def _place(ctx: click.Context, name: str, source: ParameterSource | None) -> str:
    if source is ParameterSource.ENVIRONMENT:
        return f"{PREFIX}_{name.upper()}"
    if source is ParameterSource.DEFAULT_MAP:
        return f"{ctx.params.get('config') or ctx.meta.get('config')}: {name}"
    return "flag" if source is ParameterSource.COMMANDLINE else "default"


def _known(ctx: click.Context) -> dict[str, click.Option]:
    return {
        param.name: param
        for param in ctx.command.params
        if isinstance(param, click.Option) and param.name and param.name not in _ONLY_FLAGS
    } | {
        "json": next(
            p for p in ctx.command.params if isinstance(p, click.Option) and p.name == "as_json"
        )
    }


def _borrowed(
    where: str, name: str, known: Mapping[str, click.Option], warnings: list[str]
) -> bool:
    """Whether a name is of another router and harmless; a refused or an unknown one raises."""
    if name in known:
        return False
    flag = "--" + name.replace("_", "-")
    if flag in REFUSED:
        raise WrongInput(where, expected="to be left out", found=flag, do=REFUSED[flag])
    if flag in BORROWED:
        warnings.append(f"{where} has no effect here: {BORROWED[flag][1]}")
        return True
    names = [*known, *(one[2:].replace("-", "_") for one in BORROWED)]
    raise WrongInput(
        where, expected="a setting of the router", found=f'"{name}"', do=did_you_mean(name, names)
    )


def _fits(ctx: click.Context, option: click.Option, value: Any, where: str) -> Any:
    """A TOML value that its option takes."""
    many = value if isinstance(value, list) else [value]
    if isinstance(value, list) and not option.multiple:
        raise WrongInput(where, expected="one value", found=repr(value))
    kind: tuple[type, ...]
    if option.is_flag:
        kind, word = (bool,), "true or false"
    elif isinstance(option.type, click.types.IntParamType):
        kind, word = (int,), "a whole number"
    elif isinstance(option.type, click.types.FloatParamType):
        kind, word = (int, float), "a number"
    elif isinstance(option.type, Latch):
        kind, word = (int, float, str), "seconds, or forever"
    else:
        kind, word = (str,), "text"
    for one in many:
        if not isinstance(one, kind) or (isinstance(one, bool) and bool not in kind):
            found = "another type" if option.name in SECRET else repr(one)
            raise WrongInput(where, expected=word, found=found)
    try:
        for one in many:
            option.type.convert(one, option, ctx)
    except click.BadParameter as error:
        raise WrongInput(where, expected="a value that fits", found=error.message) from None
    return many if option.multiple else value


def _toml(value: Any) -> str:
    if value is None or value == ():
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return "[" + ", ".join(_toml(one) for one in value) + "]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
