"""Reading answers that are the same in every domain: lists of lines, lists of scores. Nothing is ever evaluated.

An answer may be of any length and shape. `listed_lines` looks at its first `LIMIT` characters, `read_scores` at its
last, because a model that thinks aloud comes to its scores at the end.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

LIMIT = 1 << 16  # ours: characters; sensible answers have a few hundred

_TEXT_LIST = re.compile(r"\[\s*[\"'{]")
_LOOSE = re.compile(  # a quoted text and whether it ends, a sign, or words without quotes
    r"""\s*(?:"((?:[^"\\\n]|\\.)*)("?)|'((?:[^'\\\n]|\\.)*)('?)|[\[\]{},:]|([^\s\[\]{},:"'][^\[\]{},:"'\n]*))"""
)
_COMMA_BEFORE_END = re.compile(r",(\s*[\]}])")
_LIST = re.compile(r"\[([^\[\]{}]*)\]")
_NESTED = re.compile(r"\[\s*\[")
_OBJECT = re.compile(r"\{([^\[\]{}]*)\}")
_CUT_LIST = re.compile(r"\[([^\[\]{}]*),[^\[\]{},]*\Z")
_PAIR = re.compile(r"\s*[\"']?([A-Za-z_]+|\d{1,4})[\"']?\s*[:=](.*)\Z", re.DOTALL)
_ROW = re.compile(r"[ \t]*(?:[-*]\s+)?\(?(\d{1,4})\s*[.):]\s*([^,]{1,20}?)[ \t]*,?[ \t]*\Z")
_FIGURE = re.compile(r"[-+]?(?:\d{1,15}(?:\.\d{0,15})?|\.\d{1,15})(?:e[-+]?\d{1,3})?")
_WORD = re.compile(r"[a-z]+")
_ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
_TENTHS = "twenty thirty forty fifty sixty seventy eighty ninety"
_WORDS = {word: i for i, word in enumerate((_ONES + " seventeen eighteen nineteen").split())}
_WORDS |= {word: 10 * i for i, word in enumerate(_TENTHS.split(), 2)}
_TENS = range(20, 100, 10)


def listed_lines(text: str) -> list[str]:
    """The items of a JSON list of texts (or of objects, whose first text counts) if there is one, also of one that is
    written loosely or cut off, else the lines; without outer blanks, and without empty ones. A text that was cut off
    ends in a question mark, so that nobody takes it for a whole one."""
    text = text[:LIMIT]
    match = _TEXT_LIST.search(text)
    items = _json_list(text[match.start() :]) if match else None
    if items is None and match:
        items = _loose_list(text, match.start())
    if items is None:
        items = text.splitlines()
    return [item for item in map(str.strip, items) if item]


def _json_list(text: str) -> list[str] | None:
    for attempt in (text, _COMMA_BEFORE_END.sub(r"\1", text)):
        try:
            found = json.JSONDecoder().raw_decode(attempt)[0]
        except (ValueError, RecursionError):
            continue
        items = [next((v for v in x.values() if isinstance(v, str)), "") if isinstance(x, dict) else x for x in found]
        if all(isinstance(item, str) for item in items):
            return items
    return None


def _loose_list(text: str, place: int) -> list[str] | None:
    """The texts of a list with single quotes or none, missing commas or no end; `None` if it is no such list."""
    items: list[str] = []
    depth = 0
    while (match := _LOOSE.match(text, place)) is not None:
        place = match.end()
        double, closed, single, ended, bare = match.groups()
        said = next((one for one in (double, single, bare) if one is not None), None)
        if said is not None:
            cut = not text[place:].strip() if bare is not None else not (closed or ended)
            if cut and text[place:].strip():
                return None  # its end was forgotten, not cut off
            items.append(f"{said} ?" if cut else said)
        depth += {"[": 1, "]": -1}.get(match[0].strip(), 0)
        if not depth:
            return items
    return items if items and not text[place:].strip() else None


def read_scores(text: str, count: int) -> list[float | None]:
    """``count`` scores of 0 to 100, to six decimals; `None` where none can be read.

    Looked for, in this order: the last list with ``count`` entries; the last list of all; objects with a ``score``
    each; one object or one row a candidate, numbered from 1; nothing but ``count`` numbers, between commas or one a
    line; where one score is asked for, the only number there is.
    Entries are taken in the order asked. Those missing at the end of a list are `None`. A list that is longer tells
    nothing, as nobody knows which entries are too many, unless what is too much is no number. In a list that was cut
    off, the last entry is not trusted. An entry that is no number from 0 to 100 is `None`, and never clipped.
    """
    if count < 1:
        return []
    text = text[-LIMIT:]
    lists: list[list[str]] = []
    if not _NESTED.search(text):  # lists of pairs have no reading that is safe
        lists = [entries for match in _LIST.finditer(text) if (entries := _entries(match[1]))]
    for entries in reversed(lists):
        if len(entries) == count and any(_score(e) is not None for e in entries):
            return [_score(e) for e in entries]
    cut = _CUT_LIST.search(text)
    if lists and not cut:
        return _fit(lists[-1], count)
    numbered = _objects(text, count) or _rows(text, count)
    if numbered is not None:
        return numbered
    if cut:
        return _fit(_entries(cut[1]), count)
    bare = text.strip(" \r\n`()")
    entries = bare.split(",") if "," in bare else bare.splitlines()
    if len(entries) == count and all(_FIGURE.fullmatch(e.strip()) for e in entries):
        return [_score(e) for e in entries]
    if count == 1:
        figures = _FIGURE.findall(text.lower())
        return [_score(figures[0] if len(figures) == 1 else text)]
    return [None] * count


def _entries(body: str) -> list[str]:
    entries = [entry.strip() for entry in body.split(",")]
    return entries[:-1] if not entries[-1] else entries


def _fit(entries: Sequence[str], count: int) -> list[float | None]:
    scores = [_score(entry) for entry in entries]
    if any(_number(entry) is not None for entry in entries[count:]):
        return [None] * count
    return (scores + [None] * count)[:count]


def _objects(text: str, count: int) -> list[float | None] | None:
    """``{"score": 80}, ...`` in order, or one ``{"1": 80, "2": 15}``. An object that says which candidate it is about
    must say the place it stands at."""
    objects = [dict(_pairs(match[1])) for match in _OBJECT.finditer(text)]
    scored = [fields for fields in objects if "score" in fields]
    if len(scored) == count:
        return [
            _score(fields["score"]) if all(fields.get(n, str(i)) == str(i) for n in _PLACES) else None
            for i, fields in enumerate(scored, 1)
        ]
    for fields in reversed(objects):
        if fields and all(key.isdigit() for key in fields):
            return [_score(fields.get(str(i), "")) for i in range(1, count + 1)]
    return None


_PLACES = ("id", "index", "number", "candidate", "move", "action", "option")


def _pairs(body: str) -> Iterator[tuple[str, str]]:
    for part in body.split(","):
        pair = _PAIR.match(part)
        if pair is not None:
            yield pair[1].lower(), pair[2].strip(" \t\r\n\"'")


def _rows(text: str, count: int) -> list[float | None] | None:
    rows = [row for row in map(_ROW.match, text.splitlines()) if row is not None]
    if [int(row[1]) for row in rows] != list(range(1, count + 1)):
        return None
    return [_score(row[2]) for row in rows]


def _score(entry: str) -> float | None:
    number = _number(entry)
    return round(number, 6) if number is not None and 0 <= number <= 100 else None


def _number(entry: str) -> float | None:
    """``85``, ``85.5``, ``85%``, ``85/100``, ``"85"``, ``eighty-five``."""
    text = entry.strip(" \t\r\n\"'`*").lower().removesuffix("/100").rstrip(" %")
    if _FIGURE.fullmatch(text):
        return float(text)
    if len(text) > 20:
        return None
    words = _WORD.findall(text)
    if words in (["hundred"], ["a", "hundred"], ["one", "hundred"]):
        return 100.0
    values = [_WORDS.get(word, -1) for word in words]
    if len(values) == 1 and values[0] >= 0:
        return float(values[0])
    if len(values) == 2 and values[0] in _TENS and 0 < values[1] < 10:
        return float(sum(values))
    return None
