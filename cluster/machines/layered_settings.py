"""Read settings from arguments, the environment and a file, and report all errors in them at once."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Set
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from pydantic import ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, TomlConfigSettingsSource

from elsinore.connectors.errors import InputError, nearest


class LayeredSettings(BaseSettings):
    """Settings of which arguments override environment variables, and these override the file.

    The file is the one that the environment names, or that of the current folder. The latter may have come with data
    or with a foreign repository, so it must not contain the settings that are `trusted`.
    """

    whose: ClassVar[str] = ""
    """The text after the word "setting" in messages."""

    trusted: ClassVar[frozenset[str]] = frozenset()
    """The settings that can run code, connect to other machines, or give others access."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        *_: PydanticBaseSettingsSource,
        **__: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        named = _named(cls)
        found = TomlConfigSettingsSource(settings_cls, named or cls.model_config["toml_file"])
        if named is None:
            _check(cls, found().keys() & cls.trusted)
        return init_settings, env_settings, found


S = TypeVar("S", bound=LayeredSettings)


def read_settings(kind: type[S], **given: Any) -> S:
    """Return settings with these arguments; raise one InputError for all that is wrong."""
    try:
        return kind(**given)
    except ValidationError as error:
        raise InputError("\n".join(_message(kind, problem) for problem in error.errors())) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise InputError(f"{_named(kind) or kind.model_config['toml_file']} cannot be read: {error}") from None


def _check(kind: type[LayeredSettings], found: Set[str]) -> None:
    """Raise InputError if the file of the current folder contains trusted settings, given the names found in it."""
    if found:
        here, prefix = kind.model_config["toml_file"], str(kind.model_config["env_prefix"])
        raise InputError(
            f"{here} in the current folder sets {', '.join(sorted(found))}. Such settings can run code, connect to "
            "other machines or give others access, so they are not read from the current folder. If you trust the "
            f"file, set {_variable(kind)}={here}. Otherwise remove them from it, and set "
            f"{', '.join(prefix + name.upper() for name in sorted(found))}"
        )


def _variable(kind: type[LayeredSettings]) -> str:
    return f"{kind.model_config['env_prefix']}FILE"


def _named(kind: type[LayeredSettings]) -> Path | None:
    """Return the file that the environment names, or None."""
    named = os.environ.get(_variable(kind))
    if named and not Path(named).is_file():
        raise InputError(f"{_variable(kind)} is {named}, which is not a file; give the path of a settings file")
    return Path(named) if named else None


def _message(kind: type[LayeredSettings], problem: Any) -> str:
    name, fields = ".".join(map(str, problem["loc"])), kind.model_fields
    if problem["type"] == "extra_forbidden":
        meant = nearest(name, fields)
        return f"there is no setting {name!r}{kind.whose}" + (f"; did you mean {meant!r}?" if meant else "")
    about = fields[name].description if name in fields else ""
    return f"the setting {name}{kind.whose} ({about}) is {problem['input']!r}: {problem['msg']}"
