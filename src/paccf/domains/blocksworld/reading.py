"""Reading the actions that a model proposes, as models really write them: in PDDL, as a call, as JSON objects, or in
English.

A line may hold several actions in brackets, and then each of them is a proposal; otherwise it holds one, alone or with
an explanation after it. An action that is well said but not possible now, or names a block that is not there, is
illegal. A line that speaks of an operator and is none of these forms is unparsable. Other lines, like prose and fences,
are no proposals and not counted.
"""

from __future__ import annotations

import re

from paccf.domains.answers import LIMIT, listed_lines
from paccf.domains.blocksworld.blocks import NO_NAMES
from paccf.domains.blocksworld.moves import moves
from paccf.domains.blocksworld.strips import Atoms
from paccf.search.tree import Action
from paccf.search.world import Reading

LONGEST = 200  # ours: characters of one line that are looked at

_UP, _DOWN = r"pick[-_ ]?up", r"put[-_ ]?down"
_OPERATOR = rf"({_UP}|{_DOWN}|unstack|stack)"
_NAME = r"[a-z][a-z0-9_-]{0,39}"
_BRACKETS = re.compile(rf"\(\s*({_OPERATOR}\b[^()]*)\)")
_CALL = re.compile(rf"\b{_OPERATOR}\s?\(([^()]*)\)")
_BARE = re.compile(rf"{_OPERATOR}((?:[\s,]+{_NAME}){{1,3}})")
_OBJECT = re.compile(  # {"action": "unstack", "args": ["b", "c"]}
    rf'\{{\s*"[a-z]+"\s*:\s*"{_OPERATOR}"\s*,\s*"[a-z]+"\s*:\s*\[((?:\s*"{_NAME}"\s*,?){{0,3}})\s*\]\s*,?\s*\}}', re.I
)
_ATTEMPT = re.compile(rf"\b{_OPERATOR}\b")

_EDGES = " \t\r\n\"'`*_$|,;.!>\\"
_PREFIX = re.compile(
    r"(?:[-+*•–>]|\(?\d{1,3}[.):]|\[\d{1,3}\]|#\d{1,3}[.):]?|(?:action|step|move|option)[a-z ]{0,12}\d{0,3}\s?[:.)])\s*"
)
_WHY = re.compile(r"[,;:.!(]|\s-\s|—|–|->|=>|→|⇒|\s(?:because|since|so|in order)\b|(?<!\bon)\sto\b")

_X, _Y = (rf"(?:the\s+)?(?:block\s+)?(?P<{group}>{_NAME})" for group in "xy")
_ON = r"\s+(?:on\s?to|on|atop)(?:\s+(?:the\s+)?top\s+of)?\s+"
_OFF = r"\s+(?:from|off)(?:\s+of)?(?:\s+(?:on\s+)?(?:the\s+)?top\s+of)?\s+"
_ENGLISH = [
    (re.compile(pattern), operator)
    for pattern, operator in (
        (rf"(?:{_UP}|lift|take|remove|unstack)\s+{_X}{_OFF}{_Y}", "unstack"),
        (rf"pick\s+{_X}\s+up{_OFF}{_Y}", "unstack"),
        (rf"{_UP}\s+{_X}|pick\s+(?:the\s+)?(?:block\s+)?(?P<z>{_NAME})\s+up", "pick-up"),
        (rf"(?:{_DOWN}|stack|put|place|set)\s+{_X}(?:\s+down)?{_ON}{_Y}", "stack"),
        (rf"{_DOWN}\s+{_X}|(?:put|place|set)\s+(?:the\s+)?(?:block\s+)?(?P<z>{_NAME})\s+down", "put-down"),
    )
]
_AT_THE_TABLE = {"stack": "put-down", "unstack": "pick-up"}


def read_actions(atoms: Atoms, text: str) -> Reading:
    """The legal actions in ``text``, in order, and how many proposals were illegal or could not be read."""
    found: list[Action] = []
    illegal = unparsable = 0
    objects = ["({} {})".format(*match.groups()).replace('"', " ") for match in _OBJECT.finditer(text[:LIMIT])]
    for line in objects or listed_lines(text):
        said = read_line(atoms, line)
        found += [action for action in said if isinstance(action, Action)]
        illegal += said.count("illegal")
        unparsable += said.count("unparsable")
    return Reading(tuple(found), illegal, unparsable)


def read_line(atoms: Atoms, line: str) -> list[Action | str]:
    """What ``line`` proposes: actions, ``"illegal"`` or ``"unparsable"``; nothing if it is no proposal."""
    plain = line[: LONGEST + 1].lower()
    if len(plain) <= LONGEST:
        bodies = [match[1] for match in _BRACKETS.finditer(plain)]
        bodies += [] if bodies else [f"{match[1]} {match[2]}" for match in _CALL.finditer(plain)]
        said = [one for body in bodies or [_bare(plain)] if (one := _read(atoms, body)) is not None]
        if said:
            return said
    return ["unparsable"] if _ATTEMPT.search(plain) else []


def _bare(line: str) -> str:
    """``line`` without what stands around an action: bullet, number or label before it, an explanation after it."""
    body = line.strip(_EDGES)
    while match := _PREFIX.match(body):
        body = body[match.end() :].strip(_EDGES)
    return _WHY.split(body.strip("[]"), maxsplit=1)[0]


def _read(atoms: Atoms, body: str) -> Action | str | None:
    """The action that ``body`` is, ``"illegal"``, or `None` if it is no form of an action."""
    body = body.strip(_EDGES)
    for pattern, operator in _ENGLISH:
        if match := pattern.fullmatch(body):
            named = match.groupdict()
            x, y = named["x"] or named.get("z") or "", named.get("y")
            if y == "table":
                return _legal(atoms, _AT_THE_TABLE[operator], [x])
            return _legal(atoms, operator, [x] if y is None else [x, y])
    if match := _BARE.fullmatch(body):
        names = re.split(r"[\s,]+", match[2].strip(" \t,"))
        if not NO_NAMES & set(names):
            return _legal(atoms, match[1], names)
    return None


def _legal(atoms: Atoms, operator: str, names: list[str]) -> Action | str:
    name = re.sub(r"^(pick|put)[-_ ]?", r"\1-", operator)
    move = moves(atoms).get(f"({name} {' '.join(names)})")
    return "illegal" if move is None else move.action
