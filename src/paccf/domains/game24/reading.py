"""Reading the moves that a model proposes, as models really write them.

Rules: the two numbers and the operator say what the move is; its result is computed anew. A move counts if both
numbers are in the state and the result the model states, if any, is not another one. What it says is left is not
looked at. An operand or a result may be a decimal, rounded or cut off at its last digit; a rounded operand must fit
exactly one number of the state. Lines without an operation, like prose and fences, are no proposals and not counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from paccf.domains.answers import listed_lines
from paccf.domains.game24.expression import plain_signs
from paccf.domains.game24.moves import moves
from paccf.domains.game24.numbers import OPERATORS, Number, State, apply, replace, text_of
from paccf.search.tree import Action
from paccf.search.world import Reading

LONGEST = 200  # ours: characters of one proposal that are looked at

_WORDS = re.compile(r"\\(times|cdot|div|left|right|\(|\))|(?<=\d)\s*[xX]\s*(?=[-(\d])")
_SIGN = {"times": "*", "cdot": "*", "div": "/"}
_EDGES = " \t\r\n\"'`*_$|,;>\\"
_PREFIX = re.compile(
    r"(?:[-+*•–>]|\(?\d{1,3}[.):]|\[\d{1,3}\]|#\d{1,3}[.):]?|[A-Za-z][A-Za-z ]{0,20}\d{0,3}\s?[:.)])\s+|\[(?=\s*\")"
)
_END = re.compile(r"\(\s*[A-Za-z]|\[|[,;:]|->|=>|→|⇒|\b[A-Za-z]{2,}")
_NUMBER = re.compile(r"(-?)\s*(?:(\d{1,12})(\.\d{0,12})?|(\.\d{1,12}))(?:\s*/\s*(\d{1,12}))?")
_ATTEMPT = re.compile(r"[\d)]\s*[-+*/]\s*[-(.\d]|=")


@dataclass(frozen=True, slots=True)
class Written:
    """A number as it was printed; ``digits`` after the point, `None` without a point."""

    value: Fraction
    digits: int | None

    def means(self, x: Number) -> bool:
        """Whether ``x`` could be printed like this."""
        if self.value == x:
            return True
        if self.digits is None:
            return False
        ten = 10**self.digits
        cut = Fraction(int(abs(x) * ten), ten)  # int() cuts towards zero
        return 2 * abs(self.value - x) * ten <= 1 or self.value == (cut if x >= 0 else -cut)


def read_moves(state: State, text: str) -> Reading:
    """The legal moves in ``text``, in order, and how many proposals were illegal or no operation at all."""
    by_text = moves(state).by_text
    found: list[Action] = []
    illegal = unparsable = 0
    for line in listed_lines(text):
        known = by_text.get(line)
        if known is not None:
            found.append(known.action)
            continue
        action = read_move(state, line)
        if isinstance(action, Action):
            found.append(action)
        elif action == "illegal":
            illegal += 1
        elif action == "unparsable":
            unparsable += 1
    return Reading(tuple(found), illegal, unparsable)


def read_move(state: State, line: str) -> Action | str:
    """The move that ``line`` proposes, or ``"illegal"``, ``"unparsable"``, ``"prose"``."""
    plain = _WORDS.sub(lambda m: _SIGN.get(m[1] or "times", ""), plain_signs(line[: LONGEST + 1]))
    plain = plain.replace("≈", "=").replace("≃", "=")
    if len(plain) <= LONGEST:
        said = False
        for body in _bodies(plain):
            for a, operator, b, result in _operations(body):
                said = True
                action = _legal(state, a, operator, b, result)
                if action is not None:
                    return action
        if said:
            return "illegal"
    return "unparsable" if _ATTEMPT.search(plain) else "prose"


def _bodies(line: str) -> Iterator[str]:
    """``line`` without bullet, number or label, then as it stands, then without a sign that may be a bullet, then
    without brackets around it all."""
    body = line.strip(_EDGES)
    rest = body
    while match := _PREFIX.match(rest):
        rest = rest[match.end() :].strip(_EDGES)
    yield rest
    if rest != body:
        yield body
    if body.startswith("-"):
        yield body[1:].lstrip()
    if rest.startswith("(") and rest.endswith(")") and not {"(", ")"} & set(rest[1:-1]):
        yield rest[1:-1].strip()


def _operations(body: str) -> Iterator[tuple[Written, str, Written, Written | None]]:
    """Every way to read ``body`` as ``a operator b [= result]``. ``8/1/3`` has two."""
    said, equals, stated = body.partition("=")
    end = _END.search(said)
    tail = said[end.start() :] if end else ""
    said = said.removesuffix(tail).strip(_EDGES)
    result = None
    if equals and "left" not in tail.lower():
        result = _number(stated.strip(_EDGES), prefix=True)
        if result is None:
            return
    if said.startswith("(") and said.endswith(")") and ")" not in said[1:-1]:
        said = said[1:-1]
    for place, sign in enumerate(said):
        if sign in OPERATORS:
            a = _number(said[:place])
            b = None if a is None else _number(said[place + 1 :])
            if a is not None and b is not None:
                yield a, sign, b, result


@lru_cache(1 << 12)  # ours; the same few numbers stand in all lines of an answer
def _number(text: str, prefix: bool = False) -> Written | None:
    """The number that ``text`` is, or begins with; it may stand in brackets."""
    text = text.strip()
    if text.startswith("(") and (prefix or text.endswith(")")):
        text = text[1:] if prefix else text[1:-1].strip()
    match = _NUMBER.match(text) if prefix else _NUMBER.fullmatch(text)
    if match is None:
        return None
    sign, whole, point, bare, below = match.groups()
    point = bare or point
    if below is not None and (point or not int(below)):
        return None
    value = Fraction((whole or "0") + (point if point and len(point) > 1 else ""))
    if below is not None:
        value /= int(below)
    return Written(-value if sign else value, len(point) - 1 if point else None)


def _legal(state: State, a: Written, operator: str, b: Written, stated: Written | None) -> Action | None:
    left, right = _operand(state, a), _operand(state, b)
    if left is None or right is None or (left == right and state.count(left) < 2):
        return None
    result = apply(left, operator, right)
    if result is None or (stated is not None and not stated.means(result)):
        return None
    if operator in "+*" and right > left:
        left, right = right, left
    key = text_of(replace(state, left, right, result))
    return moves(state).by_text[f"{left} {operator} {right} = {result} (left: {key})"].action


def _operand(state: State, written: Written) -> Number | None:
    """The one number of ``state`` that was meant."""
    for x in state:
        if x == written.value:
            return x
    if written.digits is None:
        return None
    meant = {x for x in state if written.means(x)}
    return meant.pop() if len(meant) == 1 else None
