"""Reading JSON as models write it: fences and prose around it, single quotes, trailing or missing commas, comments,
Python's `None` and calls like ``Tool(image="a.jpg", 5)``, cut off at any point. Nothing is ever evaluated.

One pass over the tokens with a stack of its own, so that the time is linear in the text and no nesting is too deep to
be refused. Where the text breaks, what is complete inside of the broken value is kept and reading goes on behind it.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import NamedTuple

LIMIT = 1 << 17  # ours: characters of an answer that are looked at
DEEPEST = 32  # ours: levels of nesting; sensible answers have four


class Made(NamedTuple):
    """A call in Python's notation."""

    name: str
    positional: list[object]
    named: dict[str, object]


class Found(NamedTuple):
    """The complete values of a text in order, and how many objects or calls broke off."""

    values: list[object]
    broken: int


_OPENER = re.compile(r"[\[{]|(?<!\w)([A-Za-z_]\w{0,63})\((?=\s{0,20}(?:[A-Za-z_]\w{0,63}\s{0,20}=(?!=)|[\"'{\[)]))")
# a string may hold raw newlines, unless the next line opens a value: then its end was forgotten
_TOKEN = re.compile(
    r"""(?P<blank>\s+|//[^\n]*|\#[^\n]*)
    |"(?P<double>(?:[^"\\\n]|\\[\s\S]|\n(?![ \t]{0,40}[\[{]))*+)(?P<end>"?)
    |'(?P<single>(?:[^'\\\n]|\\.)*+)(?P<stop>'?)
    |(?P<number>[-+]?(?:\d{1,18}(?:\.\d{0,18})?|\.\d{1,18})(?:[eE][-+]?\d{1,3})?(?![\w.]))
    |(?P<made>[A-Za-z_]\w{0,63})\(
    |(?P<word>[A-Za-z_][\w./-]{0,255})
    |(?P<sign>[\[\]{}(),:=])""",
    re.VERBOSE,
)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|[\s\S])")
_PLAIN = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "\\": "\\", "/": "/", '"': '"', "'": "'"}
_SURROGATE = re.compile("[\ud800-\udfff]")
_WORDS: dict[str, object] = {
    "true": True,
    "false": False,
    "null": None,
    "True": True,
    "False": False,
    "None": None,
}
_CLOSES = {"{": "}", "[": "]", "(": ")"}


@dataclass(slots=True)
class _Open:
    """A value that is being read. ``held`` is a text that may turn out to be a key, ``key`` one whose value is due."""

    kind: str
    name: str = ""
    items: list[object] = field(default_factory=list)
    named: dict[str, object] = field(default_factory=dict)
    held: str | None = None
    key: str | None = None
    fresh: bool = True  # nothing since the opening or the last comma

    def put(self, value: object, bare: bool = False) -> bool:
        """Take ``value``; says whether it may stand here."""
        if self.key is not None:
            self.named[self.key] = value
            self.key = None
        elif self.kind == "{":
            if not isinstance(value, str) or self.held is not None:
                return False
            self.held = value
        elif not self.fresh and not isinstance(value, list | dict | Made):
            return False
        elif self.kind == "(" and bare:
            self.held = str(value)
        else:
            self.items.append(value)
        self.fresh = False
        return True

    def sign(self, sign: str) -> bool:
        """Take a colon, an equals sign or a comma."""
        if sign == ",":
            if self.key is not None or (self.held is not None and self.kind == "{"):
                return False
            self.settle()
            self.fresh = True
            return True
        if self.held is None or self.kind == "[" or (sign == "=" and self.kind == "{"):
            return False
        self.key, self.held = self.held, None
        return True

    def settle(self) -> None:
        """A bare word in a call was no key."""
        if self.kind == "(" and self.held is not None:
            self.items.append(self.held)
            self.held = None

    def closed(self, sign: str) -> object:
        """The value that ``sign`` closes; `Ellipsis` if it does not."""
        self.settle()
        if sign != _CLOSES[self.kind] or self.held is not None or self.key is not None:
            return ...
        if self.kind == "(":
            return Made(self.name, self.items, self.named)
        return self.named if self.kind == "{" else self.items


def read(text: str) -> Found:
    """Every list, object and call of ``text``. Never raises; linear in the text, of which the first `LIMIT` characters
    count."""
    text = text[:LIMIT]
    values: list[object] = []
    broken = place = 0
    while (opener := _OPENER.search(text, place)) is not None:
        place, whole = _value(text, opener.start(), values)
        broken += not whole
    return Found(values, broken)


def _value(text: str, place: int, out: list[object]) -> tuple[int, bool]:
    """Read one value at ``place`` into ``out``; where to go on, and whether nothing was lost."""
    stack: list[_Open] = []
    while (match := _TOKEN.match(text, place)) is not None:
        place = match.end()
        kind = match.lastgroup
        if kind == "blank":
            continue
        ok = True
        if kind == "made" or (kind == "sign" and match["sign"] in "[{"):
            ok = len(stack) < DEEPEST
            stack.append(_Open("(", match["made"]) if kind == "made" else _Open(match["sign"]))
        elif kind == "sign" and match["sign"] in ")]}":
            value = stack[-1].closed(match["sign"])
            if value is ...:
                break
            stack.pop()
            if not stack:
                out.append(value)
                return place, True
            if not stack[-1].put(value):
                stack.append(_Open("[", items=[value]))  # whole, but out of place: kept by itself
                break
        elif kind == "sign":
            ok = match["sign"] != "(" and stack[-1].sign(match["sign"])
        else:
            value, bare = _atom(match)
            ok = value is not ... and stack[-1].put(value, bare)
        if not ok:
            break
    return place, _salvage(stack, out)


def _salvage(stack: list[_Open], out: list[object]) -> bool:
    """Keep what is complete; whether that is all that matters."""
    for opened in stack:
        out.extend(v for v in (*opened.items, *opened.named.values()) if isinstance(v, list | dict | Made))
    return all(opened.kind == "[" for opened in stack)


def _atom(match: re.Match[str]) -> tuple[object, bool]:
    """The value of a token, and whether it is a bare word; `Ellipsis` for one that is none."""
    if (word := match["word"]) is not None:
        return (_WORDS[word], False) if word in _WORDS else (word, True)
    if (number := match["number"]) is not None:
        value = float(number)
        if not math.isfinite(value):
            return ..., False
        return (int(number) if number.lstrip("+-").isdigit() else value), False
    if match["end"] == "" or match["stop"] == "":  # a string that does not end
        return ..., False
    return unescaped(match["double"] if match["double"] is not None else match["single"]), False


def unescaped(body: str) -> str:
    """A string's text; escapes that JSON does not know stand for themselves, lone surrogates for a replacement."""
    if "\\" in body:
        body = _ESCAPE.sub(_meant, body)
    if _SURROGATE.search(body):
        body = body.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return body


def _meant(match: re.Match[str]) -> str:
    said = match[1]
    if len(said) == 5:
        return chr(int(said[1:], 16))
    return _PLAIN.get(said, match[0])
