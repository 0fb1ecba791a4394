"""Names and KEY=VALUE settings from the command line, refused with a suggestion where they fit nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from difflib import get_close_matches
from typing import Any, Literal, get_args, get_origin, get_type_hints

from paccf.cli.output import BadInput
from paccf.search.controllers import controllers


def known(name: str, names: Iterable[str], what: str) -> str:
    """``name`` if it is one of ``names``; `BadInput` that lists them, the nearest first, if not."""
    names = list(names)
    if name in names:
        return name
    near = get_close_matches(name.lower(), names, n=1, cutoff=0.5)
    hint = f" Did you mean '{near[0]}'?" if near else ""
    raise BadInput(f"there is no {what} '{name:.80}'.{hint} Known: {', '.join(names) or 'none'}.")


def configured(controller: str, given: tuple[str, ...]) -> dict[str, Any]:
    """The config of ``controller`` that ``KEY=VALUE`` texts ask for, each read as its default's kind."""
    kind = controllers()[controller].config
    hints = get_type_hints(kind)
    names = [field.name for field in fields(kind) if get_origin(hints[field.name]) is not tuple]
    found = read_pairs("--set", given, kind, names, f"setting of {controller}")
    try:
        kind(**found)
    except ValueError as error:
        raise BadInput(f"--set {error}") from None
    return found


def read_pairs(option: str, given: tuple[str, ...], make: Any, names: list[str], what: str) -> dict[str, Any]:
    """What ``KEY=VALUE`` texts say, each read as the kind that ``make`` takes under this name."""
    hints = get_type_hints(make)
    found: dict[str, Any] = {}
    for pair in given:
        name, equals, text = pair.partition("=")
        if not equals:
            like = f", for example {option} {names[0]}=5" if names else ""
            raise BadInput(f"{option} {pair!r:.80}: write it as KEY=VALUE{like}")
        known(name, names, what)
        if name in found:
            raise BadInput(f"{option} {name} is given twice")
        found[name] = _read(option, name, text, hints.get(name, str))
    return found


def _read(option: str, name: str, text: str, kind: Any) -> Any:
    if get_origin(kind) is Literal:
        return known(text, get_args(kind), f"value of {name} called")
    if kind is bool:
        return known(text.lower(), ("true", "false"), f"value of {name} called") == "true"
    if kind not in (int, float):
        return text
    try:
        return kind(text)
    except ValueError:
        raise BadInput(f"{option} {name}: a {'whole ' * (kind is int)}number, not {text!r:.40}") from None
