"""The brackets of PDDL: a text becomes nested forms, in one pass and without recursion, every word with its line."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

LIMIT = 1 << 20  # ours: characters of a PDDL text; an instance of 50 blocks has some 3,000
DEEPEST = 32  # ours: forms within forms; STRIPS needs six

_TOKEN = re.compile(r"[()]|;[^\n]*|\n|[^\s();]+")
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")


class PddlError(ValueError):
    """A PDDL text that cannot be used; says where (file and line) and why."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word in lower case: PDDL knows no other."""

    text: str
    line: int


@dataclass(slots=True)
class Form:
    """What stands between a pair of brackets."""

    line: int
    items: list[Word | Form] = field(default_factory=list)

    @property
    def head(self) -> str:
        """The first word; empty where there is none."""
        first = self.items[0] if self.items else None
        return first.text if isinstance(first, Word) else ""


def read_form(text: str, where: str) -> Form:
    """The one form that ``text`` is, comments aside. ``where`` names its source in errors."""
    if len(text) > LIMIT:
        raise PddlError(f"{where}: {len(text):,} characters; a PDDL text here has at most {LIMIT:,}")
    line = 1
    whole: Form | None = None
    open_: list[Form] = []
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token == "\n":
            line += 1
        elif token == "(":
            if whole is not None:
                raise PddlError(f"{where}:{line}: something follows the end of the definition")
            if len(open_) == DEEPEST:
                raise PddlError(f"{where}:{line}: more than {DEEPEST} brackets are open")
            open_.append(Form(line))
        elif token == ")":
            if not open_:
                raise PddlError(f"{where}:{line}: a bracket closes that was never opened")
            done = open_.pop()
            if open_:
                open_[-1].items.append(done)
            else:
                whole = done
        elif not token.startswith(";"):
            if not open_:
                raise PddlError(f"{where}:{line}: {shown(token)} stands outside of all brackets")
            open_[-1].items.append(Word(token.lower(), line))
    if open_:
        raise PddlError(f"{where}:{open_[-1].line}: this bracket is never closed")
    if whole is None:
        raise PddlError(f"{where}: there is no PDDL in it")
    return whole


def name_of(item: Word | Form, where: str, what: str) -> str:
    """The name that ``item`` is: a letter, then letters, digits, ``-`` and ``_``, at most 40 in all."""
    if not isinstance(item, Word) or not _NAME.fullmatch(item.text):
        raise PddlError(f"{where}:{item.line}: {shown(item)} is no name of {what}")
    return item.text


def shown(thing: str | Word | Form) -> str:
    """A short, printable mention of a piece of foreign text."""
    if isinstance(thing, Form):
        return f"({thing.head[:20]!s} ...)" if thing.head.isprintable() else "a form"
    return f"{thing if isinstance(thing, str) else thing.text:.40}".__repr__()
