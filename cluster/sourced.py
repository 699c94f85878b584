"""Settings by arguments, the environment and a file; and what is wrong with any of them, all at once."""

from __future__ import annotations

import tomllib
from typing import Any, ClassVar, TypeVar

from pydantic import ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, TomlConfigSettingsSource

from connectors.errors import InputError, nearest


class Sourced(BaseSettings):
    """Arguments go before environment variables, and these before the file."""

    whose: ClassVar[str] = ""
    """Behind the word setting, in messages."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        *_: PydanticBaseSettingsSource,
        **__: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls)


S = TypeVar("S", bound=Sourced)


def sourced(kind: type[S], **given: Any) -> S:
    """Settings with these arguments; raises InputError with everything that is wrong."""
    try:
        return kind(**given)
    except ValidationError as error:
        raise InputError("\n".join(_told(kind, problem) for problem in error.errors())) from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{kind.model_config['toml_file']} cannot be read: {error}") from None


def _told(kind: type[Sourced], problem: Any) -> str:
    name, fields = ".".join(map(str, problem["loc"])), kind.model_fields
    if problem["type"] == "extra_forbidden":
        meant = nearest(name, fields)
        return f"there is no setting {name!r}{kind.whose}" + (f"; did you mean {meant!r}?" if meant else "")
    about = fields[name].description if name in fields else ""
    return f"the setting {name}{kind.whose} ({about}) is {problem['input']!r}: {problem['msg']}"
