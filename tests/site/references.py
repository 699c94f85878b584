"""Sections of reference pages, made from the code that they describe."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from textwrap import dedent
from typing import Any, get_args

import typer
from pydantic_settings import BaseSettings

from elsinore.bench.figures import FIGURES
from elsinore.cli import app
from elsinore.cluster.machines.settings import Settings
from elsinore.cluster.run.local import Metrics
from elsinore.cluster.service.metrics import COUNTERS, GAUGES
from elsinore.cluster.service.settings import ServiceSettings
from elsinore.cluster.service.web.api import build
from elsinore.cluster.stream.live import LiveMetrics


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table; the last column has no title where its name is empty."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines) + "\n"


def commands() -> str:
    """Return a section for each command of the command line."""
    group: Any = typer.main.get_command(app)
    return "\n".join(_command(path, command) for path, command in _leaves("elsinore", group))


def _leaves(path: str, command: Any) -> Iterator[tuple[str, Any]]:
    if not hasattr(command, "commands"):
        yield path, command
        return
    for name, found in command.commands.items():
        yield from _leaves(f"{path} {name}", found)


def _command(path: str, command: Any) -> str:
    shown = [one for one in command.params if not one.hidden and one.name != "help"]
    arguments = [one for one in shown if one.param_type_name == "argument"]
    usage = " ".join([path, *(one.metavar for one in arguments), "[OPTIONS]"])
    rows = [_parameter(one) for one in (*arguments, *(one for one in shown if one not in arguments))]
    parts = [f"## {path}\n", f"```\n{usage}\n```\n", f"{dedent(command.help or '').strip()}\n"]
    return "\n".join([*parts, table(("option", "default", "meaning"), rows)])


def _parameter(one: Any) -> tuple[str, str, str]:
    if one.param_type_name == "argument":
        name = f"`{one.metavar.strip('[]')}`"
    else:
        name = ", ".join(f"`{flag}`" for flag in (*one.opts, *one.secondary_opts))
        name += "" if one.is_flag else f" {one.metavar or _kind(one.type_descriptor.annotation)}"
    meaning = (one.help or "") + (f" Or the variable `{one.envvar}`." if one.envvar else "")
    return name, _default(one), meaning


def _kind(annotation: Any) -> str:
    return " or ".join(f"`{one}`" for one in get_args(annotation)) or annotation.__name__.upper()


def _default(one: Any) -> str:
    if isinstance(one.show_default, str):
        return one.show_default
    if one.required:
        return "required"
    hidden = one.show_default is False or one.default in (None, False) or getattr(one, "is_flag", False)
    return "" if hidden else f"`{one.default}`"


def settings_of_runs() -> str:
    return _settings(Settings)


def settings_of_the_service() -> str:
    return _settings(ServiceSettings)


def _settings(kind: type[BaseSettings]) -> str:
    prefix = str(kind.model_config["env_prefix"])
    rows = [
        (f"`{name}`", f"`{prefix}{name.upper()}`", _value(field.default), _sentence(field.description or ""))
        for name, field in kind.model_fields.items()
    ]
    return table(("setting", "variable", "default", "meaning"), rows)


def _value(default: Any) -> str:
    return "" if default in (None, "", {}) else f"`{default}`"


def metrics_of_runs() -> str:
    return _metrics(Metrics, {one.name for one in fields(Metrics)})


def metrics_of_streams() -> str:
    """Return the counters of a live stream that a run does not have."""
    return _metrics(LiveMetrics, {one.name for one in fields(LiveMetrics)} - {one.name for one in fields(Metrics)})


def _metrics(kind: type, names: set[str]) -> str:
    texts = {**COUNTERS, **GAUGES, **_documented(kind)}
    return table(("name", "meaning"), [(f"`{name}`", _sentence(texts.get(name, ""))) for name in _order(kind, names)])


def _order(kind: type, names: set[str]) -> list[str]:
    return [one.name for one in fields(kind) if one.name in names]


def _documented(kind: type) -> dict[str, str]:
    """Return the texts below the fields of a class, by name."""
    [found] = ast.parse(dedent(inspect.getsource(kind))).body
    assert isinstance(found, ast.ClassDef)
    texts: dict[str, str] = {}
    for field, below in zip(found.body, found.body[1:], strict=False):
        match field, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                texts[name] = " ".join(text.split())
    return texts


def metrics_of_the_service() -> str:
    counters = [(f"`ray_elsinore_{name}_total`", "counter", _sentence(text)) for name, text in COUNTERS.items()]
    gauges = [(f"`ray_elsinore_{name}`", "gauge", _sentence(text)) for name, text in GAUGES.items()]
    return table(("name", "kind", "meaning"), counters + gauges)


def calls() -> str:
    """Return a section for each call of the service, from its OpenAPI document."""
    document = _openapi()
    paths = [(path, method, call) for path, methods in document["paths"].items() for method, call in methods.items()]
    return "\n".join(_call(path, method, call) for path, method, call in paths)


def documents() -> str:
    """Return a section for each document that calls take or return."""
    schemas = _openapi()["components"]["schemas"]
    return "\n".join(_document(name, schemas[name]) for name in sorted(schemas))


def _openapi() -> dict[str, Any]:
    control: Any = None
    return build(ServiceSettings(), control).openapi()


def _call(path: str, method: str, call: dict[str, Any]) -> str:
    parts = [f"### {method.upper()} {path}\n", f"{call['description']}\n"]
    if given := call.get("parameters"):
        parts.append(table(("parameter", "in", "meaning"), [_given(one) for one in given]))
    bodies = [(kind, _type(body.get("schema", {}))) for kind, body in _content(call.get("requestBody"))]
    if bodies:
        parts.append("Takes " + "; ".join(f"{shown} (`{kind}`)" for kind, shown in bodies) + ".\n")
    for status, answer in call["responses"].items():
        if status < "300":
            returned = "; ".join(f"{_type(body.get('schema', {}))} (`{kind}`)" for kind, body in _content(answer))
            parts.append(f"Returns {status}{': ' + returned if returned else ''}.\n")
    return "\n".join(parts)


def _content(body: dict[str, Any] | None) -> Iterable[tuple[str, Any]]:
    return (body or {}).get("content", {}).items()


def _given(one: dict[str, Any]) -> tuple[str, str, str]:
    schema = one["schema"]
    default = f"; `{schema['default']}` by default" if schema.get("default") is not None else ""
    required = "; required" if one.get("required") and one["in"] != "path" else ""
    text = one.get("description") or schema.get("description") or ""
    return f"`{one['name']}`", one["in"], _sentence(f"{text}{' ' if text else ''}({_type(schema)}{default}{required})")


def _document(name: str, schema: dict[str, Any]) -> str:
    required = set(schema.get("required", ()))
    rows = [
        (f"`{field}`", _type(kind), "yes" if field in required else "", _sentence(kind.get("description", "")))
        for field, kind in schema.get("properties", {}).items()
    ]
    text = schema.get("description", "")
    parts = [f"### {name}\n", *([f"{text}\n"] if text else [])]
    return "\n".join([*parts, table(("field", "type", "required", "meaning"), rows)])


def _type(schema: dict[str, Any]) -> str:
    """Return a type of JSON Schema in words, with links to documents."""
    match schema:
        case {"$ref": ref}:
            name = ref.rpartition("/")[2]
            return f"[{name}](#{name.lower()})"
        case {"anyOf": kinds}:
            return " or ".join(map(_type, kinds))
        case {"enum": values} | {"const": values}:
            return " or ".join(f"`{one}`" for one in (values if isinstance(values, list) else [values]))
        case {"type": "array", "items": items}:
            return f"list of {_type(items)}"
        case {"type": "object", "additionalProperties": dict(values)}:
            return f"object of {_type(values)}"
        case {"type": kind}:
            return str(kind)
    return "any value"


PAPERS = ("aseq", "cogra", "hamlet", "gloria", "multi")


def figures(paper: str) -> str:
    """Return the figures of a paper that are measured here, with what the paper reports."""
    found = [figure for name, figure in FIGURES.items() if name.startswith(f"{paper}-")]
    rows = [(f"`{one.name}`", one.title, one.section, one.paper) for one in found]
    return table(("figure", "what is measured", "in the paper", "what the paper reports"), rows)


def _sentence(text: str) -> str:
    """Return a text that begins with a capital letter and ends without a full stop."""
    text = " ".join(text.split()).removesuffix(".")
    return text[:1].upper() + text[1:]
