"""The one string that names an agent everywhere: ``KIND``, ``KIND:WHAT`` or ``KIND:WHAT?option=value&option=value``."""

from __future__ import annotations

import re
from typing import TypeVar
from urllib.parse import unquote

from pydantic import BaseModel, ValidationError

from ecomrlve.errors import EcomrlveError

Options = TypeVar("Options", bound=BaseModel)

_OPTIONS = re.compile(r"\?((?:\w+=[^&?]*)(?:&\w+=[^&?]*)*)$")


class AgentNameError(EcomrlveError, ValueError):
    """A name that stands for no agent, or an option that the agent does not have."""


def split_name(name: str) -> tuple[str, str, dict[str, str]]:
    """Kind, what of that kind, and the options, each as text.

    Raises:
        AgentNameError: An option is given twice.
    """
    kind, _, rest = name.strip().partition(":")
    found = _OPTIONS.search(rest)
    if found is None:
        return kind, rest, {}
    options: dict[str, str] = {}
    for pair in found.group(1).split("&"):
        key, _, value = pair.partition("=")
        if key in options:
            raise AgentNameError(f"agent {name!r}: the option {key} is given twice")
        options[key] = unquote(value)
    return kind, rest[: found.start()], options


def read_options(name: str, options: dict[str, str], model: type[Options]) -> Options:
    """The options of a name, checked.

    Args:
        name: The whole name, for the error.
        options: The options as text.
        model: Says which there are, of which types, with which defaults; it must forbid others.

    Raises:
        AgentNameError: One is unknown or has a wrong value.
    """
    try:
        return model.model_validate(options)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        option = ".".join(map(str, first["loc"]))
        known = ", ".join(model.model_fields)
        reason = f"has no option {option!r}" if first["type"] == "extra_forbidden" else f"{option}: {first['msg']}"
        raise AgentNameError(f"agent {name!r} {reason}; options are {known}") from error
