"""Spec files: read strictly, changed by ``--set a.b=v``, written back as TOML; and the specs that come along."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path
from typing import Any, get_args, get_type_hints

import msgspec

from paccf.experiment.spec import Spec, SpecError, checked
from paccf.models.spec import SpecError as ModelSpecError


def shipped() -> list[str]:
    """The names of the specs that come with the package."""
    return sorted(
        p.name[:-5] for p in files("paccf.experiment").joinpath("specs").iterdir() if p.name.endswith(".toml")
    )


def text_of(name: str) -> str:
    """The text of a shipped spec, or of the file of that path if it ends in ``.toml`` or is a folder with one."""
    path = Path(name)
    if path.is_dir():
        path = path / "spec.toml"
    if path.suffix == ".toml" or path.exists():
        try:
            return path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
            raise SpecError(f"cannot read {path}: {reason}") from None
    if name not in shipped():
        near = get_close_matches(name, shipped(), n=1, cutoff=0.5)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise SpecError(f"there is no spec {name!r:.80}.{hint} Shipped: {', '.join(shipped())}; or give a .toml file")
    return files("paccf.experiment").joinpath("specs", f"{name}.toml").read_text(encoding="utf-8")


def read(name: str, sets: Iterable[str] = ()) -> Spec:
    """The spec called ``name`` (a shipped one, a file, a run folder) with ``KEY=VALUE`` changes. Raises `SpecError`."""
    return parse(text_of(name), name, sets)


def parse(text: str, name: str = "spec", sets: Iterable[str] = ()) -> Spec:
    """The checked spec in ``text``; ``name`` is what errors call it. Raises `SpecError`."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SpecError(f"{name}: no TOML: {error}") from None
    for change in sets:
        _change(table, change)
    unknown = list(_unknown(table, Spec, ""))
    if unknown:
        raise SpecError(f"{name}: " + "; ".join(unknown))
    try:
        spec = msgspec.convert(table, Spec)
        spec.model.checked()
        return checked(spec)
    except msgspec.ValidationError as error:
        raise SpecError(f"{name}: {_placed(str(error))}") from None
    except ModelSpecError as error:
        raise SpecError(f"{name}: model.{error}") from None
    except SpecError as error:
        raise SpecError(f"{name}: {error}") from None


def _placed(message: str) -> str:
    what, at, place = message.partition(" - at `$.")
    return f"{place.rstrip('`')}: {what}" if at else message


def _change(table: dict[str, Any], change: str) -> None:
    """Apply ``a.b=v``; ``v`` is TOML, or a text if it is none."""
    place, equals, text = change.partition("=")
    names = [part.strip() for part in place.split(".")]
    if not equals or not all(names):
        raise SpecError(f"--set {change!r:.80}: write it as KEY=VALUE, for example --set calibration.tasks=40")
    try:
        value = tomllib.loads(f"v = {text}")["v"]
    except tomllib.TOMLDecodeError:
        value = text
    for part in names[:-1]:
        table = table.setdefault(part, {})
        if not isinstance(table, dict):
            raise SpecError(f"--set {place}: {part} is not a table")
    table[names[-1]] = value


def _unknown(table: Any, kind: Any, place: str) -> Iterable[str]:
    """Every key of ``table`` that ``kind`` does not know, in words, with the nearest one that it does."""
    if not isinstance(table, Mapping):
        return
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        hints = get_type_hints(kind)
        for key, value in table.items():
            where = f"{place}.{key}" if place else key
            if key in hints:
                yield from _unknown(value, _inner(hints[key]), where)
            else:
                near = get_close_matches(key, hints, n=1, cutoff=0.5)
                hint = f" (did you mean {near[0]}?)" if near else f" (known: {', '.join(hints)})"
                yield f"{where} is unknown{hint}"
    elif kind is not None:  # the struct of every value of a table
        for key, value in table.items():
            yield from _unknown(value, kind[0], f"{place}.{key}")


def _inner(hint: Any) -> Any:
    """The struct that ``hint`` stands for, a list of it for a table of such, or `None`."""
    if isinstance(hint, type):
        return hint if issubclass(hint, msgspec.Struct) else None
    args = get_args(hint)
    structs = [a for a in args if isinstance(a, type) and issubclass(a, msgspec.Struct)]
    if not structs:
        return None
    return [structs[0]] if getattr(hint, "__origin__", None) is dict else structs[0]


def toml(spec: Spec) -> str:
    """``spec`` as TOML, every field stated: what a run folder keeps. `read` gives the same spec again."""
    fields: dict[str, Any] = msgspec.to_builtins(spec)
    return "\n".join(_tables("", fields)).lstrip("\n") + "\n"


def _tables(place: str, table: Mapping[str, Any]) -> Iterable[str]:
    inner = {key: value for key, value in table.items() if isinstance(value, dict)}
    own = {key: value for key, value in table.items() if key not in inner and value is not None}
    if place and (own or not inner):
        yield f"\n[{place}]"
    for key, value in own.items():
        yield f"{_key(key)} = {_value(value)}"
    for key, value in inner.items():
        yield from _tables(f"{place}.{_key(key)}" if place else _key(key), value)


def _key(key: str) -> str:
    return key if key and all(c.isascii() and (c.isalnum() or c in "_-") for c in key) else _value(key)


def _value(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, str):
        return json.dumps(value).replace("\x7f", "\\u007f")
    if isinstance(value, float) and value != value:
        return "nan"
    return json.dumps(value)
