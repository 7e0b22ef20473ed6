"""TOML documents checked against a pydantic model, with errors that name the valid keys."""

import tomllib
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from bayesbias.errors import InputError


class Document(BaseModel):
    """A part of a TOML file: immutable, and unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def read_toml(path: Path) -> dict[str, Any]:
    """The content of a TOML file.

    Raises
    ------
    InputError
        The file is not there, not text or not TOML.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError as error:
        raise InputError(f"there is no file {path}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, IsADirectoryError) as error:
        raise InputError(f"{path} is not a TOML file: {error}") from error


def check[D: Document](kind: type[D], content: dict[str, Any], where: str) -> D:
    """The content as a ``kind``; ``where`` names the file in errors.

    Raises
    ------
    InputError
        A key is unknown or missing, or a value is of the wrong type; the message lists every fault.
    """
    try:
        return kind.model_validate(content)
    except ValidationError as error:
        faults = "; ".join(_sentence(kind, fault) for fault in error.errors())
        raise InputError(f"{where}: {faults}") from error


def _sentence(kind: type[BaseModel], fault: Any) -> str:
    place = [str(part) for part in fault["loc"]]
    key = ".".join(place)
    if fault["type"] == "extra_forbidden":
        valid = ", ".join(_fields_at(kind, place[:-1]))
        return f"unknown key {key!r}; valid keys here are {valid}"
    if fault["type"] == "missing":
        return f"the key {key!r} is missing"
    message = fault["msg"].removeprefix("Value error, ")
    return f"{key}: {message}" if key else str(message)


def _fields_at(kind: type[BaseModel], place: list[str]) -> list[str]:
    for part in place:
        field = kind.model_fields.get(part)
        options = [field.annotation, *getattr(field.annotation, "__args__", ())] if field else []
        inner = [o for o in options if isinstance(o, type) and issubclass(o, BaseModel)]
        if inner:
            kind = inner[0]
    return list(kind.model_fields)
