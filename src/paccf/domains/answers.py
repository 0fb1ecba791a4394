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
_LIST_OR_CUT = re.compile(r"\[[^\[\]{}]*(?:\]|\Z)")
_PAIR = re.compile(r"\s*[\"']?([A-Za-z_]+|\d{1,4})[\"']?\s*[:=](.*)\Z", re.DOTALL)
_ROW = re.compile(  # "1. 85", "[1] 85", "- Candidate (1): 85"
    r"[ \t>*_-]*(?:(?:candidate|move|action|option|step|item|score|number)\s*)?#?"
    r"(?:[(\[](\d{1,4})[)\]][*_]*\s*[.:=]?(?!\d)|(\d{1,4})[*_]*\s*(?:[):=]|\.(?!\d)))"
    r"\s*([^,\s][^,]{0,19})\Z",
    re.IGNORECASE,
)
NEAR = 100  # ours: characters around a list that say what it is
_LABELLED = re.compile(  # "Scores: ", "My ratings for the moves are ", '{"final_scores": '
    r"(?<![a-z])(?:scor|rating|grade|evaluation|estimate|answer|result|output|likelihood|probabilit|assessment)"
    r"[a-z]{0,3}[\"'*`_]*(?:\s+(?:for|of)\b[^:=\n]{0,40}|\s*\([^()\n]{0,30}\))?"
    r"\s*(?:[:=]|\bare\b|\bis\b)[\"'*`_\s({]*\Z",
    re.IGNORECASE,
)
_GOES_ON = re.compile(r"\s*(?:[:=\d\[]|->|→)")
_EDGE = re.compile(r"[\s>*`\"'({$\\-]*")
_AFTER = re.compile(r"[*`\"')}$\\,;\]]*(?:\.\s+[A-Za-z]|[\s*`\"')}$\\,;.\]]*\Z)")
_SCORE_LINE = re.compile(  # "Score: 85", "**My final score for candidate 1:** 85/100"
    r"(?=[^:=\n]*[:=]|\W*(?:the|my)\b)[\s>*#_-]*(?:(?:the|my|final|overall)\s+){0,3}(?:score|rating|grade|answer|evaluation|estimate)"
    r"(?:\s*\([^()\n]{0,30}\)|\s+(?:for|of)\s+(?:the\s+|this\s+)?(?:candidate|move|action|option|it)\s*\[?1?\]?)?"
    r"[*_]*\s*(?:[:=]|\bis\b)\s*([^\n]{1,24})",
    re.IGNORECASE,
)
_NUMBER_LINE = re.compile(r"[\s*`\"'_>]*[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?\s?(?:%|/\s?100)?[\s*`\"'_,;.]*")
_FIGURE = re.compile(r"[-+]?(?:\d{1,15}(?:\.\d{0,15})?|\.\d{1,15})(?:e[-+]?\d{1,3})?")
_DIGIT = re.compile(r"\d")
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

    Read are rows numbered from 1; objects with a ``score`` each, or one by number; lists that stand on lines of their
    own or behind a word like ``scores:``; nothing but ``count`` numbers, between commas or one a line; where one score
    is asked for, lines like ``Score: 85``. What is found several times must be the same each time, or nobody knows
    which was meant and nothing is read; nor is it beside a line that is a number and belongs to none of these.
    Entries are taken in the order asked. A list of another length is read if there are no other figures: those missing
    at its end are `None`, and if it is longer it tells nothing, as nobody knows which entries are too many, unless what
    is too much is no number. In a list that was cut off, the last entry is not trusted. An entry that is no number from
    0 to 100 is `None`, and never clipped.
    """
    if count < 1:
        return []
    if len(text) > LIMIT:
        text = text[-LIMIT:]
        text = text.partition("\n")[2] or text  # a line without its beginning may look like anything
    bare = text.strip(" \t\r\n`()$*")
    entries = bare.split(",") if "," in bare else bare.splitlines()
    if len(entries) == count and all(_NUMBER_LINE.fullmatch(entry) for entry in entries):
        return [_score(entry) for entry in entries]
    lists, cut = _lists(text, count)
    readings = [*_rows(text, count), *_objects(text, count)]
    readings += [[_score(e) for e in entries] for entries in lists if len(entries) == count]
    if count == 1:
        readings += [[_score(m[1])] for m in map(_SCORE_LINE.fullmatch, (bare, *text.splitlines())) if m]
        readings.append([_score(bare)])
    readings = [scores for scores in readings if scores != [None] * count]
    if cut is not None:
        readings.append(_fit(cut, count))
    rest = _LIST_OR_CUT.sub("[]", text)
    if not readings and not _DIGIT.search(rest):
        readings = [_fit(entries, count) for entries in lists]
    alike = readings and all(scores == readings[0] for scores in readings)
    if not alike or any(map(_NUMBER_LINE.fullmatch, rest.splitlines())):
        return [None] * count
    return readings[0]


def _lists(text: str, count: int) -> tuple[list[list[str]], list[str] | None]:
    """The entries of every list that is stated and not mentioned in passing; those of one that was cut off, without
    the last, or none if it is too long or figures stand before it. Lists of pairs have no reading that is safe."""
    if _NESTED.search(text):
        return [], None
    found = []
    for match in _LIST.finditer(text):
        entries = _entries(match[1])
        if entries and "" not in entries and _is_stated(text, *match.span()):
            found.append(entries)
    place = text.rfind("[")
    is_cut = place >= 0 and not set("]{}") & set(text[place + 1 :]) and _is_stated(text, place, len(text))
    if not is_cut:
        return found, None
    *entries, last = text[place + 1 :].split(",")
    is_clear = len(entries) + bool(last.strip()) <= count and not _DIGIT.search(text[:place])
    return found, entries if is_clear else []


def _is_stated(text: str, start: int, end: int) -> bool:
    """Whether the list is an answer: alone on its lines, or behind a word for scores."""
    line = text.rfind("\n", max(0, start - NEAR), start) + 1
    before = text[line or max(0, start - NEAR) : start]
    after = text[end : end + NEAR].partition("\n")[0]
    if _LABELLED.search(before):
        return not _GOES_ON.match(after)
    if ")" in after and "(" not in before:  # the end of a remark
        return False
    return (line > 0 or start < NEAR) and bool(_EDGE.fullmatch(before) and _AFTER.match(after))


def _entries(body: str) -> list[str]:
    entries = [entry.strip() for entry in body.split(",")]
    return entries[:-1] if not entries[-1] else entries


def _fit(entries: Sequence[str], count: int) -> list[float | None]:
    """A list of another length, as far as it is clear which entry is whose."""
    numbers = [_number(entry) for entry in entries]
    short = len(entries) < count
    if (short and None in numbers) or any(number is not None for number in numbers[count:]):
        return [None] * count
    return ([_score(entry) for entry in entries] + [None] * count)[:count]


def _objects(text: str, count: int) -> Iterator[list[float | None]]:
    """``{"score": 80}, ...`` in order, or one ``{"1": 80, "2": 15}``. An object that says which candidate it is about
    must say the place it stands at."""
    objects = [_fields(match[1]) for match in _OBJECT.finditer(text)]
    scored = [fields for fields in objects if "score" in fields]
    if len(scored) == count:
        yield [
            _score(fields["score"]) if all(fields.get(n, str(i)) == str(i) for n in _PLACES) else None
            for i, fields in enumerate(scored, 1)
        ]
    asked = [str(i) for i in range(1, count + 1)]
    for fields in objects:
        if fields and all(key in asked for key in fields):
            yield [_score(fields.get(key, "")) for key in asked]


_PLACES = ("id", "index", "number", "candidate", "move", "action", "option")


def _fields(body: str) -> dict[str, str]:
    """The fields of an object; nothing is known of one that is there twice."""
    fields: dict[str, str] = {}
    for part in body.split(","):
        pair = _PAIR.match(part)
        if pair is not None:
            key, value = pair[1].lower(), pair[2].strip(" \t\r\n\"'")
            fields[key] = value if fields.get(key, value) == value else ""
    return fields


def _rows(text: str, count: int) -> Iterator[list[float | None]]:
    rows = [row for row in (_ROW.match(line.rstrip(" \t,")) for line in text.splitlines()) if row is not None]
    if [int(row[1] or row[2]) for row in rows] == list(range(1, count + 1)):
        yield [_score(row[3]) for row in rows]


def _score(entry: str) -> float | None:
    number = _number(entry)
    return round(number, 6) if number is not None and 0 <= number <= 100 else None


def _number(entry: str) -> float | None:
    """``85``, ``85.5``, ``85%``, ``85/100``, ``"85"``, ``eighty-five``."""
    text = entry.strip(" \t\r\n\"'`*_").lower().removesuffix(".").rstrip("\"'`*").removesuffix("/100").rstrip(" %")
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
